"""Every setting with its name, default and help. Read from the environment or given in code."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from engram_graph.errors import ConfigurationError
from engram_graph.rules import fusion, turns
from engram_graph.rules.method import PRESETS

DECIDERS = ("rules", "jev", "llm")


def _env(*names: str) -> Any:
    return AliasChoices(*names)


class Settings(BaseSettings):
    """Options of a client; an argument wins over the environment, a blank value counts as unset.

    Raises:
        ConfigurationError: by ``Settings.load``, naming the variable that is wrong.
    """

    model_config = SettingsConfigDict(
        env_ignore_empty=True, populate_by_name=True, extra="forbid", frozen=True
    )

    neo4j_uri: str | None = Field(
        None,
        validation_alias=_env("NEO4J_URI"),
        description="Server to use, Neo4j 2026.02 or later; unset starts or finds the embedded "
        "one.",
    )
    neo4j_username: str = Field(
        "neo4j",
        validation_alias=_env("NEO4J_USERNAME"),
        description="Only used with NEO4J_URI.",
    )
    neo4j_password: SecretStr = Field(
        SecretStr(""),
        validation_alias=_env("NEO4J_PASSWORD"),
        description="Only used with NEO4J_URI.",
    )
    neo4j_database: str | None = Field(
        None,
        validation_alias=_env("NEO4J_DATABASE"),
        description="Database name; unset means the user's home database.",
    )
    openai_api_key: SecretStr = Field(
        SecretStr(""),
        validation_alias=_env("OPENAI_API_KEY"),
        description="Turns on extraction by an LLM (or ENGRAM_EXTRACTOR=llm with a base URL).",
    )
    openai_base_url: str | None = Field(
        None,
        validation_alias=_env("OPENAI_BASE_URL"),
        description="Any OpenAI-compatible server.",
    )
    typesafe_api_key: SecretStr = Field(
        SecretStr(""),
        validation_alias=_env("TYPESAFE_API_KEY"),
        description="Lets the decision model Jev decide; sent to the base URL and nowhere else.",
    )
    typesafe_base_url: str | None = Field(
        None,
        validation_alias=_env("TYPESAFE_BASE_URL"),
        description="A compatible server; unset means Jev's own.",
    )
    typesafe_default_model: str | None = Field(
        None,
        validation_alias=_env("TYPESAFE_DEFAULT_MODEL"),
        description="Version of Jev; unset means the one the thresholds are for.",
    )
    decider: str = Field(
        "auto",
        validation_alias=_env("ENGRAM_DECIDER"),
        description="rules, jev or llm; or several, as rules>jev>llm: what one leaves unsure goes "
        "to the next. auto: jev when TYPESAFE_API_KEY is set, else rules. recorded: whatever "
        "answered in ENGRAM_RECORDING, which is only replayed.",
    )
    decider_model: str | None = Field(
        None,
        validation_alias=_env("ENGRAM_DECIDER_MODEL"),
        description="Language model that decides; unset means ENGRAM_LLM_MODEL.",
    )
    escalation: Literal["auto", "none", "llm"] = Field(
        "auto",
        validation_alias=_env("ENGRAM_ESCALATION"),
        description="Who is asked when Jev is too unsure to close a fact. auto: llm when "
        "OPENAI_API_KEY is set, Jev decides and no llm is among the deciders.",
    )
    jev_rate: float = Field(
        15.0,
        gt=0,
        allow_inf_nan=False,
        validation_alias=_env("ENGRAM_JEV_RATE"),
        description="Requests to Jev begun per second, at most.",
    )
    decider_budget_usd: float | None = Field(
        None,
        ge=0,
        allow_inf_nan=False,
        validation_alias=_env("ENGRAM_DECIDER_BUDGET_USD"),
        description="What all deciders of a client, and a language model that reranks, together "
        "may spend; unset means no cap.",
    )
    llm_usd_per_million_input: float | None = Field(
        None,
        ge=0,
        allow_inf_nan=False,
        validation_alias=_env("ENGRAM_LLM_USD_PER_MILLION_INPUT"),
        description="Price of a million tokens that the language model reads; unset means its "
        "costs are unknown.",
    )
    llm_usd_per_million_output: float | None = Field(
        None,
        ge=0,
        allow_inf_nan=False,
        validation_alias=_env("ENGRAM_LLM_USD_PER_MILLION_OUTPUT"),
        description="The same of what it writes.",
    )
    recording: str | None = Field(
        None,
        validation_alias=_env("ENGRAM_RECORDING"),
        description="A file (.sqlite, .db or .jsonl) that keeps what models over a network, "
        "deciders and extractor answer; what is in it is not asked again. `engram recording FILE` "
        "says what it holds.",
    )
    recording_budget_usd: float | None = Field(
        None,
        ge=0,
        allow_inf_nan=False,
        validation_alias=_env("ENGRAM_RECORDING_BUDGET_USD"),
        description="What calls that are not recorded may cost. 0: none is made, no key is needed.",
    )
    preset: str = Field(
        "default",
        validation_alias=_env("ENGRAM_PRESET"),
        description="How to decide: " + ", ".join(PRESETS) + ".",
    )
    namespace: str | None = Field(
        None,
        validation_alias=_env("ENGRAM_NAMESPACE"),
        description="Namespace bound to clients that name none.",
    )
    trace_namespace: bool = Field(
        False,
        validation_alias=_env("ENGRAM_TRACE_NAMESPACE"),
        description="Write the namespace on the spans of a client's methods: it may name a person.",
    )
    mcp_token: SecretStr = Field(
        SecretStr(""),
        validation_alias=_env("ENGRAM_MCP_TOKEN"),
        description="What clients of `engram mcp --http` send as their bearer token; at least 16 "
        "characters.",
    )
    extractor: Literal["auto", "patterns", "llm"] = Field(
        "auto",
        validation_alias=_env("ENGRAM_EXTRACTOR"),
        description="auto: llm when OPENAI_API_KEY is set, else patterns.",
    )
    llm_model: str = Field(
        "gpt-4o-mini",
        validation_alias=_env("ENGRAM_LLM_MODEL"),
        description="Language model that extracts, and decides or reranks where no other is named.",
    )
    embedder: Literal["auto", "local", "openai", "hash", "none"] = Field(
        "auto",
        validation_alias=_env("ENGRAM_EMBEDDER"),
        description="auto: local when sentence-transformers is installed, else none.",
    )
    embedding_model: str | None = Field(
        None,
        validation_alias=_env("ENGRAM_EMBEDDING_MODEL"),
        description="Model name or folder; unset means the packaged all-MiniLM-L6-v2.",
    )
    embedding_base_url: str | None = Field(
        None,
        validation_alias=_env("ENGRAM_EMBEDDING_BASE_URL"),
        description="OpenAI-compatible server of embeddings; unset means OPENAI_BASE_URL.",
    )
    embedding_api_key: SecretStr = Field(
        SecretStr(""),
        validation_alias=_env("ENGRAM_EMBEDDING_API_KEY"),
        description="Its key, where ENGRAM_EMBEDDING_BASE_URL is set: OPENAI_API_KEY is not sent "
        "there.",
    )
    embedding_usd_per_million: float | None = Field(
        None,
        ge=0,
        allow_inf_nan=False,
        validation_alias=_env("ENGRAM_EMBEDDING_USD_PER_MILLION"),
        description="Price of a million tokens that an OpenAI model embeds; unset means its costs "
        "are unknown.",
    )
    embedding_dimension: int | None = Field(
        None,
        gt=0,
        le=4096,
        validation_alias=_env("ENGRAM_EMBEDDING_DIMENSION"),
        description="Of an OpenAI model or the hash embedder.",
    )
    embedding_query_prefix: str | None = Field(
        None,
        validation_alias=_env("ENGRAM_EMBEDDING_QUERY_PREFIX"),
        description="Put before questions, for a local or OpenAI model that wants it; unset means "
        "what a local model's own files say.",
    )
    embedding_passage_prefix: str | None = Field(
        None,
        validation_alias=_env("ENGRAM_EMBEDDING_PASSAGE_PREFIX"),
        description="The same before facts and messages. Another prefix is another embedder.",
    )
    shortlist: int = Field(
        30,
        ge=1,
        le=150,
        validation_alias=_env("ENGRAM_SHORTLIST"),
        description="Items a search looks at (or judges) and returns at most.",
    )
    search_without: str = Field(
        "",
        validation_alias=_env("ENGRAM_SEARCH_WITHOUT"),
        description="Parts of the order of a search that are switched off, joined by commas: "
        "vector, text or date for facts, those of docs/retrieval.md for turns.",
    )
    rerank: Literal["auto", "decider", "llm", "cross-encoder", "none"] = Field(
        "auto",
        validation_alias=_env("ENGRAM_RERANK"),
        description="Who judges which of the items found help to answer. auto: the decider when "
        "it is a model; llm: a language model puts them in order; cross-encoder: one of "
        "sentence-transformers; none: nobody, the order is that of the hybrid search.",
    )
    rerank_model: str | None = Field(
        None,
        validation_alias=_env("ENGRAM_RERANK_MODEL"),
        description="Language model that reranks, unset means ENGRAM_LLM_MODEL; or the "
        "cross-encoder, a folder or a name.",
    )
    rerank_timeout: float = Field(
        20.0,
        gt=0,
        allow_inf_nan=False,
        validation_alias=_env("ENGRAM_RERANK_TIMEOUT"),
        description="Seconds a search waits for whoever judges; it answers without what is "
        "missing then.",
    )
    context_tokens: int = Field(
        1500,
        ge=50,
        validation_alias=_env("ENGRAM_CONTEXT_TOKENS"),
        description="Budget of Recall.context, in tokens: counted with the extra `tokens`, else "
        "estimated.",
    )

    @field_validator("preset", mode="after")
    @classmethod
    def _known_preset(cls, value: str) -> str:
        if value not in PRESETS:
            raise ValueError("one of: " + ", ".join(PRESETS))
        return value

    @field_validator(
        "neo4j_uri",
        "openai_base_url",
        "embedding_base_url",
        "typesafe_base_url",
        "typesafe_default_model",
        "decider_model",
        "rerank_model",
        "recording",
        "namespace",
        mode="after",
    )
    @classmethod
    def _blank_is_unset(cls, value: str | None) -> str | None:
        return (value.strip() or None) if value else None

    @field_validator("search_without", mode="after")
    @classmethod
    def _known_parts(cls, value: str) -> str:
        off = dict.fromkeys(part.strip() for part in value.split(",") if part.strip())
        known = dict.fromkeys([*fusion.PARTS, *turns.WEIGHTS])
        if not off.keys() <= known.keys():
            raise ValueError("parts are " + ", ".join(known))
        if off.keys() >= fusion.EQUAL.keys():
            raise ValueError("vector and text cannot both be off: no fact would be found")
        return ",".join(off)

    @field_validator("decider", mode="after")
    @classmethod
    def _known_deciders(cls, value: str) -> str:
        steps = [step.strip() for step in value.lower().split(">")]
        alone = steps in (["auto"], ["recorded"])
        if not alone and (not set(steps) <= set(DECIDERS) or len(set(steps)) < len(steps)):
            raise ValueError(
                "auto, recorded, or one of "
                + ", ".join(DECIDERS)
                + ", or several of these joined by '>'"
            )
        return ">".join(steps)

    @property
    def replays(self) -> bool:
        """Whether models are only replayed from the recording: no new call is made."""
        return self.recording is not None and self.recording_budget_usd == 0

    def openai_key(self) -> str:
        """The key for the OpenAI API, or a word in its place for a server that needs none.

        Raises:
            ConfigurationError: there is none, and no base URL of another server.
        """
        key = self.openai_api_key.get_secret_value()
        if not key and not self.openai_base_url:
            raise ConfigurationError(
                "OPENAI_API_KEY is not set",
                hint="Set it, or OPENAI_BASE_URL for a local server that needs none.",
            )
        return key or "none"

    @classmethod
    def load(cls, **values: Any) -> Settings:
        """Settings from ``values`` and the environment.

        Raises:
            ConfigurationError: a value does not fit; its name and the reason, never the value.
        """
        try:
            return cls(**values)
        except ValidationError as error:
            wrong = "; ".join(
                f"{'.'.join(str(part) for part in e['loc'])}: {e['msg']}" for e in error.errors()
            )
            raise ConfigurationError(f"settings: {wrong}") from None

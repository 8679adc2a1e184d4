"""The models of a study: every call to one is recorded, counted, and replayed the second time."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, Self
from urllib.parse import urlsplit

from engram_graph import clock
from engram_graph.adapters.chat import ChatModel, Prompt
from engram_graph.adapters.json_reply import find_json
from engram_graph.adapters.llm_meter import Meter
from engram_graph.adapters.recorder_chat import ANSWER, JUDGE, RecordingChat, Said
from engram_graph.adapters.recording import Asked, Recording
from engram_graph.adapters.recording_proxy import KEY, RecordingProxy
from engram_graph.embedders import embedder_kind, make_embedder
from engram_graph.errors import BudgetError, ConfigurationError
from engram_graph.evaluation.study import ledger, naming
from engram_graph.evaluation.study.ledger import TOTAL, Caps, Ledger
from engram_graph.evaluation.study.records import Tally
from engram_graph.memory import AsyncMemory
from engram_graph.models.facts import Vector
from engram_graph.ports import Embedder
from engram_graph.questions import answering, decision_prompt, extraction, judging, listwise
from engram_graph.settings import Settings

RECORDING: Final = "recording.sqlite"
_TIMEOUT_S, _RETRIES, _TEMPERATURE = 60.0, 2, 0.0
_HOSTS = {"openrouter.ai": "openrouter", "anthropic.com": "anthropic"}
_OPENING = re.compile(r'\{\s*"(?:answer|why|label)"')
_NEEDS = {"jev": "TYPESAFE_API_KEY", "llm": "OPENAI_API_KEY"}


@dataclass(frozen=True, slots=True)
class Answered:
    """What the answering model said; ``usd`` nominal, None when unknown; ``ms`` as recorded."""

    text: str
    usd: float | None
    ms: float


@dataclass(frozen=True, slots=True)
class Judged:
    """What the judge said; what cannot be read as a verdict is WRONG."""

    label: Literal["CORRECT", "WRONG"]
    usd: float | None
    ms: float


class StudyModels:
    """Clients, an answering model and a judge over one recording and one ledger.

    A replay gives the nominal costs and recorded latencies of the first run, so that results are
    the same; it spends nothing. Close it, or use ``async with``.

    Args:
        settings: of the memory and the models. ``settings.recording`` is used if it is set, else
            ``recording.sqlite`` in ``folder``.
        folder: of the run; made if need be. The ledger is kept there.
        budget_usd: what the new calls of this run may cost together; None: no cap. 0: a replay, in
            which whatever is not recorded is an error and no key is needed.
        caps: by provider, of this run and of the study. study: see ``Ledger``.
        answer_model, judge_model: None for ``settings.llm_model``.
        database: the settings of a client with the server it is to use; asked for each client.

    Raises:
        ConfigurationError: the recording cannot be used, a budget or cap is no number.
        InputError: a ledger cannot be read.
    """

    def __init__(
        self,
        settings: Settings,
        folder: Path,
        *,
        budget_usd: float | None = None,
        caps: Caps | None = None,
        study: Path | None = None,
        answer_model: str | None = None,
        judge_model: str | None = None,
        database: Callable[[Settings], Settings] | None = None,
    ) -> None:
        caps = caps or Caps()
        self.offline = budget_usd == 0
        if budget_usd is not None and not self.offline:
            caps = Caps({**caps.run, TOTAL: budget_usd}, caps.study)
        if not self.offline:  # a replay without its recording leaves nothing behind
            folder.mkdir(parents=True, exist_ok=True)
        self.settings = settings.model_copy(
            update={
                "recording": settings.recording or str(folder / RECORDING),
                "recording_budget_usd": 0.0 if self.offline else None,
            }
        )
        self._recording = Recording(str(self.settings.recording), read_only=self.offline)
        folder.mkdir(parents=True, exist_ok=True)
        self.ledger = Ledger(
            folder / ledger.FILE,
            run_id=f"{folder.name}@{clock.now():%Y%m%dT%H%M%S.%fZ}",
            payee=self._payee,
            caps=caps,
            study=study,
            offline=self.offline,
        )
        self._recording.watcher = self.ledger
        self._answering = self._chat(ANSWER, answer_model)
        self._judging = self._chat(JUDGE, judge_model)
        self._database = database
        self._local: Embedder | None = None
        self._proxy: RecordingProxy | None = None
        self._named: dict[str, str] | None = None
        # A client holds its parts, so that no other object gets the id of one of them.
        self._clients: dict[tuple[object, ...], AsyncMemory] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    @asynccontextmanager
    async def memory(self, namespace: str, **changes: Any) -> AsyncIterator[AsyncMemory]:
        """See ``records.Models``; a model on this machine that embeds is loaded once for all.

        A client stays open for who asks for the same one again, until another database is in use.

        Raises:
            ConfigurationError: a change is no setting and no part of a client, or does not fit.
            StoreError: the database cannot be reached.
        """
        parts = {n: changes.pop(n) for n in [*changes] if _is_part(n, changes[n])}
        settings = self._changed(changes)
        if self._database is not None:
            settings = self._database(settings)
        if any(_server(each.settings) != _server(settings) for each in self._clients.values()):
            await self._close_clients()
        key = namespace, repr(settings), tuple(sorted((n, id(part)) for n, part in parts.items()))
        memory = self._clients.get(key)
        if memory is None:
            if "embedder" not in parts and embedder_kind(settings) == "local":
                parts["embedder"] = self._kept(settings)
            try:
                memory = AsyncMemory(
                    namespace, settings=settings, recording=self._recording, **parts
                )
            except TypeError as error:
                raise ConfigurationError(f"not a part of a client: {error}") from None
            await memory.open()
            self._clients[key] = memory
        yield memory

    def missing(self, *needs: str) -> str | None:
        """See ``records.Models``; a replay needs none of them.

        Raises:
            ConfigurationError: an unknown need.
        """
        for need in needs:
            if need not in _NEEDS:
                raise ConfigurationError(f"no model is called {need!r}")
            key = (
                self.settings.typesafe_api_key if need == "jev" else self.settings.openai_api_key
            ).get_secret_value()
            served = need == "llm" and self.settings.openai_base_url is not None
            if not (self.offline or key.strip() or served):
                return f"{_NEEDS[need]} is not set"
        return None

    def endpoint(self) -> Mapping[str, Any]:
        """See ``records.Models``: a proxy on this machine, open until the models are closed.

        What is asked counts in the tallies and the stage of the latest ``endpoint``.

        Raises:
            ConfigurationError: no key, and this is no replay.
        """
        settings = self.settings
        if self._proxy is None:
            self._proxy = RecordingProxy(
                self._recording,
                base_url=settings.openai_base_url,
                api_key=KEY if self.offline else settings.openai_key(),
                usd_per_million_input=settings.llm_usd_per_million_input,
                usd_per_million_output=settings.llm_usd_per_million_output,
            ).__enter__()
        self._proxy.counts_here()
        return {"base_url": self._proxy.url, "api_key": KEY, "model": settings.llm_model}

    def tally(self) -> AbstractContextManager[Tally]:
        """See ``records.Models``."""
        return ledger.tally()

    @contextmanager
    def stage(self, stage: str, system: str) -> Iterator[None]:
        """See ``records.AnsweringModels``."""
        with self.ledger.stage(stage, system):
            yield

    def check(self) -> None:
        """See ``records.AnsweringModels``.

        Raises:
            BudgetError: a cap was crossed, or a replay asked for what is not recorded.
        """
        self.ledger.check()

    async def answer(self, question: str, lines: Sequence[str]) -> Answered:
        """The short answer that the lines give, best first; the model is told nothing else.

        Raises:
            AnsweringError: no completion came. BudgetError: none may be asked for.
            ConfigurationError: it is not recorded, and there is no key.
        """
        said = await self._complete(
            self._answering,
            Prompt(
                system=answering.SYSTEM,
                user=answering.material(question, lines),
                name=answering.SCHEMA_NAME,
                schema=answering.answer_schema(),
                plain=answering.PLAIN_FORM,
            ),
        )
        text = find_json(said.text, _field("answer"), _OPENING)
        # A model that keeps to no form has still answered.
        whole = said.text if text is None else text
        return Answered(" ".join(whole.split()), said.cost_usd, said.latency_ms)

    async def judge(
        self, question: str, gold: str, answer: str, *, abstention: bool = False
    ) -> Judged:
        """Whether ``answer`` says what ``gold`` does; for an abstention, that it was never told.

        Raises:
            AnsweringError: no completion came. BudgetError: none may be asked for.
            ConfigurationError: it is not recorded, and there is no key.
        """
        said = await self._complete(
            self._judging,
            Prompt(
                system=judging.system(abstention),
                user=judging.material(question, gold, answer),
                name=judging.SCHEMA_NAME,
                schema=judging.answer_schema(),
                plain=judging.PLAIN_FORM,
            ),
        )
        return Judged(_label(said), said.cost_usd, said.latency_ms)

    def named(self) -> Mapping[str, str]:
        """See ``records.AnsweringModels``: as the settings say, or said when it was recorded."""
        if self._named is None:
            self._named = naming.named(
                self.settings, self._recording, self._answering.model, self._judging.model
            )
        return self._named

    def prompts(self) -> Mapping[str, str]:
        """See ``records.AnsweringModels``."""
        return {
            "extraction": str(extraction.VERSION),
            "decisions": str(decision_prompt.VERSION),
            "reranking": str(listwise.VERSION),
            "answer": f"{answering.VERSION}, today {answering.TODAY}",
            "judge": str(judging.VERSION),
        }

    async def aclose(self) -> None:
        """Close the clients, the models and the recording."""
        try:
            await self._close_clients()
            if self._proxy is not None:
                self._proxy.__exit__(None, None, None)
                self._proxy = None
            await self._answering.aclose()
            await self._judging.aclose()
            if self._local is not None:
                await self._local.aclose()
        finally:
            await self._recording.aclose()

    async def _close_clients(self) -> None:
        while self._clients:
            await self._clients.popitem()[1].aclose()

    async def _complete(self, chat: RecordingChat, prompt: Prompt) -> Said:
        try:
            return await chat.complete(prompt)
        except BudgetError:
            self.check()  # a cap, or a replay
            self.settings.openai_key()  # else there was no key to ask with: it says so
            raise

    def _chat(self, kind: str, model: str | None) -> RecordingChat:
        settings = self.settings
        model = model or settings.llm_model
        inner = None
        if self.missing("llm") is None and not self.offline:
            inner = ChatModel(
                model,
                api_key=settings.openai_key(),
                base_url=settings.openai_base_url,
                timeout_s=_TIMEOUT_S,
                max_retries=_RETRIES,
                temperature=_TEMPERATURE,
                purpose=kind,
            )
        prices = settings.llm_usd_per_million_input, settings.llm_usd_per_million_output
        return RecordingChat(
            inner, self._recording, kind=kind, model=model, meter=Meter(*prices, None)
        )

    def _changed(self, changes: Mapping[str, Any]) -> Settings:
        if not changes:
            return self.settings
        given = {name: getattr(self.settings, name) for name in Settings.model_fields}
        return Settings.load(**given | dict(changes))

    def _kept(self, settings: Settings) -> Embedder:
        """The embedder of this machine, which clients share and do not close."""
        same = ("embedding_model", "embedding_query_prefix", "embedding_passage_prefix")
        if any(getattr(settings, name) != getattr(self.settings, name) for name in same):
            made = make_embedder(settings)
            assert made is not None
            return made
        if self._local is None:
            self._local = make_embedder(settings)
        assert self._local is not None
        return _Kept(self._local)

    def _payee(self, asked: Asked) -> str | None:
        """Who is paid for a call: told by the address it goes to."""
        settings = self.settings
        if asked.backend == "jev":
            return _HOSTS.get(_domain(settings.typesafe_base_url), "jev")
        url = settings.openai_base_url
        if asked.kind == "embedding":
            url = settings.embedding_base_url or url
        speaks = asked.backend == "openai" or asked.backend.split(":")[0] == "llm"
        return _HOSTS.get(_domain(url), "openai") if speaks else None


class _Kept:
    """An embedder that outlives the clients it is lent to."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner

    @property
    def model(self) -> str:
        return self._inner.model

    @property
    def dimension(self) -> int:
        return self._inner.dimension

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
        return await self._inner.embed(texts, query=query)

    async def aclose(self) -> None:
        pass


def _is_part(name: str, value: object) -> bool:
    """Whether it is a part of a client, not a setting; some names are both (``extractor``)."""
    return name not in Settings.model_fields or hasattr(value, "aclose")


def _server(settings: Settings) -> tuple[object, ...]:
    return settings.neo4j_uri, settings.neo4j_password, settings.neo4j_database


def _domain(url: str | None) -> str:
    """The last two labels of a URL's host."""
    host = urlsplit(url or "").hostname or ""
    return ".".join(host.split(".")[-2:])


def _field(name: str) -> Any:
    def found(value: Any) -> str | None:
        inner = value.get(name) if isinstance(value, dict) else None
        return inner if isinstance(inner, str) else None

    return found


def _label(said: Said) -> Literal["CORRECT", "WRONG"]:
    given = "" if said.flaw else find_json(said.text, _field("label"), _OPENING)
    return "CORRECT" if (given or "").strip().upper() == "CORRECT" else "WRONG"

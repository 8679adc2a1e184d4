"""The form of each step of a scenario, and of the scripts of its models.

What a step hands to a call is not looked at: whether a value is usable is for the product to say,
and a scenario may be about that.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from engram_graph.evaluation.scenarios.check_form import Check, Form, Scoped
from engram_graph.models.decisions import Question
from engram_graph.rules.questions import question

Fault = Literal["sum", "missing", "nan", "unknown_option"]


def _any_text(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError("Input should be a string")
    return value


Words = Annotated[Any, AfterValidator(_any_text)]
"""Text that may hold half a character, which pydantic's own ``str`` refuses."""
Probability = Annotated[float, Field(ge=0, le=1)]
Answers = Probability | dict[str, Probability]


# --- scripts ---


class Rule(Form):
    """An answer for facts and candidates whose texts hold the two substrings."""

    fact: str = ""
    candidate: str = ""
    p: Answers


Script = dict[str, Answers | list[Rule]]


class DraftForm(Form):
    """A fact as a model would give it; one without a subject or an object is the product's care."""

    text: Any = None
    subject: Any = None
    relation: Any = None
    object: Any = None
    when: Any = None
    quote: Any = None


class RawReply(Form):
    """A model's words: ``{{drafts}}`` in ``raw``, then replacements, then the end cut off."""

    raw: Words
    drafts: tuple[DraftForm, ...] = ()
    replace: tuple[tuple[Words, Words], ...] = ()
    drop_last: int = Field(0, ge=0)


ReplyForm = RawReply | tuple[DraftForm, ...]


# --- steps ---


class Remember(Scoped):
    do: Literal["remember"]
    subject: Any
    relation: Any
    object: Any
    text: Any = None
    said_at: Any = None
    valid_from: Any = None
    speaker: Any = "user"
    source_id: Any = None
    metadata: Any = None


class Add(Scoped):
    do: Literal["add"]
    text: Any
    repeat: int = Field(1, ge=0)
    role: Any = "user"
    said_at: Any = None
    speaker: Any = "user"
    source_id: Any = None
    metadata: Any = None


class Decider(Scoped):
    do: Literal["decider"]
    answers: Script = Field(default_factory=dict)
    malformed: dict[str, Fault] = Field(default_factory=dict)

    @field_validator("answers")
    @classmethod
    def _answerable(cls, script: Script) -> Script:
        for name, rules in script.items():
            asked = _question(name)
            for p in [rule.p for rule in rules] if isinstance(rules, list) else [rules]:
                if isinstance(p, dict) is (asked.type == "noul"):
                    form = "a number" if asked.type == "noul" else "{option: probability}"
                    raise ValueError(f"the answer to {name} is {form}")
                if isinstance(p, dict) and (unknown := p.keys() - set(asked.options)):
                    raise ValueError(f"no option of {name}: {', '.join(sorted(unknown))}")
        return script

    @field_validator("malformed")
    @classmethod
    def _known(cls, faults: dict[str, Fault]) -> dict[str, Fault]:
        for name in faults:
            _question(name)
        return faults


class DeciderDown(Scoped):
    do: Literal["decider_down"]
    only: frozenset[str] | None = None

    @field_validator("only")
    @classmethod
    def _known(cls, only: frozenset[str] | None) -> frozenset[str] | None:
        for name in only or ():
            _question(name)
        return only


class DeciderUp(Scoped):
    do: Literal["decider_up"]


class Extractor(Scoped):
    do: Literal["extractor"]
    replies: tuple[ReplyForm, ...]


class Parallel(Scoped):
    do: Literal["parallel"]
    steps: tuple[Step, ...]


class Resume(Scoped):
    do: Literal["resume"]


class ReopenDatabase(Scoped):
    do: Literal["reopen_database"]


class Forget(Scoped):
    """Exactly one of the four; all but ``namespace`` may be any value a caller could pass."""

    do: Literal["forget"]
    fact: str | None = None
    message: Any = None
    entity: Any = None
    namespace: Literal[True] | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if len(self.model_fields_set & {"fact", "message", "entity", "namespace"}) != 1:
            raise ValueError("forget takes one of fact, message, entity, namespace")
        return self


class ExportImport(Scoped):
    do: Literal["export_import"]
    into: str
    times: int = Field(1, ge=1)


class Search(Scoped):
    do: Literal["search"]
    query: Any
    repeat: int = Field(1, ge=0)
    mode: Any = "facts"


class Hygiene(Scoped):
    do: Literal["hygiene"]


class Mark(Scoped):
    do: Literal["mark"]
    name: str


class CheckNow(Scoped):
    do: Literal["check"]
    expect: tuple[Check, ...]


Step = Annotated[
    Remember
    | Add
    | Decider
    | DeciderDown
    | DeciderUp
    | Extractor
    | Parallel
    | Resume
    | ReopenDatabase
    | Forget
    | ExportImport
    | Search
    | Hygiene
    | Mark
    | CheckNow,
    Field(discriminator="do"),
]


def _question(name: str) -> Question:
    try:
        return question(name)
    except KeyError:
        raise ValueError(f"no such question: {name}") from None

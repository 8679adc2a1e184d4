"""The form of a scenario file: one JSON object a line; its steps, checks and scripts.

What a step hands to a call is not looked at here: whether a value is usable is for the product to
say, and a scenario may be about that.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from engram_graph import errors
from engram_graph.errors import EngramError, InputError
from engram_graph.evaluation.lines import numbered
from engram_graph.rules.method import PRESETS
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


class _Form(BaseModel):
    """A word that is not known is a mistake, not something to pass over."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class _Scoped(_Form):
    """``ns``: the namespace, without the run's prefix."""

    ns: str = "main"


# --- scripts ---


class Rule(_Form):
    """An answer for facts and candidates whose texts hold the two substrings."""

    fact: str = ""
    candidate: str = ""
    p: Answers


Script = dict[str, Answers | list[Rule]]


class DraftForm(_Form):
    """A fact as a model would give it; one without a subject or an object is the product's care."""

    text: Any = None
    subject: Any = None
    relation: Any = None
    object: Any = None
    when: Any = None
    quote: Any = None


class RawReply(_Form):
    """A model's words: ``{{drafts}}`` in ``raw``, then replacements, then the end cut off."""

    raw: Words
    drafts: tuple[DraftForm, ...] = ()
    replace: tuple[tuple[Words, Words], ...] = ()
    drop_last: int = Field(0, ge=0)


ReplyForm = RawReply | tuple[DraftForm, ...]


# --- steps ---


class Remember(_Scoped):
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


class Add(_Scoped):
    do: Literal["add"]
    text: Any
    repeat: int = Field(1, ge=0)
    role: Any = "user"
    said_at: Any = None
    speaker: Any = "user"
    source_id: Any = None
    metadata: Any = None


class Decider(_Scoped):
    do: Literal["decider"]
    answers: Script = {}
    malformed: dict[str, Fault] = {}

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


class DeciderDown(_Scoped):
    do: Literal["decider_down"]
    only: frozenset[str] | None = None

    @field_validator("only")
    @classmethod
    def _known(cls, only: frozenset[str] | None) -> frozenset[str] | None:
        for name in only or ():
            _question(name)
        return only


class DeciderUp(_Scoped):
    do: Literal["decider_up"]


class Extractor(_Scoped):
    do: Literal["extractor"]
    replies: tuple[ReplyForm, ...]


class Parallel(_Scoped):
    do: Literal["parallel"]
    steps: tuple[Step, ...]


class Resume(_Scoped):
    do: Literal["resume"]


class ReopenDatabase(_Scoped):
    do: Literal["reopen_database"]


class Forget(_Scoped):
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


class ExportImport(_Scoped):
    do: Literal["export_import"]
    into: str
    times: int = Field(1, ge=1)


class Search(_Scoped):
    do: Literal["search"]
    query: Any
    repeat: int = Field(1, ge=0)
    mode: Any = "facts"


class Hygiene(_Scoped):
    do: Literal["hygiene"]


class Mark(_Scoped):
    do: Literal["mark"]
    name: str


class CheckNow(_Scoped):
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


# --- checks ---


class OpenFacts(_Scoped):
    check: Literal["open_facts"]
    facts: tuple[str, ...]


class Closed(_Form):
    fact: str
    reason: str | None = None
    until: str | None = None


class ClosedFacts(_Scoped):
    check: Literal["closed_facts"]
    facts: tuple[Closed, ...]


class Links(_Scoped):
    check: Literal["supersedes", "refines", "same_as"]
    pairs: tuple[tuple[str, str], ...]


class Marked(_Scoped):
    check: Literal["disputed", "tentative"]
    facts: tuple[str, ...]


class Belief(_Scoped):
    check: Literal["belief"]
    values: dict[str, float]


class ValidFrom(_Scoped):
    check: Literal["valid_from"]
    fact: str
    exactly: str | None = Field(None, alias="is")
    min: str | None = None
    max: str | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if self.exactly is None and self.min is None and self.max is None:
            raise ValueError("valid_from takes is, or min and max")
        return self


class Counts(_Scoped):
    check: Literal["counts"]
    facts: int | None = None
    open: int | None = None
    closed: int | None = None
    entities: int | None = None
    messages: int | None = None
    unfinished: int | None = None


class Sources(_Scoped):
    check: Literal["sources"]
    fact: str
    speakers: frozenset[str] | None = None
    messages: int | None = None


class MessageIs(_Scoped):
    check: Literal["message"]
    source_id: str
    text: str | None = None
    length: int | None = None
    ends_with: str | None = None
    metadata: dict[str, Any] | None = None


class SearchFinds(_Scoped):
    check: Literal["search"]
    query: str
    repeat: int = Field(1, ge=1)
    mode: Literal["facts", "turns", "both"] = "facts"
    as_of: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


class AsOf(_Scoped):
    check: Literal["as_of"]
    valid: str | None = None
    known: str | None = None
    facts: tuple[str, ...]


class History(_Scoped):
    check: Literal["history"]
    subject: str
    relation: str
    intervals: tuple[tuple[str, str, str | None], ...]


class Decisions(_Scoped):
    check: Literal["decisions"]
    fact: str
    question: str
    candidate: str | None = None
    backend: str | None = None
    chosen: str | None = None
    outcome: str | None = None
    none: bool = False


class Raises(_Scoped):
    check: Literal["error"]
    step: int = Field(ge=1)
    kind: str = Field(alias="class")

    @field_validator("kind")
    @classmethod
    def _known(cls, name: str) -> str:
        found = getattr(errors, name, None)
        if not (isinstance(found, type) and issubclass(found, EngramError)):
            raise ValueError(f"no such error: {name}")
        return name

    @property
    def type(self) -> type[EngramError]:
        """The class of that name."""
        found: type[EngramError] = getattr(errors, self.kind)
        return found


class Absent(_Scoped):
    check: Literal["absent"]
    texts: tuple[str, ...]


class Equal(_Scoped):
    check: Literal["equal"]
    a: str
    b: str


class Invariants(_Scoped):
    check: Literal["invariants"]


Check = Annotated[
    OpenFacts
    | ClosedFacts
    | Links
    | Marked
    | Belief
    | ValidFrom
    | Counts
    | Sources
    | MessageIs
    | SearchFinds
    | AsOf
    | History
    | Decisions
    | Raises
    | Absent
    | Equal
    | Invariants,
    Field(discriminator="check"),
]


class Scenario(BaseModel):
    """One line. What else stands in it (who wrote it, notes) is kept out of the way."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str
    kind: str = ""
    title: str = ""
    steps: tuple[Step, ...]
    expect: tuple[Check, ...]
    why: str = ""
    preset: str | None = None
    source: str | None = None

    @field_validator("preset")
    @classmethod
    def _known(cls, name: str | None) -> str | None:
        if name is not None and name not in PRESETS:
            raise ValueError(f"no such preset: {name}")
        return name

    @model_validator(mode="after")
    def _there(self) -> Self:
        if late := [one.step for one in self.errors() if one.step > len(self.steps)]:
            raise ValueError(f"an error is expected of step {late[0]}, there is none")
        return self

    def errors(self) -> list[Raises]:
        """Every expected error, wherever it is checked."""
        nested = (step.expect for step in self.steps if isinstance(step, CheckNow))
        return [one for part in (*nested, self.expect) for one in part if isinstance(one, Raises)]

    def namespaces(self) -> list[str]:
        """Every namespace a step or check names, in their order."""
        return list(dict.fromkeys(_names([*self.steps, *self.expect])))


def _names(parts: Any) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Equal):
            yield from (part.a, part.b)
            continue
        if isinstance(part, Parallel):
            yield from _names(part.steps)
            continue
        if isinstance(part, CheckNow):
            yield from _names(part.expect)
            continue
        yield part.ns
        if isinstance(part, ExportImport):
            yield part.into


def _question(name: str) -> Any:
    try:
        return question(name)
    except KeyError:
        raise ValueError(f"no such question: {name}") from None


def load_scenarios(path: str | Path) -> list[Scenario]:
    """The scenarios of a file, in its order.

    Raises:
        InputError: no such file, a line that is no scenario (with its number), an id used twice.
    """
    found: dict[str, Scenario] = {}
    for number, value in numbered(path):
        try:
            one = Scenario.model_validate(value)
        except ValidationError as error:
            raise _wrong(path, number, value, error) from None
        if one.id in found:
            raise InputError(f"line {number}: the id {one.id!r} is there twice", line=number)
        found[one.id] = one
    return list(found.values())


def _wrong(path: str | Path, number: int, value: Any, error: ValidationError) -> InputError:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    name = value.get("id") if isinstance(value, dict) else None
    who = f" ({name})" if isinstance(name, str) else ""
    return InputError(
        f"{Path(path).name}, line {number}{who}: {where}: {first['msg']}",
        hint="Each line is one scenario: id, steps, expect.",
        line=number,
    )

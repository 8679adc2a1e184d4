"""The form of each check of a scenario."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from engram_graph import errors
from engram_graph.errors import EngramError


class Form(BaseModel):
    """A word that is not known is a mistake, not something to pass over."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Scoped(Form):
    """``ns``: the namespace, without the run's prefix."""

    ns: str = "main"


class OpenFacts(Scoped):
    check: Literal["open_facts"]
    facts: tuple[str, ...]


class Closed(Form):
    fact: str
    reason: str | None = None
    until: str | None = None


class ClosedFacts(Scoped):
    check: Literal["closed_facts"]
    facts: tuple[Closed, ...]


class Links(Scoped):
    check: Literal["supersedes", "refines", "same_as"]
    pairs: tuple[tuple[str, str], ...]


class Marked(Scoped):
    check: Literal["disputed", "tentative"]
    facts: tuple[str, ...]


class Belief(Scoped):
    check: Literal["belief"]
    values: dict[str, float]


class ValidFrom(Scoped):
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


class Counts(Scoped):
    check: Literal["counts"]
    facts: int | None = None
    open: int | None = None
    closed: int | None = None
    entities: int | None = None
    messages: int | None = None
    unfinished: int | None = None


class Sources(Scoped):
    check: Literal["sources"]
    fact: str
    speakers: frozenset[str] | None = None
    messages: int | None = None


class MessageIs(Scoped):
    check: Literal["message"]
    source_id: str
    text: str | None = None
    length: int | None = None
    ends_with: str | None = None
    metadata: dict[str, Any] | None = None


class SearchFinds(Scoped):
    check: Literal["search"]
    query: str
    repeat: int = Field(1, ge=1)
    mode: Literal["facts", "turns", "both"] = "facts"
    as_of: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


class AsOf(Scoped):
    check: Literal["as_of"]
    valid: str | None = None
    known: str | None = None
    facts: tuple[str, ...]


class History(Scoped):
    check: Literal["history"]
    subject: str
    relation: str
    intervals: tuple[tuple[str, str, str | None], ...]


class Decisions(Scoped):
    check: Literal["decisions"]
    fact: str
    question: str
    candidate: str | None = None
    backend: str | None = None
    chosen: str | None = None
    outcome: str | None = None
    none: bool = False


class Raises(Scoped):
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


class Absent(Scoped):
    check: Literal["absent"]
    texts: tuple[str, ...]


class Equal(Scoped):
    check: Literal["equal"]
    a: str
    b: str


class Invariants(Scoped):
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

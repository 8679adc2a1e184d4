"""The arguments of the tools: their types, limits, and what a model is told of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from engram_graph.models.facts import Record
from engram_graph.rules.validate import MAX_NAME
from engram_graph.vocabulary import PREDICATES

MAX_MESSAGES = 100
MAX_CHARS = 100_000
MAX_ROWS = 500
_WHEN = "ISO 8601, such as 2025-03-01 or 2025-03-01T09:30:00Z"


def moment(about: str) -> Any:
    """The metadata of an argument that is a date or a moment."""
    return Field(description=f"{about} ({_WHEN}).", min_length=1, max_length=64)


_PREDICATES = {"enum": list(PREDICATES)}
_MEANINGS = "; ".join(f"{each.name}: {each.help}" for each in PREDICATES.values())

Text = Annotated[str, Field(min_length=1, max_length=MAX_CHARS)]
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
Subject = Annotated[
    str | None,
    Field(description="Who or what it is about, by name.", min_length=1, max_length=MAX_NAME),
]
Object = Annotated[
    str | None,
    Field(description="The other end of the relation, by name.", min_length=1, max_length=MAX_NAME),
]
Relation = Annotated[
    str | None,
    Field(description="Only facts of this relation.", max_length=64, json_schema_extra=_PREDICATES),
]
GivenRelation = Annotated[
    str | None,
    Field(
        description=f"The relation, one of: {_MEANINGS}.",
        max_length=64,
        json_schema_extra=_PREDICATES,
    ),
]
Speaker = Annotated[
    str | None,
    Field(
        description="Name of who said it: 'I' in the text then means them. Give it if you know it.",
        min_length=1,
        max_length=MAX_NAME,
    ),
]
Role = Annotated[
    Literal["user", "assistant", "system", "tool"],
    Field(description="Who said it, as in the chat format."),
]
Conversation = Annotated[
    str | None,
    Field(description="Name of the chat; there is one by default.", min_length=1, max_length=500),
]
SaidAt = Annotated[str | None, moment("When it was said; now by default")]
SourceId = Annotated[
    str | None,
    Field(
        description="Your own id of the message; the same one again changes nothing.",
        min_length=1,
        max_length=500,
    ),
]
Limit = Annotated[int | None, Field(description="Most items, 1 to 150.", ge=1, le=150)]
PageLimit = Annotated[int, Field(description="Facts a page, 1 to 500.", ge=1, le=500)]
Cursor = Annotated[
    str | None, Field(description="The cursor of the page before.", min_length=1, max_length=1000)
]
Reference = Annotated[
    str,
    Field(
        description="A fact: its id, the first 8 or more characters of that, or "
        "'subject|predicate|object'.",
        min_length=1,
        max_length=3 * MAX_NAME,
    ),
]
Values = dict[str, str | int | float | bool | None]


class ChatMessage(Record):
    """One message of a chat."""

    role: Role = "user"
    content: Text = Field(description="What was said, word for word.")
    name: Speaker = None
    said_at: SaidAt = None
    source_id: SourceId = None

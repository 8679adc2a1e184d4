"""Items: JSON values that an application keeps under a path and a key."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from engram_graph.models.facts import Record


class Item(Record):
    """A value with its place.

    Attributes:
        path: the labels it stands under, outermost first. key: unique within its path.
        value: a JSON object, secrets taken out.
        created_at: when it was first put; a later put keeps it. updated_at: when it was last put.
        said: how many messages say what it said. source: their source_id is this, a colon and
            their number, from 1.
    """

    id: str
    namespace: str
    path: tuple[str, ...] = Field(min_length=1)
    key: str
    value: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    said: int = Field(default=0, ge=0, lt=2**31)
    source: str

    def sources(self) -> list[str]:
        """The source_ids of the messages that say what it said, oldest first."""
        return [f"{self.source}:{number}" for number in range(1, self.said + 1)]


class ItemHit(Record):
    """An item that was found. ``score``: cosine in [-1, 1]; None when no vector found it."""

    item: Item
    score: float | None = None

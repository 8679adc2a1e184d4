"""Names of the namespaces that replays work in: ``<namespace>/what-if/<id>``."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

_BETWEEN = "/what-if/"


def scratch(namespace: str) -> str:
    """How the names of a namespace's replays begin; an id follows."""
    return namespace + _BETWEEN


def replay_begun(name: str) -> datetime | None:
    """When the replay began that works in ``name``; None if that is a namespace like any other."""
    _, between, last = name.rpartition(_BETWEEN)
    try:
        made = uuid.UUID(last)
    except ValueError:
        return None
    if not between or made.version != 7:
        return None
    return datetime.fromtimestamp((made.int >> 80) / 1000, UTC)

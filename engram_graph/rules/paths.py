"""Paths of items as one string, each label ended by a slash: what is below is a range. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from engram_graph.errors import InputError
from engram_graph.rules.validate import clean_text

_MAX_BYTES = 4000  # of path and key: an index entry of Neo4j holds 8 kB
_END = "\U0010ffff"


def folder(path: Sequence[str]) -> str:
    """``path`` as stored: ``("users", "ann")`` is ``users/ann/``; a slash in a label is ``%2F``."""
    return "".join(each.replace("%", "%25").replace("/", "%2F") + "/" for each in path)


def path_of(stored: str) -> tuple[str, ...]:
    """The labels of a stored path."""
    labels = stored.removesuffix("/").split("/")
    return tuple(each.replace("%2F", "/").replace("%25", "%") for each in labels)


def behind(stored: str) -> str:
    """The first string behind all paths at ``stored`` or below it."""
    return f"{stored[:-1]}0" if stored else _END  # 0 is what follows a slash


def clean_path(path: object) -> tuple[str, ...]:
    """``path`` itself, if it is a sequence of labels, each of them text.

    Raises:
        InputError: it is not.
    """
    if isinstance(path, str) or not isinstance(path, Sequence):
        raise InputError("path must be a sequence of labels", hint="For example ('users', 'ann').")
    return tuple(clean_text(each, "path") for each in path)


def clean_place(path: object, key: object) -> tuple[tuple[str, ...], str]:
    """A path and a key, if they can name an item.

    Raises:
        InputError: they cannot: the path has no label, one of them is no text, or too long.
    """
    labels, name = clean_path(path), clean_text(key, "key")
    if not labels:
        raise InputError("path must have at least one label")
    if len((folder(labels) + name).encode()) > _MAX_BYTES:
        raise InputError(f"path and key are longer than {_MAX_BYTES} bytes")
    return labels, name

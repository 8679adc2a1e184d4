"""Checks of what callers pass in: text, namespaces, names, metadata. Pure.

Values are returned as given: nothing is trimmed, normalised or shortened here.
"""

from __future__ import annotations

import math
from typing import Any

from engram_graph.errors import InputError, ScopeError
from engram_graph.rules.scratch import replay_begun

MAX_TEXT = 4_000_000  # characters of one message: beyond it, split the text
MAX_NAMESPACE = 500
MAX_NAME = 1_000
MAX_DEPTH = 100
_EDGES = ".,'\"‘’“”"  # what entity normalisation strips at the edges


def clean_text(value: object, field: str = "text", *, max_chars: int = MAX_TEXT) -> str:
    """``value`` itself, if it is text that can be stored verbatim.

    Raises:
        InputError: not a string, blank, longer than ``max_chars`` characters, or with a NUL or a
            lone surrogate.
    """
    if not isinstance(value, str):
        raise InputError(
            f"{field} must be a string, not {type(value).__name__}",
            hint=f"Pass {field} as text.",
            field=field,
        )
    if _is_blank(value):
        raise InputError(f"{field} is blank", hint=f"Pass a {field} with words in it.", field=field)
    if len(value) > max_chars:
        raise InputError(
            f"{field} has {len(value):,} characters, more than {max_chars:,}",
            hint="Split it into several messages.",
            field=field,
        )
    if problem := _unstorable(value):
        raise InputError(
            f"{field} contains {problem}",
            hint="Remove it, or decode the bytes with errors='replace'.",
            field=field,
        )
    return value


def clean_query(value: object) -> str:
    """``value`` as it can be asked: no character of a question is worth refusing it for.

    Nothing of it is stored, so a NUL becomes a space, and half a character a question mark.

    Raises:
        InputError: not a string, blank, or too long.
    """
    if isinstance(value, str):
        value = value.replace("\x00", " ").encode(errors="replace").decode()
    return clean_text(value, "query")


def clean_namespace(value: object) -> str:
    """``value`` itself, if it is a namespace: any text that is not blank, case-sensitive.

    Raises:
        ScopeError: missing, not a string, blank, over 500 characters, not storable, or the name of
            a namespace that a replay works in.
    """
    if value is None:
        raise ScopeError("no namespace given", field="namespace")
    if not isinstance(value, str):
        raise ScopeError(
            f"namespace must be a string, not {type(value).__name__}", field="namespace"
        )
    if _is_blank(value):
        raise ScopeError("namespace is empty or blank", field="namespace")
    if len(value) > MAX_NAMESPACE:
        raise ScopeError(
            f"namespace has {len(value):,} characters, more than {MAX_NAMESPACE}",
            hint="Use a shorter name, such as a hash of it.",
            field="namespace",
        )
    if problem := _unstorable(value):
        raise ScopeError(
            f"namespace contains {problem}", hint="Remove it from the name.", field="namespace"
        )
    if replay_begun(value):
        raise ScopeError(
            "a what-if works in namespaces of such names, and removes them",
            hint="Choose a name that does not end in /what-if/ and an id.",
            field="namespace",
        )
    return value


def clean_name(value: object, field: str = "name") -> str:
    """``value`` itself, if it can name an entity: something is left once its edges are stripped.

    Raises:
        InputError: as for ``clean_text`` with 1,000 characters, or nothing but punctuation marks
            that normalisation strips.
    """
    text = clean_text(value, field, max_chars=MAX_NAME)
    if not "".join(c for c in text if not c.isspace() and c not in _EDGES):
        raise InputError(
            f"{field} has nothing but punctuation: {text!r}",
            hint=f"Pass a {field} with a letter, a digit or a sign of its own.",
            field=field,
        )
    return text


def clean_metadata(value: object, field: str = "metadata") -> dict[str, Any]:
    """``value`` itself, if it is a JSON object; None gives an empty one.

    Raises:
        InputError: not an object, not JSON (NaN, infinity, other types, keys that are no strings),
            nested deeper than 100, or with a NUL or a lone surrogate.
    """
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError(
            f"{field} must be a JSON object, not {type(value).__name__}",
            hint='Pass a dict, such as {"channel": "mail"}.',
            field=field,
        )
    rest: list[tuple[object, int]] = [(value, 1)]
    while rest:
        item, depth = rest.pop()
        if depth > MAX_DEPTH:  # ends on a structure that contains itself, too
            raise _not_json(field, f"it is nested deeper than {MAX_DEPTH}")
        if isinstance(item, dict):
            for key, inner in item.items():
                if not isinstance(key, str):
                    raise _not_json(field, f"a key is {type(key).__name__}, not a string")
                rest.extend(((key, depth), (inner, depth + 1)))
        elif isinstance(item, list | tuple):
            rest.extend((inner, depth + 1) for inner in item)
        elif isinstance(item, str):
            if problem := _unstorable(item):
                raise _not_json(field, f"a string contains {problem}")
        elif isinstance(item, float):
            if not math.isfinite(item):
                raise _not_json(field, "JSON has no NaN or infinity")
        elif not (item is None or isinstance(item, bool | int)):
            raise _not_json(field, f"{type(item).__name__} is no JSON type")
    return value


def _not_json(field: str, reason: str) -> InputError:
    return InputError(
        f"{field} is not storable: {reason}",
        hint="Metadata is a JSON object of strings, numbers, booleans, null, lists and objects.",
        field=field,
    )


def _is_blank(text: str) -> bool:
    """Whether a reader would see nothing: white space and invisible signs only."""
    return not text.strip() or not text.strip(" \t\r\n\u200b\u200c\u200d\u2060\ufeff\u00ad").strip()


def _unstorable(text: str) -> str:
    """What of ``text`` a database cannot hold, or nothing."""
    if "\x00" in text:
        return "a NUL character"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "a lone surrogate (half a character)"
    return ""

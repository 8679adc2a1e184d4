"""Reading evaluation files: one JSON object a line, and which line is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engram_graph.errors import InputError

_HINT = "It needs one JSON object a line."


def numbered(path: str | Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """(number of the line, object) for each line that is not blank.

    Raises:
        InputError: the file cannot be read, holds nothing, or a line is no JSON object.
    """
    name = Path(path).name
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise InputError(
            f"{name} cannot be read: {type(error).__name__}", hint="Pass a file of JSON lines."
        ) from None
    empty = True
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        empty = False
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"{name}, line {number}: no JSON ({error})", hint=_HINT, line=number
            ) from None
        if not isinstance(value, dict):
            raise InputError(f"{name}, line {number}: no JSON object", hint=_HINT, line=number)
        yield number, value
    if empty:
        raise InputError(f"{name} is empty", hint=_HINT)

"""A file that is one JSON value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engram_graph.errors import InputError


def read_json(path: str | Path, hint: str) -> Any:
    """The value in a file.

    Args:
        hint: which file is expected, for errors.

    Raises:
        InputError: no such file, or no JSON.
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"cannot read {path}: {reason}", hint=hint, field="path") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not JSON: {error}", hint=hint, field="path") from None

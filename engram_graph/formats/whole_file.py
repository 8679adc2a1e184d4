"""A file that is there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from engram_graph.errors import InputError


@contextmanager
def whole_file(path: Path, *, overwrite: bool) -> Iterator[BinaryIO]:
    """Write ``path`` under another name beside it; it gets its own name when all went well.

    Whatever fails, nothing is left behind. Only its owner may read it.

    Raises:
        InputError: it exists and ``overwrite`` is False, or it cannot be written.
    """
    refuse(path, overwrite)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
    except OSError as error:
        raise _unwritable(path, error) from None
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        refuse(path, overwrite)
        part.replace(path)
    except OSError as error:
        raise _unwritable(path, error) from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def refuse(path: Path, overwrite: bool) -> None:
    """Raise InputError where ``path`` is a folder, or exists and may not be overwritten."""
    if path.is_dir():
        raise InputError(f"{path} is a folder", field="path")
    if path.exists() and not overwrite:
        raise InputError(
            f"{path} exists", hint="Name another file, or overwrite it (--overwrite).", field="path"
        )


def _unwritable(path: Path, error: OSError) -> InputError:
    reason = error.strerror or type(error).__name__
    return InputError(f"cannot write {path}: {reason}", field="path")

"""The file a command writes: refused before the work, written whole or not at all."""

from __future__ import annotations

from pathlib import Path

from engram_graph.errors import InputError


def target(out: str, formats: tuple[str, ...], *, overwrite: bool) -> tuple[Path, str]:
    """The file, and what kind it is by its ending.

    Raises:
        InputError: another ending than one of ``formats``, or the file is there.
    """
    from engram_graph.formats.whole_file import refuse

    path = Path(out)
    kind = path.suffix.lower().removeprefix(".")
    if kind not in formats:
        wanted = " or ".join(f".{each}" for each in formats)
        raise InputError(f"cannot write {path.name!r}", hint=f"Name a {wanted} file.", field="out")
    refuse(path, overwrite)
    return path, kind


def write(path: Path, content: bytes, overwrite: bool) -> None:
    """Write ``path``."""
    from engram_graph.formats.whole_file import whole_file

    with whole_file(path, overwrite=overwrite) as stream:
        stream.write(content)

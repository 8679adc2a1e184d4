"""Named statements from the ``cypher/`` folder: the only Cypher this package runs.

``// name: snake_case`` opens a block; the ``//`` lines after it are its documentation; the body
goes to the server as written; parameters are found by ``$name``. Nothing is ever filled in, but
for the number of the place where vectors stand (``graph/places.py``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import LiteralString

from engram_graph.errors import SchemaError

_NAME = re.compile(r"^// name:\s*(.*?)\s*$")
_PARAM = re.compile(r"\$(\w+)")


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """One statement.

    Attributes:
        params: the names it needs. origin: ``file:line``, for errors.
        placed: names of vector properties and indexes are final, see ``graph/places.py``.
    """

    name: str
    text: LiteralString
    doc: str
    params: frozenset[str]
    origin: str
    placed: bool = False


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered file of schema statements, applied once, in order."""

    version: int
    name: str
    statements: tuple[LiteralString, ...]


def cypher_folder() -> Path:
    """The ``cypher`` folder: inside an installed wheel, else beside the package in a checkout."""
    package = Path(__file__).resolve().parent.parent
    checkout = package.parent / "cypher"
    return checkout if (checkout / "migrations").is_dir() else package / "_cypher"


def used_params(statement: str) -> frozenset[str]:
    """The names of the parameters in ``statement``, its comments left out."""
    return frozenset(_PARAM.findall(re.sub(r"//.*", "", statement)))


def parse(text: str, origin: str) -> dict[str, NamedQuery]:
    """The named statements of one file's ``text``.

    Raises:
        SchemaError: a block without a name or body, or a name used twice.
    """
    found: dict[str, NamedQuery] = {}
    name, start = "", 0
    doc: list[str] = []
    body: list[str] = []

    def close() -> None:
        if not name:
            return
        statement = "\n".join(body).strip()
        if not statement:
            raise SchemaError(f"{origin}:{start}: query {name!r} has no statement")
        if name in found:
            raise SchemaError(f"{origin}:{start}: query {name!r} is there twice")
        # Literal in spirit: the text comes from our own files, never from data.
        found[name] = NamedQuery(
            name,
            statement,
            " ".join(doc),
            used_params(statement),
            f"{origin}:{start}",
        )

    for number, line in enumerate(text.splitlines(), 1):
        if header := _NAME.match(line):
            close()
            name, doc, body, start = header[1], [], [], number
            if not name.isidentifier():
                raise SchemaError(f"{origin}:{number}: {name!r} is no name for a query")
        elif name and line.startswith("//") and not body:
            doc.append(line.removeprefix("//").strip())
        elif name:
            body.append(line)
        elif line.strip() and not line.startswith("//"):
            raise SchemaError(f"{origin}:{number}: a statement without `// name:`")
    close()
    return found


@cache
def load(stem: str) -> dict[str, NamedQuery]:
    """The named statements of ``cypher/<stem>.cypher``."""
    path = cypher_folder() / f"{stem}.cypher"
    return parse(path.read_text(encoding="utf-8"), path.name)


@cache
def migrations() -> tuple[Migration, ...]:
    """All migrations in order.

    Raises:
        SchemaError: numbers are not 1, 2, 3, …
    """
    found = []
    for path in sorted((cypher_folder() / "migrations").glob("*.cypher")):
        number, _, name = path.stem.partition("_")
        lines = [
            line
            for line in path.read_text(encoding="utf-8").splitlines()
            if not line.startswith("//")
        ]
        statements = [s.strip() for s in "\n".join(lines).split(";\n")]
        found.append(
            Migration(
                int(number),
                name,
                tuple(s.rstrip(";") for s in statements if s),
            )
        )
    if [m.version for m in found] != list(range(1, len(found) + 1)):
        raise SchemaError(f"migrations are not numbered 1, 2, …: {[m.version for m in found]}")
    return tuple(found)

"""``cypher/README.md``: made from the files beside it, never by hand.

``python -m engram_graph.graph.catalogue`` writes it in a checkout.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from engram_graph.graph.analyst import AnalystQuery, as_cypher, library
from engram_graph.graph.queries import cypher_folder, load

_INTRO = """\
# Cypher

Made by `python -m engram_graph.graph.catalogue` from the files in this folder; a test compares.

- `analyst/`: queries for people, one a file, to run as they stand.
- `*.cypher`: the named statements that the code runs, and no others.
- `migrations/`: constraints and indexes, applied once, in order.

## For people

In **Neo4j Browser** run the `:param` lines of a file's comment first, each by itself, then paste
the file. `engram query NAME --show` prints the statement with those lines; **cypher-shell** takes
both as they come. On the command line:

```bash
engram query                                        # what there is
engram query relation_history -n demo -p subject=Maya -p predicate=lives_in
engram query relation_history -n demo -p subject=Maya -p predicate=lives_in --csv > homes.csv
```

In Python, `memory.query("relation_history", subject="Maya", predicate="lives_in")` gives a list of
dicts, which pandas and polars take as they are. All of them only read, each in the one namespace
that `$namespace` names. A name is matched as Browser shows it, else in any case without a leading
article, else as an alias. Moments are UTC; `null` stands for what is left out.
"""


def render() -> str:
    """The file as it should stand."""
    lines = [_INTRO, "| query | answers |", "| --- | --- |"]
    lines += [f"| [`{q.name}`](#{q.name}) | {q.title} |" for q in library().values()]
    for each in library().values():
        lines += ["", *_described(each)]
    lines += ["", "## What the code runs", "", *_named()]
    lines += ["", "## Migrations", "", "| file | |", "| --- | --- |"]
    for path in sorted((cypher_folder() / "migrations").glob("*.cypher")):
        lines.append(f"| `{path.name}` | {_opening(path)} |")
    return "\n".join(lines) + "\n"


def _described(each: AnalystQuery) -> Iterator[str]:
    yield f"### {each.name}"
    yield ""
    yield f"**{each.title}** {each.doc}".rstrip()
    yield ""
    yield "| parameter | type | default | example | |"
    yield "| --- | --- | --- | --- | --- |"
    for p in each.params:
        default = "" if p.required else f"`{as_cypher(p.default)}`"
        yield f"| `{p.name}` | {p.type} | {default} | `{p.example}` | {p.doc} |"
    yield ""
    yield "| columns | |"
    yield "| --- | --- |"
    for column in each.columns:
        yield f"| {', '.join(f'`{name}`' for name in column.names)} | {column.doc} |"


def _named() -> Iterator[str]:
    for path in sorted(cypher_folder().glob("*.cypher")):
        yield f"**`{path.name}`** {_opening(path)}".rstrip()
        yield ""
        yield "| statement | |"
        yield "| --- | --- |"
        for query in load(path.stem).values():
            yield f"| `{query.name}` | {_cell(query.doc)} |"
        yield ""


def _opening(path: Path) -> str:
    """The comment a file begins with, up to the first statement."""
    lines: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("//") or line.startswith("// name:"):
            break
        lines.append(line.removeprefix("//").strip())
    return _cell(" ".join(lines))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> None:
    """Write the file anew."""
    (cypher_folder() / "README.md").write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main()

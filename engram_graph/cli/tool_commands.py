"""``demo`` and ``bench``: to see it work, and how fast."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engram_graph.cli.output import one_line
from engram_graph.cli.run import FAILED, OK, Run, command
from engram_graph.errors import InputError

if TYPE_CHECKING:
    from rich.text import Text

    from engram_graph.flows.runtime import Runtime
    from engram_graph.memory import AsyncMemory
    from engram_graph.models.facts import Fact, Message
    from engram_graph.models.results import Recall, Timeline

PANEL = "Try and measure"
_SHOWN = 3  # facts of an answer in the demo, as JSON


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    command(app, "demo", panel=PANEL)(demo)
    command(app, "bench", panel=PANEL, scoped=False)(bench)


async def demo(run: Run) -> int:
    """Put a shipped conversation into the namespace 'demo', ask six questions, show where to look.

    Needs no key. Run it again freely: what is known is skipped.
    """
    from engram_graph import demo as shipped
    from engram_graph.cli.server_commands import browser_url, guessed_browser

    namespace = run.namespace if run.namespace is not None else shipped.NAMESPACE
    answers: list[dict[str, Any]] = []
    messages = [dict(each) for each in shipped.messages()]
    stored = 0
    unfinished = 0
    facts: set[str] = set()
    async with run.memory(namespace) as memory:
        await memory.open()  # a server may have to be fetched and started, with a bar of its own
        with run.out.bar("Adding the messages") as progress:
            progress(0, len(messages))
            for number, message in enumerate(messages, 1):
                (result,) = await memory.add([message])
                stored += not result.duplicate
                unfinished += result.message.status.value != "done"
                facts |= {fact.id for fact in result.facts}
                progress(number, len(messages))
        if not run.json:
            run.out.line(
                f"{len(messages)} messages in the namespace {namespace!r}, {stored} of them new, "
                f"{len(facts)} facts"
            )
        for question in shipped.questions():
            found = await memory.search(
                question["question"], mode=question["mode"], as_of=question["as_of"]
            )
            past = await _history(memory, found)
            run.out.degraded(found.degraded)
            answers.append(_answer(question, found, past))
            if not run.json:
                _show_answer(run, question, found, past)
    where = run.settings().neo4j_uri
    if where:
        url: str | None = guessed_browser(where)
    else:
        from engram_graph.server import EmbeddedServer

        info = EmbeddedServer().status()
        url = browser_url(info) if info is not None else None
    literal = "'" + namespace.replace("\\", "\\\\").replace("'", "\\'") + "'"
    queries = [(what, query.replace("'demo'", literal)) for what, query in shipped.CYPHER]
    if run.json:
        run.out.data(
            {
                "namespace": namespace,
                "messages": len(messages),
                "new": stored,
                "facts": len(facts),
                "answers": answers,
                "browser_url": url,
                "cypher": [{"shows": what, "query": query} for what, query in queries],
            }
        )
    else:
        _show_where(run, namespace, url, queries, embedded=not where)
    return FAILED if unfinished else OK


async def bench(
    run: Run,
    facts: Annotated[int, typer.Option(min=100, help="Facts in the database.")] = 10_000,
    rounds: Annotated[int, typer.Option(min=1, help="Repetitions of each measurement.")] = 200,
    growth: Annotated[
        str | None,
        typer.Option(
            metavar="SIZES",
            help="Instead: searches at each of these sizes, such as 10000,100000,1000000, and "
            "whether a namespace of five facts among them finds its own.",
        ),
    ] = None,
    analyst: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="NAMESPACES",
            help="Instead: every query of `engram query`, in one of so many namespaces that share "
            "the facts.",
        ),
    ] = None,
) -> None:
    """Time writing and searching beside the bare statements, on a database of its own.

    A server for the run alone is started and removed; with NEO4J_URI, that server is used and
    what was written is removed. No model is measured: vectors are made by hashing.
    """
    from engram_graph.bench import run as benchmark
    from engram_graph.bench.analyst import checked
    from engram_graph.cli.client import own_server
    from engram_graph.settings import Settings

    settings = Settings.load(embedder="hash", extractor="patterns")
    sizes = _sizes(growth) if growth is not None else None
    if sizes is not None and analyst is not None:
        raise InputError(
            "--growth and --analyst are two benchmarks", hint="Run one, then the other."
        )
    if analyst is not None:
        checked(analyst, facts)

    async def measured(runtime: Runtime) -> list[dict[str, Any]]:
        with run.out.bar("Measuring") as progress:
            if sizes is not None:
                return await benchmark.grow(runtime, sizes, rounds=rounds, progress=progress)
            if analyst is not None:
                return await benchmark.people(
                    runtime, analyst, facts=facts, rounds=rounds, progress=progress
                )
            return await benchmark.run(runtime, facts=facts, rounds=rounds, progress=progress)

    if settings.neo4j_uri:
        async with run.memory(settings=settings) as memory:
            rows = await measured(await memory.open())
    else:
        with own_server(run.out, settings, "engram-bench-") as server:
            async with run.memory(settings=server.settings) as memory:
                rows = await measured(await memory.open())
    if run.json:
        run.out.data(rows)
        return
    names = list(dict.fromkeys(name for each in rows for name in each))
    numbers = {n for n in names if any(isinstance(each.get(n), int | float) for each in rows)}
    run.out.table(
        [f">{name}" if name in numbers else name for name in names],
        ([_cell(each.get(name)) for name in names] for each in rows),
    )


def _sizes(given: str) -> list[int]:
    """Raises InputError, before a server is started for nothing."""
    from engram_graph.bench.growth import checked

    numbers = [each.strip().replace("_", "") for each in given.split(",")]
    return checked([int(each) if each.isdecimal() else 0 for each in numbers])


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.2f}"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


@dataclass(frozen=True, slots=True)
class _Past:
    """The facts about the same thing as the best hit, oldest first, and where they come from."""

    facts: list[Fact]
    among: Timeline
    sources: dict[str, Message]


async def _history(memory: AsyncMemory, found: Recall) -> _Past | None:
    """What was true before and after of what the best hit says; None where no fact was found."""
    from engram_graph.vocabulary import PREDICATES

    if not found.facts:
        return None
    best = found.facts[0].fact
    past = await memory.history(best.subject)
    related = [each for each in past.facts if each.predicate == best.predicate]
    same = [each for each in related if each.object_key == best.object_key]
    facts = related if PREDICATES[best.predicate].single or len(same) < 2 else same
    sources = {}
    for fact in facts:
        for message in (await memory.explain(fact.id)).messages[:1]:
            sources[fact.id] = message
    return _Past(facts, past, sources)


def _answer(question: dict[str, Any], found: Recall, past: _Past | None) -> dict[str, Any]:
    from engram_graph.cli.read_commands import flat_recall

    flat = flat_recall(found)
    return {
        "question": question["question"],
        "as_of": question["as_of"],
        "mode": question["mode"],
        "found": str(_found(found, past)).removeprefix("→ "),
        "shows": question["shows"],
        "facts": flat["facts"][:_SHOWN],
        "turns": flat["turns"][:1],
        "history": [fact.model_dump(mode="json") for fact in past.facts] if past else [],
    }


def _found(found: Recall, past: _Past | None) -> Text:
    """The answer as the memory gave it: its best hit on one line."""
    from rich.text import Text

    from engram_graph.cli import show

    if found.facts and past:
        best = found.facts[0].fact
        return show.answer_line(best, past.sources.get(best.id))
    if found.turns:
        return Text(f"→ {show.message_line(found.turns[0].message)}", style="bold green")
    return Text("→ nothing found", style="red")


def _show_answer(run: Run, question: dict[str, Any], found: Recall, past: _Past | None) -> None:
    from rich.text import Text

    from engram_graph.cli import show

    then = f" (as of {question['as_of']})" if question["as_of"] else ""
    run.out.line()
    run.out.line(Text(question["question"] + then, style="bold"))
    run.out.line(_found(found, past))
    run.out.line(Text(question["shows"], style="italic"))
    if past is None or len(past.facts) < 2:
        return
    first = past.facts[0]
    run.out.line(f"  history of {one_line(first.subject)}, {first.predicate}:")
    for fact in past.facts:
        line = Text("    ") + show.fact_line(fact, id=False)
        if source := past.sources.get(fact.id):
            line.append(f"  told by {one_line(source.speaker)}", style="dim")
        if fact.closed_reason is not None and fact.closed_reason.value == "fulfilled":
            line.append(show.successor(fact, past.among), style="dim")
        run.out.line(line)


def _show_where(
    run: Run,
    namespace: str,
    url: str | None,
    queries: list[tuple[str, str]],
    *,
    embedded: bool,
) -> None:
    from rich.text import Text

    run.out.line()
    run.out.line(Text("Look at the graph", style="bold"))
    run.out.line(f"{url}   (`engram browser` opens it with a guide)")
    for what, query in queries:
        run.out.line()
        run.out.line(f"// {what}")
        run.out.lines(query.splitlines())
    run.out.line()
    quoted = shlex.quote(namespace)
    run.out.line(f"Go on with: engram history Maya -n {quoted}, engram facts -n {quoted}")
    if embedded:
        run.out.line("Neo4j keeps running; stop it with: engram down")

"""``eval``: how well it finds, decides and behaves, measured on files."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from engram_graph.cli.eval_audit import audit
from engram_graph.cli.eval_report import report
from engram_graph.cli.eval_statistics import calibration, compare
from engram_graph.cli.eval_study import locomo, longmemeval
from engram_graph.cli.eval_turns import fit_shortlist, shortlist
from engram_graph.cli.eval_updates import updates
from engram_graph.cli.output import one_line
from engram_graph.cli.run import FAILED, OK, Run, command
from engram_graph.cli.tool_commands import PANEL

_PRESET = "Name of the rules to decide by, such as default, s2_v3, reference."


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    evaluations = typer.Typer(no_args_is_help=True, help="Measure how well it finds and decides.")
    command(evaluations, "shortlist", scoped=False)(shortlist)
    command(evaluations, "fit-shortlist", scoped=False)(fit_shortlist)
    command(evaluations, "locomo", scoped=False)(locomo)
    command(evaluations, "longmemeval", scoped=False)(longmemeval)
    command(evaluations, "updates", scoped=False)(updates)
    command(evaluations, "scenarios", scoped=False)(scenarios)
    command(evaluations, "pairs", scoped=False)(pairs)
    command(evaluations, "calibration", scoped=False)(calibration)
    command(evaluations, "compare", scoped=False)(compare)
    command(evaluations, "audit", scoped=False)(audit)
    command(evaluations, "report", scoped=False)(report)
    app.add_typer(evaluations, name="eval", rich_help_panel=PANEL)


async def scenarios(
    run: Run,
    file: Annotated[str, typer.Argument(help="Scenarios, one JSON object a line.")],
    only: Annotated[
        list[str] | None, typer.Option("--id", metavar="ID", help="Only this one; repeatable.")
    ] = None,
    preset: Annotated[str, typer.Option(metavar="NAME", help=_PRESET)] = "s2_v3",
) -> int:
    """Act out scripted scenarios on a real database and compare what they leave; 1 if one fails.

    Each runs in namespaces of its own, which are forgotten afterwards. A server for the run alone
    is started and removed; with NEO4J_URI, that server is used. No model is asked.
    """
    from engram_graph.cli.client import own_server
    from engram_graph.evaluation.scenarios import run as flow
    from engram_graph.evaluation.scenarios.database import Database
    from engram_graph.evaluation.scenarios.format import load_scenarios
    from engram_graph.rules.method import preset as named

    method = named(preset)
    wanted = flow.chosen(load_scenarios(file), only or ())

    async def acted_out(database: Database) -> list[flow.Result]:
        await database.prepare()
        with run.out.bar("Running the scenarios") as progress:
            return await flow.run_all(wanted, database, method, progress)

    settings = run.settings()
    if settings.neo4j_uri:
        results = await acted_out(Database(settings))
    else:
        with own_server(run.out, settings, "engram-scenarios-") as server:
            results = await acted_out(Database(server.settings, server.restart))
    passed = sum(each.passed for each in results)
    if run.json:
        run.out.data(
            {
                "passed": passed,
                "failed": len(results) - passed,
                "scenarios": [each.as_dict() for each in results],
            }
        )
    else:
        for each in results:
            run.out.line(f"{each.id}  {'passed' if each.passed else 'FAILED'}")
            run.out.lines(f"    {one_line(line)}" for line in each.diff.splitlines())
        run.out.line(f"{passed} passed, {len(results) - passed} failed")
    return OK if passed == len(results) else FAILED


def pairs(
    run: Run,
    file: Annotated[str, typer.Argument(help="Labelled pairs, one JSON object a line.")],
    preset: Annotated[str, typer.Option(metavar="NAME", help=_PRESET)] = "default",
    start: Annotated[
        float, typer.Option(metavar="P", min=0.0, max=1.0, help="Belief in the old fact before.")
    ] = 0.98,
    answers: Annotated[
        str, typer.Option(metavar="NAME", help="Which of the recorded answers.")
    ] = "jev_v2",
) -> None:
    """Which old facts recorded answers would close, and which of them rightly. No database needed.

    Edge types are those of the file. What is not recorded is answered by rule: the second phrasing
    says what the first did, and both facts tell the same attribute.
    """
    from engram_graph.evaluation import pairs as flow
    from engram_graph.rules.method import preset as named

    method = named(preset)
    rows = flow.decide(flow.load_pairs(file, answers), method, start)
    total = flow.summary(rows)
    if run.json:
        run.out.data({**total, "rows": flow.as_dicts(rows)})
        return
    run.out.table(
        ["pair", "closes", "expected", "relation", ">p", ">belief", "why not"], _rows(rows)
    )
    run.out.line(
        f"{total['pairs']} pairs: {total['right_closes']} of {total['to_close']} closed rightly, "
        f"{total['false_closes']} wrongly; relation accepted {total['accepted']}, "
        f"temporal status right {total['temporal']}"
    )


def _rows(rows: Any) -> Any:
    for each in rows:
        yield (
            one_line(each.id),
            "yes" if each.closes else "no",
            each.expected,
            each.relation,
            f"{each.p:.2f}",
            f"{each.belief:.2f}",
            each.why,
        )

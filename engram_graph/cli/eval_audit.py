"""``eval audit``: people grade the answers on which two arms differ, without knowing whose."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engram_graph.cli.run import Run
from engram_graph.errors import InputError

if TYPE_CHECKING:
    from engram_graph.evaluation.study.audit import Audit, Reading


def audit(
    run: Run,
    results: Annotated[
        list[str] | None,
        typer.Argument(metavar="RESULT_A RESULT_B", help="Result files of two arms."),
    ] = None,
    key: Annotated[
        Path, typer.Option("--key", metavar="KEY.csv", help="Whose answers they are.")
    ] = Path("key.csv"),
    out: Annotated[
        Path | None, typer.Option("--out", metavar="SHEET.csv", help="Write a sheet to grade.")
    ] = None,
    filled: Annotated[
        Path | None, typer.Option("--import", metavar="SHEET.csv", help="Read a graded sheet.")
    ] = None,
    k: Annotated[
        list[int] | None,
        typer.Option("--k", min=1, help="Lines of the block: once for both arms, or once each."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the files.")] = False,
) -> None:
    """Have people grade the questions that only one of two arms answered rightly.

    With --out, write them as a sheet of two rows a question, shuffled and without the arms' names,
    and the key to it. Graders write correct, partly or wrong in its last column; keep the key from
    them. With --import, read the sheet back: how far they agree with the judge, and what the arms'
    comparison is by their verdicts, once with partly right as wrong, once as right.
    """
    from engram_graph.evaluation.study import audit as flow

    if (out is None) == (filled is None):
        raise InputError("an audit is either written (--out) or read back (--import)", field="out")
    if filled is not None:
        if results or k:
            raise InputError("a sheet is read back with its key alone", field="import")
        found = flow.read_back(filled, key)
        if run.json:
            run.out.data(found.as_dict())
        else:
            _tell(run, found)
        return
    assert out is not None
    _write(run, results or [], key, out, k or [], overwrite)


def _write(
    run: Run, results: list[str], key: Path, out: Path, ks: list[int], overwrite: bool
) -> None:
    from engram_graph.cli.files import write
    from engram_graph.evaluation.study import audit as flow
    from engram_graph.evaluation.study.result import read_result
    from engram_graph.formats.whole_file import refuse

    if len(results) != 2 or len(ks) > 2:
        raise InputError("an audit compares two result files, at one k or two", field="results")
    for path in (out, key):
        refuse(path, overwrite)
    if out.resolve() == key.resolve():
        raise InputError("the key is another file than the sheet", field="key")
    first, second = map(read_result, results)
    sizes = (
        flow.only_k(first, ks[0] if ks else None),
        flow.only_k(second, ks[-1] if ks else None),
    )
    made = flow.sheets(first, second, sizes)
    write(key, made.key, overwrite)
    write(out, made.sheet, overwrite)
    if run.json:
        run.out.data({"sheet": str(out), "key": str(key), "questions": made.questions})
    else:
        run.out.line(f"{made.questions} questions to grade in {out}; their key is {key}")


def _tell(run: Run, found: Audit) -> None:
    run.out.line(
        f"{found.compared} of {found.audited} questions graded, {found.ungraded} of "
        f"{found.answers} answers not yet"
    )
    run.out.line(", ".join(f"{name.lower()} {count}" for name, count in found.verdicts.items()))
    first, second = f"{found.first} at {found.first_k}", f"{found.second} at {found.second_k}"
    run.out.table(
        ["partly right is", ">agreement", f">only {first}", f">only {second}", ">p", ">bound"],
        [_row("wrong", found.strict), _row("right", found.lenient)],
    )


def _row(name: str, one: Reading) -> list[object]:
    bound = f"{100 * one.non_inferiority.lower:+.2f}"
    return [
        name, f"{one.agreement:.1%}", one.only_first, one.only_second, f"{one.p:.3g}", bound,
    ]  # fmt: skip

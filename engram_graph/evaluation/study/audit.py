"""A blind audit: people grade the questions of which one arm's answer counted and the other's not.

Two files. The sheet has two rows a question, shuffled, and names no arm; people fill in its last
column. The key says whose answer each row is and what the judge said; keep it from them.
"""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from engram_graph.errors import InputError
from engram_graph.evaluation.compare import paired
from engram_graph.evaluation.statistics import NonInferiority, mcnemar, non_inferiority
from engram_graph.evaluation.study.result import Result

SHEET: Final = ("row", "question", "gold", "answer", "verdict")
KEY: Final = ("row", "task", "arm", "k", "side", "label", "questions", "question")
SEED: Final = 0
VERDICTS: Final = {"correct": "CORRECT", "partly": "PARTLY", "wrong": "WRONG"}
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_SIDES = ("first", "second")
_LABELS = ("CORRECT", "WRONG")


@dataclass(frozen=True, slots=True)
class Sheets:
    """Two CSV files, and how many questions are to be graded."""

    sheet: bytes
    key: bytes
    questions: int


@dataclass(frozen=True, slots=True)
class Reading:
    """The verdicts, with what is partly right counted one way.

    Attributes:
        agreement: share of graded answers on which people and the judge agree.
        only_first, only_second: questions that only that arm answered rightly (b and c).
        p: McNemar's. non_inferiority: of the first arm, over all questions the two share.
    """

    agreement: float
    only_first: int
    only_second: int
    p: float
    non_inferiority: NonInferiority


@dataclass(frozen=True, slots=True)
class Audit:
    """What people said of the answers of two arms.

    Attributes:
        questions: that the arms share. audited: that were on the sheet. compared: of those, with
            a verdict on both answers. answers, ungraded: rows, and those without a verdict.
        verdicts: how often each was given.
        strict: partly right is wrong. lenient: partly right is right.
    """

    first: str
    first_k: int
    second: str
    second_k: int
    questions: int
    audited: int
    compared: int
    answers: int
    ungraded: int
    verdicts: dict[str, int]
    strict: Reading
    lenient: Reading

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def only_k(result: Result, k: int | None) -> int:
    """The k that is asked for, or the only one a result was answered at.

    Raises:
        InputError: there are several, and none is asked for.
    """
    if k is not None:
        return k
    if len(result.ks) == 1:
        return result.ks[0]
    raise InputError(
        f"{result.arm} was answered at several k: {', '.join(map(str, result.ks)) or 'none'}",
        hint="Pass --k once for both arms, or twice, for the first and the second.",
        field="k",
    )


def sheets(first: Result, second: Result, ks: tuple[int, int]) -> Sheets:
    """The sheet and its key.

    A cell that a spreadsheet would run as a formula begins with an apostrophe. The sheet begins
    with a byte order mark, by which spreadsheets know UTF-8.

    Raises:
        InputError: the arms cannot be paired at these k, were not judged, or do not differ.
    """
    pairs = [pair for pair in paired(first, second, ks) if all(row.label for row in pair)]
    blind = [
        (row, arm, side)
        for pair in pairs
        if pair[0].label != pair[1].label
        for row, arm, side in zip(pair, (first.arm, second.arm), _SIDES, strict=True)
    ]
    if not blind:
        raise InputError(
            f"{first.arm} and {second.arm} differ on none of {len(pairs)} judged questions",
            hint="An audit is about questions that only one of two arms answered rightly.",
        )
    random.Random(SEED).shuffle(blind)
    sheet, key = [], []
    for number, (row, arm, side) in enumerate(blind, 1):
        sheet.append((number, row.question, row.gold, row.answer or "", ""))
        key.append((number, row.task, arm, row.k, side, row.label, len(pairs), _line(row.question)))
    return Sheets(_csv(SHEET, sheet), _csv(KEY, key), len(blind) // 2)


def read_back(sheet: Path, key: Path) -> Audit:
    """What the filled sheet says: ``correct``, ``partly``, ``wrong``, or nothing yet.

    Rows may have been sorted, and other columns added; the separator may be a comma, a semicolon
    or a tab.

    Raises:
        InputError: a file cannot be read, the two do not belong together, a verdict is another
            word, or no question is graded.
        MissingExtraError: scipy is not installed.
    """
    keys = _keys(key)
    given: dict[str, str] = {}
    for row in _rows(sheet, SHEET):
        place = row["row"].strip()
        known = keys.get(place)
        if known is None or place in given or _same(row) != _same(known):
            raise InputError(
                f"row {place or '?'} of {sheet.name} is not one of {key.name}, or comes twice",
                hint="Each key belongs to one sheet; leave its column row as it is.",
                field="key",
            )
        given[place] = _verdict(row["verdict"], place)
    by_task: dict[str, dict[str, tuple[str, str]]] = {}
    for place, known in keys.items():
        sides = by_task.setdefault(known["task"], {})
        sides[known["side"]] = given.get(place, ""), known["label"]
    graded = [pair for pair in map(_both, by_task.values()) if pair is not None]
    if not graded:
        raise InputError(
            "no question has a verdict on both answers yet",
            hint="Graders write " + ", ".join(VERDICTS) + " into its last column.",
            field="verdict",
        )
    told = [(given.get(place, ""), known["label"]) for place, known in keys.items()]
    arms = {known["side"]: (known["arm"], int(known["k"])) for known in keys.values()}
    questions = int(next(iter(keys.values()))["questions"])
    return Audit(
        *arms["first"],
        *arms["second"],
        questions=questions,
        audited=len(by_task),
        compared=len(graded),
        answers=len(keys),
        ungraded=sum(not verdict for verdict, _ in told),
        verdicts={name: sum(v == name for v, _ in told) for name in VERDICTS.values()},
        strict=_reading(told, graded, ("CORRECT",), questions),
        lenient=_reading(told, graded, ("CORRECT", "PARTLY"), questions),
    )


def _keys(path: Path) -> dict[str, dict[str, str]]:
    """Rows of the key by their number."""
    keys = {row["row"]: row for row in _rows(path, KEY)}
    for place, row in keys.items():
        numbers = all(row[name].isascii() and row[name].isdigit() for name in ("k", "questions"))
        if not numbers or row["side"] not in _SIDES or row["label"] not in _LABELS:
            raise InputError(
                f"row {place or '?'} of {path.name} is no row of a key",
                hint="Use the key as `engram eval audit` wrote it.",
                field="key",
            )
    return keys


def _reading(
    told: Sequence[tuple[str, str]],
    graded: Sequence[tuple[str, str]],
    right: tuple[str, ...],
    questions: int,
) -> Reading:
    agreed = [(verdict in right) == (label == "CORRECT") for verdict, label in told if verdict]
    b = sum(one in right and other not in right for one, other in graded)
    c = sum(other in right and one not in right for one, other in graded)
    return Reading(
        agreement=sum(agreed) / len(agreed),
        only_first=b,
        only_second=c,
        p=mcnemar(b, c),
        non_inferiority=non_inferiority(b, c, questions),
    )


def _both(sides: dict[str, tuple[str, str]]) -> tuple[str, str] | None:
    """The verdicts on both answers to a question; None if one is missing."""
    found = tuple(sides.get(side, ("", ""))[0] for side in _SIDES)
    return (found[0], found[1]) if all(found) else None


def _verdict(cell: str, place: str) -> str:
    told = cell.strip().lower()
    if told and told not in VERDICTS:
        raise InputError(
            f"row {place}: {cell.strip()[:40]!r} is no verdict",
            hint="Write " + ", ".join(VERDICTS) + ", or leave it empty.",
            field="verdict",
        )
    return VERDICTS.get(told, "")


def _csv(head: Sequence[str], rows: Sequence[Sequence[object]]) -> bytes:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow(head)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return stream.getvalue().encode("utf-8-sig")


def _cell(value: object) -> str:
    """One line of text that no spreadsheet runs."""
    text = _line(str(value))
    return f"'{text}" if text.startswith(_FORMULA) else text


def _same(row: dict[str, str]) -> str:
    """The question as both files must have it; spreadsheets may drop the apostrophe."""
    return _line(row["question"]).removeprefix("'")


def _line(text: str) -> str:
    return " ".join(text.split())


def _rows(path: Path, head: Sequence[str]) -> list[dict[str, str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
        first = text.partition("\n")[0]
        comma = max(",;\t", key=first.count)
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=comma)
        if not set(head) <= set(reader.fieldnames or ()):
            raise InputError(
                f"{path.name} has no columns {', '.join(head)}",
                hint="`engram eval audit` writes a sheet and its key.",
                field="file",
            )
        rows = [{name: row[name] or "" for name in head} for row in reader]
        return [row for row in rows if any(row.values())]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise InputError(f"{path.name} cannot be read: {reason}", field="file") from None

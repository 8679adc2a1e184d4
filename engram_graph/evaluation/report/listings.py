"""The tables that list: what stores hold, what was closed, single questions, what failed. Pure."""

from __future__ import annotations

from collections import Counter

from engram_graph.evaluation.report.parts import NONE, Table, number, short, size
from engram_graph.evaluation.report.tables import Group, arms_at
from engram_graph.evaluation.study import metrics
from engram_graph.evaluation.study.labels import Labels
from engram_graph.evaluation.study.result import Row
from engram_graph.evaluation.validity import table as validity

SHOWN = 40
"""Rows of a list of examples."""


def stores(group: Group) -> Table:
    """What writing left."""
    body = []
    for result in group.results:
        held = result.conversations.values()
        closes = Counter(str(each.get("reason")) for store in held for each in store.closes)
        body.append(
            (
                result.arm,
                *(
                    number(sum(getattr(store, name) for store in held))
                    for name in ("turns", "facts", "active", "tentative", "disputed", "same_as")
                ),
                ", ".join(f"{short(why)} {n:,}" for why, n in sorted(closes.items())) or "none",
                number(sum(row.ended for row in result.rows)),
                number(sum(len(store.failed) for store in held)),
            )
        )
    return Table(
        "What was stored",
        (
            *("arm", ">turns", ">facts", ">active", ">tentative", ">disputed", ">same_as"),
            *("closes", ">ended lines read", ">turns failed"),
        ),
        tuple(body),
        note="Ended lines: those that the arm itself marked as no longer true, over all k.",
    )


def counters(group: Group) -> Table:
    """What arms counted while they wrote."""
    body = [
        (result.arm, short(name), number(count))
        for result in group.results
        for name, count in metrics.counters(result.conversations).items()
    ]
    return Table(
        "Counters of writing",
        ("arm", "what", ">count"),
        tuple(body),
        empty="No arm counted anything.",
    )


def closes(group: Group) -> Table:
    """The first facts that arms closed."""
    found = [
        (
            result.arm,
            short(conversation),
            short(each.get("text", "")),
            short(each.get("reason", "")),
            ", ".join(map(short, each.get("old_sources", ()))) or NONE,
            ", ".join(map(short, each.get("new_sources", ()))) or NONE,
        )
        for result in group.results
        for conversation, store in result.conversations.items()
        for each in store.closes
    ]
    return Table(
        "Closed facts",
        ("arm", "conversation", "fact", "reason", "told in", "ended by"),
        tuple(found[:SHOWN]),
        note=_first(len(found)),
        empty="No fact was closed.",
    )


def benchmark(group: Group) -> list[Table]:
    """Scores of the benchmark of validity windows, as ``eval updates`` shows them; often none."""
    scored = [each for each in group.results if validity.MAIN_K in each.scores.get("k", {})]
    if not scored:
        return []
    told = (
        (
            "Right blocks by kind, %",
            validity.by_kind(scored),
            f"Blocks of {validity.MAIN_K} lines, scored against validity windows without a model: "
            "right ones state all that answers the question and nothing that no longer holds. "
            "The mean counts each kind the same.",
        ),
        (
            "Right blocks by size, %",
            validity.by_budget(scored),
            f"Mean over kinds. The last columns are of blocks of {validity.MAIN_K} lines: the "
            "answer is reached, something stale is stated, the answer stands first.",
        ),
        (
            "Facts in the store, %",
            validity.of_stores(scored),
            "Of arms that keep facts: those open at the end against gold, those true at moments, "
            "and where they start and end.",
        ),
    )
    return [
        Table(caption, tuple(head), tuple(map(tuple, rows)), note, "No arm keeps facts.")
        for caption, (head, rows), note in told
    ]


def audit(group: Group, labels: Labels) -> Table:
    """Closes against labelled pairs of turns, and wrong answers that were right once."""
    body = []
    for result, k, rows in arms_at(group):
        found = metrics.close_audit(result.conversations, labels.closes)
        old = metrics.stale(rows, labels.outdated)
        body.append(
            (
                result.arm,
                size(k),
                *map(number, (found.closes, found.right, found.wrong, found.unknown)),
                f"{found.missed:,} of {found.labelled:,}",
                f"{old.right:,} of {old.of:,}",
            )
        )
    return Table(
        "Audit of closes and stale answers",
        (
            *("arm", ">k", ">closes", ">right", ">wrong", ">unknown", ">pairs missed"),
            ">stale answers",
        ),
        tuple(body),
        note="By the labels that were given. Unknown: the messages of a close are not known. "
        "Stale: a wrong answer that says what was true before; words are compared.",
        empty="Nothing was answered.",
    )


def divided(group: Group) -> Table:
    """Questions that one arm answered rightly and another not, at the smallest k of each."""
    first = [
        (each, {row.task: row for row in each.at(each.ks[0])}) for each in group.results if each.ks
    ]
    found = []
    for task, row in first[0][1].items() if first else ():
        there = [rows.get(task) for _, rows in first]
        labels = {each.label for each in there if each is not None and each.label}
        if len(labels) > 1 and row.scored and not row.abstention:
            said = map(_answered, there)
            found.append((short(row.question), short(row.gold, 80), row.category, *said))
    names = (f"{result.arm}, k {size(result.ks[0])}" for result, _ in first)
    return Table(
        "Questions that divide the arms",
        ("question", "right answer", "category", *names),
        tuple(found[:SHOWN]),
        note=_first(len(found)),
        empty="No question was answered rightly by one arm and wrongly by another.",
    )


def trouble(group: Group) -> Table:
    """What fell back or failed, counted."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for result in group.results:
        for row in result.rows:
            counts.update((result.arm, "read", short(each)) for each in row.degraded)
        for store in result.conversations.values():
            counts.update((result.arm, "write", short(why)) for _, why in store.failed)
    return Table(
        "What fell back or failed",
        ("arm", "while", "what", ">times"),
        tuple((*key, number(count)) for key, count in sorted(counts.items())),
        empty="Nothing fell back, nothing failed.",
    )


def _answered(row: Row | None) -> str:
    if row is None or row.label is None:
        return NONE
    said = f": {short(row.answer, 80)}" if row.answer else ""
    return ("right" if row.label == "CORRECT" else "wrong") + said


def _first(count: int) -> str:
    return f"The first {SHOWN} of {count:,}." if count > SHOWN else ""

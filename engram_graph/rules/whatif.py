"""Other numbers for a method, and what differs between a store and its replay. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from engram_graph.errors import InputError
from engram_graph.models.facts import Fact, Link
from engram_graph.models.whatif import Change, FactDiff, LinkDiff
from engram_graph.rules.method import Method

SETTABLE = (
    *("act", "escalate_below", "worth_drop", "evidence_above", "belief_floor", "belief_ceiling"),
    *("start_tentative", "close_below", "reopen_above", "near", "related"),
    *("rare_entity_share", "rare_entity_min"),
)
"""The thresholds that decide on a draft; the others are for reading and for upkeep."""
_COUNTS = frozenset({"near", "related", "rare_entity_min"})
_MOST = 1000
# When it was read, how often it was written; and that an answer is missing, which is told apart.
_UNCOMPARED = frozenset({"namespace", "read_at", "version", "changed_at", "unsettled"})
_END = frozenset({"valid_until", "closed_reason", "closed_at"})


def adjusted(method: Method, numbers: Mapping[str, float]) -> Method:
    """``method`` with other thresholds.

    Raises:
        InputError: no such threshold, or a value out of its range.
    """
    for name, value in numbers.items():
        if name not in SETTABLE:
            raise InputError(
                f"unknown threshold: {name!r}", hint="One of: " + ", ".join(SETTABLE), field="set"
            )
        whole = name in _COUNTS
        least, most = (1, _MOST) if whole else (0, 1)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"{name} must be a number: {value!r}", field="set")
        if not least <= value <= most or (whole and value != int(value)):
            kind = "a whole number" if whole else "a number"
            raise InputError(f"{name} must be {kind} from {least} to {most}: {value}", field="set")
    values = {name: int(v) if name in _COUNTS else float(v) for name, v in numbers.items()}
    found = replace(method.thresholds, **values)  # type: ignore[arg-type]
    if found.belief_floor <= 0 or found.belief_ceiling >= 1:
        raise InputError("belief_floor and belief_ceiling are between 0 and 1", field="set")
    if found.belief_floor >= found.belief_ceiling:
        raise InputError("belief_floor must be below belief_ceiling", field="set")
    return replace(method, thresholds=found)


def fact_diffs(before: Iterable[Fact], after: Iterable[Fact]) -> tuple[FactDiff, ...]:
    """What differs, in recording order; both under the same ids."""
    old, new = ({fact.id: fact for fact in facts} for facts in (before, after))
    found = [
        diff
        for fact_id in dict.fromkeys((*old, *new))
        if (diff := _fact_diff(old.get(fact_id), new.get(fact_id)))
    ]
    return tuple(sorted(found, key=lambda each: (each.fact.recorded_at, each.fact.id)))


def _fact_diff(before: Fact | None, after: Fact | None) -> FactDiff | None:
    if before is None or after is None:
        return FactDiff(change="stored" if after else "left_out", before=before, after=after)
    fields = tuple(
        name
        for name in Fact.model_fields
        if name not in _UNCOMPARED and _differs(getattr(before, name), getattr(after, name))
    )
    if not fields:
        return None
    change = _change(before, after, fields)
    return FactDiff(change=change, before=before, after=after, fields=fields)


def _change(before: Fact, after: Fact, fields: tuple[str, ...]) -> Change:
    if before.open != after.open:
        return "closed" if before.open else "reopened"
    if _END & set(fields):
        return "end_moved"
    return "belief" if "belief" in fields else "other"


def _differs(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) > 1e-9
    return one != other


def link_diffs(before: Iterable[Link], after: Iterable[Link]) -> tuple[LinkDiff, ...]:
    """Links of one side only; of SAME_AS the direction does not count."""
    old, new = ({_ends(link): link for link in links} for links in (before, after))
    found = [LinkDiff(change="dropped", link=old[key]) for key in old.keys() - new.keys()]
    found += [LinkDiff(change="added", link=new[key]) for key in new.keys() - old.keys()]
    return tuple(sorted(found, key=lambda d: (d.change, d.link.type, d.link.source, d.link.target)))


def _ends(link: Link) -> tuple[str, str, str]:
    ends = (link.source, link.target)
    first, second = sorted(ends) if link.type == "SAME_AS" else ends
    return link.type, first, second

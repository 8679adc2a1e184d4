"""Records as lines for people. What the store holds is shown on one line and steers nothing."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from rich.text import Text

from engram_graph.cli.output import one_line
from engram_graph.clock import now

if TYPE_CHECKING:
    from engram_graph.models.facts import Fact, Message
    from engram_graph.models.results import (
        Added,
        Diff,
        DiffEntry,
        Explanation,
        FactHit,
        Recall,
        Stats,
        Timeline,
        TurnHit,
    )

_LONG = 500  # characters of one text in a list
_ENDED = {
    "belief": "ended: newer statement",
    "superseded": "ended: newer statement",
    "fulfilled": "fulfilled",
    "corrected": "corrected by hand",
    "stated": "ended as stated",
}
_HAPPENED = {
    "began": "green",
    "ended": "red",
    "recorded": "green",
    "closed": "red",
    "moved": "yellow",
    "reopened": "yellow",
    "disputed": "yellow",
    "archived": "dim",
    "restored": "dim",
}
_BY = {"ended": "superseded by", "closed": "superseded by", "disputed": "disagrees with"}
_MINUTE, _SECOND = timedelta(minutes=1), timedelta(seconds=1)


def moment(value: datetime | None) -> str:
    """A moment as its UTC date, with the time when that is not midnight."""
    if value is None:
        return ""
    day = value.date().isoformat()
    return day if (value.hour, value.minute, value.second) == (0, 0, 0) else f"{day} {value:%H:%M}Z"


def interval(fact: Fact) -> str:
    """Since when (until when) a fact holds.

    A start that nobody stated is the day its message was ``said``, as in the lines for a prompt.
    """
    if fact.never_held:
        return "never true"
    start, end = fact.valid_from, fact.valid_until
    said = "" if fact.valid_from_stated else "said "
    if end is None:
        return said + (start.date().isoformat() if said else moment(start))
    if end - start < _MINUTE:
        return f"{said}{_exact(start, end - start)} → {_exact(end, end - start)}"
    day_only = said and start.date() != end.date()
    return f"{said}{start.date().isoformat() if day_only else moment(start)} → {moment(end)}"


def _exact(value: datetime, length: timedelta) -> str:
    """A moment with the seconds (and parts of one) that tell a short interval's ends apart."""
    return f"{value:%Y-%m-%d %H:%M:%S}{f'.{value:%f}' if length < _SECOND else ''}Z"


def state(fact: Fact) -> str:
    """What is not plain about a fact, such as ``ended: newer statement``."""
    marks = []
    if fact.valid_until is not None:
        ended = _ENDED[fact.closed_reason.value] if fact.closed_reason else "ended"
        marks.append(ended.replace("ended", "ends") if fact.valid_until > now() else ended)
    if fact.temporal_status.value != "current":
        marks.append(fact.temporal_status.value)
    marks += [
        name for name in ("negated", "tentative", "unsettled", "disputed") if getattr(fact, name)
    ]
    if fact.archived_at is not None:
        marks.append("archived")
    return " · ".join(marks)


def fact_line(fact: Fact, *, id: bool = True, triple: bool = False) -> Text:  # noqa: A002
    """A fact on one line: since when (until when), what, whether it still holds, id.

    How much it is believed stands beside an open fact only: of one that ended, it says how sure
    the memory is that it no longer holds, and would be read as doubt.

    Args:
        triple: name subject, predicate and object beside the sentence.
    """
    closed = fact.valid_until is not None
    line = Text()
    line.append(f"{interval(fact)}  ", style="dim" if closed else "green")
    line.append(cut(fact.text), style="dim" if closed else "")
    if triple:
        relation = f"  {one_line(fact.subject)} -{fact.predicate}-> {one_line(fact.object)}"
        line.append(relation, style="cyan")
    if marks := state(fact):
        line.append(f"  [{marks}]", style="red" if closed else "yellow")
    if not closed:
        line.append(f"  belief {fact.belief:.2f}", style="dim")
    if id:
        line.append(f"  {fact.id}", style="dim")
    return line


def message_line(message: Message) -> str:
    """A message on one line."""
    return f"{moment(message.said_at)}  {one_line(message.speaker)}: {cut(message.text)}"


def cut(text: str) -> str:
    """The start of a text, on one line."""
    line = one_line(text[: 2 * _LONG])
    return line if len(line) <= _LONG else line[:_LONG].rstrip() + "…"


def added(result: Added) -> Iterator[Text]:
    """What became of one message."""
    if result.duplicate:
        yield Text("known already: nothing changed", style="dim")
    if result.message.status.value != "done":
        problem = one_line(result.message.error or "")
        yield Text(f"message {result.message.status.value} {problem}".rstrip(), style="red")
    settled = not any(fact.unsettled for fact in result.facts)
    again = ("* settled ", "green") if settled else ("? asked again ", "yellow")
    groups = (
        (*(again if result.asked_again else ("+ ", "green")), result.facts),
        ("= repeats ", "dim", result.repeated),
        ("- closed ", "red", result.closed),
        ("~ reopened ", "yellow", result.reopened),
    )
    for mark, style, facts in groups:
        for fact in facts:
            yield Text(mark, style=style) + fact_line(fact, triple=True)
    if not any(facts for _, _, facts in groups) and not result.duplicate:
        yield Text("stored as a message; no fact in it", style="dim")
    yield Text(f"message {result.message.id}", style="dim")


def recall(result: Recall) -> Iterator[Text | str]:
    """What a search found, best first."""
    if result.sufficient is False and (result.facts or result.turns):
        yield Text("nothing certain on this; the nearest that was found:", style="dim")
    for hit in result.facts:
        line = Text("    ↳ " if hit.why == "history" else "") + fact_line(hit.fact)
        line.append(found_by(hit), style="dim")
        yield line
    if result.facts and result.turns:
        yield ""
    for turn in result.turns:
        line = Text(message_line(turn.message))
        line.append(found_by(turn), style="dim")
        yield line
    if not result.facts and not result.turns:
        yield Text("nothing found", style="dim")


def found_by(hit: FactHit | TurnHit) -> str:
    """What a reranker said of a hit, why it is there if not for that, and what it stands for.

    Empty where there was no model.
    """
    said = []
    if hit.scores.relevance is not None:
        said.append(f"relevance {hit.scores.relevance:.2f}")
    if hit.scores.rerank is not None:
        said.append(f"rerank {hit.scores.rerank:.2f}")
    if hit.why not in ("shortlist", "history"):
        said.append(hit.why)
    if also := getattr(hit, "also", ()):
        said.append(f"the same in {len(also)} more")
    return f"  {' · '.join(said)}" if said else ""


def timeline(result: Timeline, namespace: str) -> Iterator[Text | str]:
    """A subject's facts by relation, oldest first, with what superseded what."""
    for predicate in dict.fromkeys(fact.predicate for fact in result.facts):
        yield Text(predicate, style="bold")
        for line in chain(result, predicate):
            yield Text("  ") + line
    if not result.facts:
        about = one_line(result.subject) + (f", {result.predicate}," if result.predicate else "")
        yield Text(f"no facts about {about} in namespace {one_line(namespace)}", style="dim")


def chain(result: Timeline, predicate: str | None = None) -> Iterator[Text]:
    """The facts of a timeline (of one relation), each with what superseded it."""
    for fact in result.facts:
        if predicate in (None, fact.predicate):
            line = fact_line(fact)
            line.append(successor(fact, result), style="dim")
            yield line


def successor(fact: Fact, among: Timeline) -> str:
    """What superseded a fact, or made a plan come true: its text, or the start of its id."""
    newer = next((link.source for link in among.links if link.target == fact.id), None)
    if newer is None:
        return ""
    text = next((cut(each.text) for each in among.facts if each.id == newer), newer[:8])
    fulfilled = fact.closed_reason is not None and fact.closed_reason.value == "fulfilled"
    return f"  {'fulfilled' if fulfilled else 'superseded'} by: {text}"


def diff(result: Diff) -> Iterator[Text]:
    """The changes, a line each: when, what happened, to which fact, through what, and why."""
    for each in result.changes:
        style = _HAPPENED[each.kind]
        line = Text(f"{moment(each.at):<17}  ", style="dim")
        line.append(f"{each.kind:<8}  {cut(each.fact.text)}", style=style)
        if notes := _notes(each):
            line.append(f"  [{' · '.join(notes)}]", style=style)
        if each.by_text is not None:
            line.append(f"  {_BY.get(each.kind, 'through')}: {cut(each.by_text)}", style="dim")
        line.append(f"  {each.fact.id}", style="dim")
        yield line


def _notes(each: DiffEntry) -> list[str]:
    """Why a fact ended, on which day where ``at`` does not say it, and what was said of it."""
    notes = []
    if each.reason is not None:
        notes.append(_ENDED[each.reason.value])
    if each.kind == "recorded":
        notes.append(_interval_of(each.fact.valid_from, each.valid_until_after))
    elif each.kind == "closed":
        notes.append(f"true until {moment(each.valid_until_after)}")
    elif each.kind == "moved":
        before, after = moment(each.valid_until_before), moment(each.valid_until_after)
        notes.append(f"true until {after}, not {before}")
    return [*notes, one_line(each.why)] if each.why else notes


def _interval_of(start: datetime, end: datetime | None) -> str:
    """Since when, and until when if it has an end."""
    return f"from {moment(start)}" if end is None else f"{moment(start)} → {moment(end)}"


def answer_line(fact: Fact, source: Message | None) -> Text:
    """A fact as the answer to a question: what, and since when, said by whom, in which words."""
    line = Text(f"→ {cut(fact.text)}", style="bold green")
    if marks := state(fact):
        line.append(f"  [{marks}]", style="yellow")
    when = interval(fact)
    if fact.valid_until is None:
        when = f"since {when}" if fact.valid_from_stated else when
    else:
        when = when.removeprefix("said ")
    if source is not None:
        joint = " by" if when.startswith("said ") else ", said by"
        quote = cut(fact.source_quote or source.text)
        when += f'{joint} {one_line(source.speaker)}: "{quote}"'
    line.append(f"  ({when})", style="dim")
    return line


def explanation(result: Explanation) -> Iterator[Text | str]:
    """The story of a fact, under the fact itself."""
    yield fact_line(result.fact, triple=True)
    for line in result.text.splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        yield Text(indent + one_line(line), style="" if indent else "bold")


def stats(found: Stats) -> list[str]:
    """The counts of a namespace, its relations, and a table of what its decider was asked."""
    counts = found.model_dump(mode="json", exclude={"predicates", "questions"})
    share = {"failed_share": None if found.failed_share is None else f"{found.failed_share:.1%}"}
    lines = [
        f"{name:<18} {one_line(f'{value:,.1f}' if name.startswith('latency_ms') else str(value))}"
        for name, value in (counts | share).items()
        if value is not None
    ]
    lines += [f"  {predicate:<16} {count}" for predicate, count in found.predicates.items()]
    if not found.questions:
        return lines
    head = ("question", "requests", "failed", "p50 ms", "p90 ms", "p99 ms")
    rows = [
        (
            *(one_line(name), each.requests, each.failed_requests),
            *(
                "" if ms is None else f"{ms:,.1f}"
                for ms in (each.latency_ms_p50, each.latency_ms_p90, each.latency_ms_p99)
            ),
        )
        for name, each in found.questions.items()
    ]
    return [*lines, ""] + [
        f"{name:<24}" + "".join(f"{value:>10}" for value in values)
        for name, *values in (head, *rows)
    ]

"""Records as lines for people. What the store holds is shown on one line and steers nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich.text import Text

from engram_graph.cli.output import one_line

if TYPE_CHECKING:
    from engram_graph.models.decisions import Decision
    from engram_graph.models.facts import Fact, Message
    from engram_graph.models.results import Added, Explanation, Recall, Timeline

_LONG = 500  # characters of one text in a list


def moment(value: datetime | None) -> str:
    """A moment as its UTC date, with the time when that is not midnight."""
    if value is None:
        return ""
    day = value.date().isoformat()
    return day if (value.hour, value.minute, value.second) == (0, 0, 0) else f"{day} {value:%H:%M}Z"


def state(fact: Fact) -> str:
    """What is not plain about a fact, such as ``closed: superseded``."""
    marks = []
    if fact.valid_until is not None:
        marks.append(f"closed: {fact.closed_reason.value}" if fact.closed_reason else "closed")
    if fact.temporal_status.value != "current":
        marks.append(fact.temporal_status.value)
    marks += [name for name in ("negated", "tentative", "disputed") if getattr(fact, name)]
    return " · ".join(marks)


def fact_line(fact: Fact, *, id: bool = True, triple: bool = False) -> Text:  # noqa: A002
    """A fact on one line: since when (until when), what, whether it still holds, belief, id.

    Args:
        triple: name subject, predicate and object beside the sentence.
    """
    closed = fact.valid_until is not None
    until = f" → {moment(fact.valid_until)}" if closed else ""
    line = Text()
    line.append(f"{moment(fact.valid_from)}{until}  ", style="dim" if closed else "green")
    line.append(cut(fact.text), style="dim" if closed else "")
    if triple:
        relation = f"  {one_line(fact.subject)} -{fact.predicate}-> {one_line(fact.object)}"
        line.append(relation, style="cyan")
    if marks := state(fact):
        line.append(f"  [{marks}]", style="red" if closed else "yellow")
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
    groups = (
        ("+ ", "green", result.facts),
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
    for hit in result.facts:
        indent = "    ↳ " if hit.why == "history" else ""
        yield Text(indent) + fact_line(hit.fact)
    if result.facts and result.turns:
        yield ""
    for turn in result.turns:
        yield message_line(turn.message)
    if not result.facts and not result.turns:
        yield Text("nothing found", style="dim")


def timeline(result: Timeline) -> Iterator[Text | str]:
    """A subject's facts by relation, oldest first, with what superseded what."""
    for predicate in dict.fromkeys(fact.predicate for fact in result.facts):
        yield Text(predicate, style="bold")
        for line in chain(result, predicate):
            yield Text("  ") + line
    if not result.facts:
        yield Text("no facts", style="dim")


def chain(result: Timeline, predicate: str | None = None) -> Iterator[Text]:
    """The facts of a timeline (of one relation), each with what superseded it."""
    by_id = {fact.id: fact for fact in result.facts}
    newer = {link.target: by_id[link.source] for link in result.links if link.source in by_id}
    for fact in result.facts:
        if predicate in (None, fact.predicate):
            line = fact_line(fact)
            if after := newer.get(fact.id):
                line.append(f"  superseded by: {one_line(after.object)}", style="dim")
            yield line


def explanation(result: Explanation) -> Iterator[Text | str]:
    """Everything behind a fact."""
    yield fact_line(result.fact, triple=True)
    yield from _section("Said in", (message_line(each) for each in result.messages))
    yield from _section("Decisions", (decision_line(each) for each in result.decisions))
    yield from _section("Supersedes", (fact_line(each) for each in result.older))
    yield from _section("Superseded by", (fact_line(each) for each in result.newer))
    links = (f"{each.type} {each.source} → {each.target}" for each in result.links)
    yield from _section("Links", links)
    yield from _section("Requests", (_request_line(each) for each in result.requests))


def decision_line(each: Decision) -> str:
    """A decision on one line."""
    parts = [f"{each.decided_at:%Y-%m-%d %H:%M:%S}Z", one_line(each.question), each.outcome]
    if each.chosen:
        parts.append(f"{one_line(each.chosen)} p={each.p:.2f}")
    for name, before, after in (
        ("belief", each.belief_before, each.belief_after),
        ("candidate's belief", each.candidate_belief_before, each.candidate_belief_after),
    ):
        if after is not None:
            parts.append(f"{name} {'' if before is None else f'{before:.2f} '}→ {after:.2f}")
    if each.valid_until_before != each.valid_until_after:
        ends = [moment(end) or "open" for end in (each.valid_until_before, each.valid_until_after)]
        parts.append(f"end {ends[0]} → {ends[1]}")
    if each.reason:
        parts.append(f"({one_line(each.reason)})")
    return "  ".join([*parts, f"by {each.backend}"])


def _request_line(request: dict[str, Any]) -> str:
    answers = request.get("answers") or ()
    parts = [str(request.get(name)) for name in ("backend", "model") if request.get(name)]
    return one_line(f"{' '.join(parts)}  {len(answers)} answers  {request.get('id', '')}")


def _section(title: str, lines: Iterable[Text | str]) -> Iterator[Text | str]:
    found: Sequence[Text | str] = list(lines)
    if found:
        yield ""
        yield Text(title, style="bold")
        for line in found:
            yield Text("  ") + line

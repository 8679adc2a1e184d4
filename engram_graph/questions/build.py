"""From an ``Ask`` to what is sent: one state, and every question in words with a neutral id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from engram_graph.models.decisions import Ask, Question, Turn
from engram_graph.models.entities import Profile
from engram_graph.models.facts import Fact, Message
from engram_graph.questions.wording import TURN_RELEVANT, WORDINGS, Part, Wording
from engram_graph.rules import questions as about
from engram_graph.rules.text import encodable, turn_text

MAX_MESSAGE_CHARS = 6_000
"""Of a longer message the part round the fact's quote is sent, else its beginning."""
MAX_FACT_CHARS = 2_000
MAX_BEFORE_CHARS = 400
"""Of the turn before one that is asked about: its end, where questions stand."""
PAIR_FACTS = 5
"""Of each of two entities that are compared."""
State = dict[str, str | dict[str, str]]


@dataclass(frozen=True, slots=True)
class Worded:
    """One question as it is sent.

    Attributes:
        id: ``q1``, ``q2``, …: it tells a model nothing. Numbered over the whole ``Ask``.
        criteria: option → description, in the question's fixed order; of a noul true and false.
        known: where the state holds what is asked about or compared with (``known_1``); empty
            without such.
        reads: the other parts of the state it points at.
        new: where the state holds a known fact in the new one's place; empty for the new one.
    """

    id: str
    question: Question
    instructions: str
    criteria: dict[str, str]
    known: str
    reads: tuple[Part, ...]
    new: str = ""


def worded(ask: Ask) -> tuple[Worded, ...]:
    """The questions of ``ask`` that have a wording, in their order.

    Left out are those without one: an unknown name, an unknown option, another version, a question
    on a pair without its candidate, or one on two known facts that has words for a new one only.
    """
    known: dict[str, str] = {}
    found = []

    def place(compared: str) -> str:
        return known.setdefault(compared, f"known_{len(known) + 1}")

    def path(fact: Fact | None) -> str:
        return place(fact.id) if fact is not None else ""

    for number, question in enumerate(ask.questions, 1):
        new = path(question.about)
        alone = question.pair or question.turn
        old = place(question.id) if alone else path(question.candidate)
        if (item := _worded(f"q{number}", question, old, new)) is not None:
            found.append(item)
    return tuple(found)


def _worded(wire_id: str, question: Question, known: str, new: str) -> Worded | None:
    wording = _wording(question)
    if wording is None or wording.version != question.version:
        return None
    options = ("true", "false") if question.type == "noul" else question.options
    if not set(options) <= set(wording.criteria) or not options:
        return None
    if not known and "{known}" in wording.instructions:
        return None
    if new and "{new}" not in wording.instructions:
        return None
    instructions, texts = wording.filled(known, new or "new_fact")
    criteria = {option: texts[option] for option in options}
    reads = tuple(part for part in wording.reads if not (new and part == "new_fact"))
    return Worded(wire_id, question, instructions, criteria, known, reads, new)


def _wording(question: Question) -> Wording | None:
    if question.turn is not None:
        return TURN_RELEVANT if question.name == about.RELEVANT else None
    return WORDINGS.get(question.name)


def state(ask: Ask, items: Sequence[Worded]) -> State:
    """What ``items`` point at, and nothing else; every value is text."""
    parts = {part for item in items for part in item.reads}
    made: State = {}
    if "query" in parts:
        made["query"] = shown_query(ask.message)
    if "new_fact" in parts:
        made["new_fact"] = {
            "text": _short(ask.draft.text),
            "subject": _short(ask.draft.subject),
            "object": _short(ask.draft.object),
            "valid_from": _day(ask.valid_from),
        }
    if "message" in parts:
        made["message"] = {
            "speaker": _short(ask.speaker),
            "role": encodable(str(ask.role)),
            "text": encodable(_round(ask.message, ask.draft.quote)),
        }
    for item in items:
        for path, fact in ((item.new, item.question.about), (item.known, item.question.candidate)):
            if fact is not None and path not in made:
                made[path] = shown_fact(fact)
        if item.question.pair is not None:
            made[item.known] = _pair(*item.question.pair)
        if item.question.turn is not None:
            made[item.known] = shown_turn(item.question.turn)
    return made


def halves(items: Sequence[Worded]) -> tuple[list[Worded], list[Worded]]:
    """Two parts of a request that is too large; questions on one candidate stay together.

    With a single candidate, or none, the questions themselves are parted.
    """
    groups: dict[str, list[Worded]] = {}
    for item in items:
        groups.setdefault(item.known, []).append(item)
    units = list(groups.values()) if len(groups) > 1 else [[item] for item in items]
    middle = (len(units) + 1) // 2
    first, second = units[:middle], units[middle:]
    return [item for unit in first for item in unit], [item for unit in second for item in unit]


def shown_query(query: str) -> str:
    """A search's question as a model reads it."""
    return encodable(query[:MAX_MESSAGE_CHARS])


def shown_fact(fact: Fact) -> dict[str, str]:
    """A known fact as a model reads it."""
    shown = {
        "text": _short(fact.text),
        "subject": _short(fact.subject),
        "object": _short(fact.object),
        "valid_from": _day(fact.valid_from),
    }
    if fact.valid_until is not None:
        shown["valid_until"] = _day(fact.valid_until)
    return shown


def shown_turn(turn: Turn) -> dict[str, str]:
    """A message that is asked about, as a model reads it."""
    shown = {"text": _said(turn.message), "said_on": _day(turn.message.said_at)}
    if turn.before is not None:
        speaker, text = turn.before.speaker, turn.before.text
        shown["before"] = encodable(turn_text(speaker, text[-MAX_BEFORE_CHARS:]))
    return shown


def _said(message: Message) -> str:
    return _short(turn_text(message.speaker, message.text))


def _pair(first: Profile, second: Profile) -> dict[str, str]:
    """Two entities: their names, and some of what is known of each."""
    shown = {}
    for name, profile in (("first", first), ("second", second)):
        names = (profile.entity.name, *profile.entity.aliases)
        shown[name] = _short(", also called ".join(names))
        texts = [fact.text for fact in profile.facts[:PAIR_FACTS]]
        shown[f"known_of_{name}"] = _short("; ".join(texts))
    return shown


def _round(message: str, quote: str | None) -> str:
    """At most ``MAX_MESSAGE_CHARS`` of ``message``, with ``quote`` in the middle if it has it."""
    if len(message) <= MAX_MESSAGE_CHARS:
        return message
    at = message.find(quote) if quote else -1
    spare = max(MAX_MESSAGE_CHARS - len(quote or ""), 0)
    start = min(max(at - spare // 2, 0), len(message) - MAX_MESSAGE_CHARS)
    return message[start : start + MAX_MESSAGE_CHARS]


def _short(text: str) -> str:
    return encodable(text[:MAX_FACT_CHARS])


def _day(moment: datetime) -> str:
    return moment.date().isoformat()

"""What the scripted models say, worked out from the words they are given and from nothing else.

No model: word overlap, the rules decider and a hash. The same request always gets the same reply,
so that runs can be compared and replayed. Numbers made with it say nothing about quality.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from engram_graph import clock
from engram_graph.adapters import patterns
from engram_graph.adapters.patterns_text import sentences
from engram_graph.adapters.rules_decider import RulesDecider
from engram_graph.models.decisions import Ask, Question
from engram_graph.models.facts import Draft, Fact, Message
from engram_graph.questions import answering, judging, wording
from engram_graph.rules import questions as about
from engram_graph.rules.names import entity_key
from engram_graph.rules.text import weighed_words
from engram_graph.vocabulary import FALLBACK, PREDICATES, Role

_RULES = RulesDecider()
_SAID = re.compile(r"\bI(?:'ve|'m|'d| have| am| had| was)? +(?P<rest>[a-z][^.!?\n]{6,200})")
_FEW = 0.34  # share of a question's words below which a line is no answer
_RIGHT = 0.5  # share of the right answer's words that must be given
_OBJECT = 60  # characters of a simple draft's object


def share(wanted: str, text: str) -> float:
    """How much of the content words of ``wanted`` is in ``text``: 0 to 1; 0 when it has none."""
    words, there = weighed_words(wanted), weighed_words(text)
    whole = sum(words.values())
    return sum(weight for word, weight in words.items() if word in there) / whole if whole else 0.0


def extraction(document: str) -> str:
    """The facts of a message: those of the pattern extractor, and one a first-person sentence."""
    asked = json.loads(document)
    message, *recent = (_message(turn) for turn in (asked["message"], *asked["earlier"]))
    found = patterns.drafts(message, recent)
    quotes = [draft.quote or "" for draft in found]
    for sentence, plain in sentences(message.text) if message.role is Role.USER else ():
        said = _SAID.search(sentence)
        if plain and said and not any(quote and quote in sentence for quote in quotes):
            found.append(
                Draft(
                    subject="I",
                    predicate=FALLBACK,
                    object=said["rest"][:_OBJECT].strip(),
                    text=f"{message.speaker} told: {said[0]}",
                    quote=said[0],
                )
            )
    return json.dumps({"facts": [_fact(draft) for draft in found]}, ensure_ascii=False)


def ranking(query: str, items: Sequence[Mapping[str, Any]]) -> str:
    """The numbers of the items that share a word with the query, most first."""
    shares = {item["number"]: share(query, item["text"]) for item in items}
    order = sorted((n for n in shares if shares[n] > 0), key=lambda n: (-shares[n], n))
    return json.dumps({"ranking": order})


def answer(user: str) -> str:
    """The line that has most of the question's words; not known if none has enough of them."""
    block, _, asked = user.partition("memory:\n")[2].partition("\nquestion: ")
    question = json.loads(asked.rpartition("\n")[0])
    best = max(json.loads(block), key=lambda line: share(question, line), default="")
    said = best if share(question, best) >= _FEW else answering.UNKNOWN
    return json.dumps({"answer": said}, ensure_ascii=False)


def verdict(system: str, user: str) -> str:
    """Right if enough of the right answer's words are given; of an abstention, if it is one."""
    asked = json.loads(user.split("\n")[1])
    if system.startswith(judging.ABSTENTION):
        right = asked["given"] == answering.UNKNOWN
    else:
        right = share(asked["expected"], asked["given"]) >= _RIGHT
    return json.dumps({"why": "by shared words", "label": judging.LABELS[not right]})


def decided(state: Mapping[str, Any], instructions: str, options: Sequence[str]) -> dict[str, int]:
    """Hundredths for each option of a question; of a yes-or-no question ``true`` and ``false``.

    As the rules decider answers it, made less certain by a hash of what is asked; whether
    something helps to answer is told by shared words.

    Args:
        state: what the instructions point at. options: empty for a yes-or-no question.
    """
    name, places = _named(instructions)
    options = options or ("true", "false")
    if name == about.RELEVANT:
        known = state[places["known"]]
        p = round(100 * share(state["query"], f"{known['text']} {known.get('object', '')}"))
        return {"true": p, "false": 100 - p}
    label = _by_rules(name, state, places)
    if label not in options:
        label = options[-1]
    told = [state.get(place) for place in ("new_fact", *places.values())]
    top = 82 + _hash(name, json.dumps(told, sort_keys=True)) % 18
    return _spread(label, options, top)


def _by_rules(name: str, state: Mapping[str, Any], places: Mapping[str, str]) -> str:
    """The rules decider's answer to a question of that name; empty if it has none."""
    known = state.get(places.get("known", ""))
    fresh = _stored("new", state.get(places.get("new", "new_fact")) or {"text": ""})
    old = _stored("old", known) if known and "subject" in known else None
    if name == about.SAME_ENTITY or (old is None and places):
        return "false"
    kind = "noul" if name in (*_NOULS, about.SAME_ENTITY) else "choice"
    question = about.question(name, old)
    if name == about.SAME_FACT:
        question = Question(name, "noul", candidate=old, about=fresh)
    message = state.get("message", {})
    ask = Ask(
        draft=fresh.as_draft(),
        valid_from=fresh.valid_from,
        speaker=message.get("speaker", ""),
        role=message.get("role", Role.USER.value),
        message=message.get("text", state.get("query", "")),
        questions=(question,),
    )
    reply = asyncio.run(_RULES.ask(ask)).answers[question.id]
    if kind == "noul":
        return "true" if reply.p("yes") > 0.5 else "false"
    return reply.chosen


_NOULS = (
    about.WORTH, about.SAME_ATTRIBUTE, about.PLAN_FULFILLED, about.RELEVANT, about.SAME_FACT,
    about.WORTH_SENTENCE,
)  # fmt: skip


def _spread(label: str, options: Sequence[str], top: int) -> dict[str, int]:
    """``top`` hundredths for the label, the others' shares as even as hundredths can be."""
    others = [option for option in options if option != label]
    each, more = divmod(100 - top, len(others))
    found = {option: each + (place < more) for place, option in enumerate(others)}
    return {option: top if option == label else found[option] for option in options}


def _named(instructions: str) -> tuple[str, dict[str, str]]:
    """Which question the words are, and the places of the state they name."""
    for name, pattern in _PATTERNS:
        if found := pattern.fullmatch(instructions):
            return name, {key: place for key, place in found.groupdict().items() if place}
    raise ValueError("not a question of this package")


def _pattern(instructions: str) -> re.Pattern[str]:
    parts = re.split(r"(\{known\}|\{new\})", instructions)
    seen: set[str] = set()
    made = ""
    for part in parts:
        if part not in ("{known}", "{new}"):
            made += re.escape(part)
        elif part in seen:
            made += f"`(?P={part[1:-1]})`"
        else:
            seen.add(part)
            made += f"`(?P<{part[1:-1]}>\\w+)`"
    return re.compile(made)


_PATTERNS = [
    *((name, _pattern(one.instructions)) for name, one in wording.WORDINGS.items()),
    (about.RELEVANT, _pattern(wording.TURN_RELEVANT.instructions)),
]


def _stored(item_id: str, shown: Mapping[str, str]) -> Fact:
    """A fact as a question shows it; its relation is read from its words."""
    subject, target, text = shown.get("subject", ""), shown.get("object", ""), shown["text"]
    day = clock.instant(shown.get("valid_from", "1970-01-01"))
    draft = _reading(subject, target, text)
    return Fact(
        id=item_id,
        namespace="scripted",
        subject=subject or "nobody",
        subject_key=entity_key(subject or "nobody"),
        predicate=draft.predicate,
        object=target or "nothing",
        object_key=entity_key(target or "nothing"),
        text=text,
        negated=draft.negated,
        temporal_status=draft.temporal_status,
        valid_from=day,
        recorded_at=day,
    )


def _reading(subject: str, target: str, text: str) -> Draft:
    """What the pattern extractor makes of a fact's own text; else a relation named in it."""
    for draft in patterns.drafts(_message({"speaker": "user", "text": text})):
        if entity_key(draft.object) == entity_key(target):
            return draft
    between = f" {text.lower()} "
    spoken = (name for name in PREDICATES if f" {name.replace('_', ' ')} " in between)
    return Draft(subject=subject, predicate=next(spoken, FALLBACK), object=target, text=text)


def _message(turn: Mapping[str, str]) -> Message:
    day = turn.get("date", "").rpartition(" ")[2] or "1970-01-01"
    said = datetime.fromisoformat(day).replace(tzinfo=UTC)
    return Message(
        id="scripted",
        namespace="scripted",
        conversation="scripted",
        speaker=turn["speaker"],
        role=Role(turn.get("role", "user")),
        text=turn["text"],
        said_at=said,
        recorded_at=said,
        source_id="scripted",
    )


def _fact(draft: Draft) -> dict[str, Any]:
    fact = draft.model_dump(mode="json")
    names = (
        *("text", "subject", "predicate", "object", "when", "quote", "negated"),
        *("temporal_status", "kind", "durability", "sensitivity"),
    )
    return {name: fact.get(name) for name in names}


def _hash(*parts: str) -> int:
    return int.from_bytes(sha256("\x00".join(parts).encode()).digest()[:8], "big")

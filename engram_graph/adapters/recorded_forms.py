"""Calls as a recording holds them: neither the ids nor the exact moments of one run.

A request names everything a decider or extractor reads. Dates are days, as models are told them,
and for each known fact whether the new one begins earlier. Answers stand under ``q1``, ``q2``, …:
two runs know the same facts by other ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from engram_graph.adapters.recording import Json, Recorded, canonical
from engram_graph.models.decisions import Answer, Ask, Question, Reply, Turn
from engram_graph.models.entities import Profile
from engram_graph.models.facts import Draft, Fact, Message
from engram_graph.models.ranking import Ranking
from engram_graph.questions import decision_prompt, extraction, listwise
from engram_graph.rules.ranking import id_of

_DRAFT = (
    *("text", "subject", "predicate", "object", "quote", "negated", "temporal_status"),
    *("kind", "durability", "sensitivity"),
)
_FACT = (
    *("text", "subject", "subject_key", "predicate", "object", "object_key", "negated"),
    "temporal_status",
)


def ask_form(ask: Ask) -> Json:
    """What ``ask`` asks."""
    known = _known(ask)
    return {
        "prompt": decision_prompt.VERSION,
        "draft": {name: _plain(getattr(ask.draft, name)) for name in _DRAFT}
        | {"valid_from": _day(ask.valid_from)},
        "speaker": ask.speaker,
        "role": str(ask.role),
        "message": ask.message,
        "known": [_fact(fact, ask) for fact in known.values()],
        "questions": [_question(question, list(known)) for question in ask.questions],
    }


def reply_form(reply: Reply, ask: Ask) -> Json:
    """What ``reply`` answers, in full but for its latency and cost, which are kept beside it."""
    error = reply.error
    for place, item_id in enumerate(_ids(ask), 1):
        error = error and error.replace(item_id, _place(place))
    return {
        "answers": {
            f"q{number}": {
                "probabilities": answer.probabilities,
                "backend": answer.backend,
                "fallback": answer.fallback,
            }
            for number, question in enumerate(ask.questions, 1)
            if (answer := reply.answers.get(question.id)) is not None
        },
        "backend": reply.backend,
        "model": reply.model,
        "request_id": reply.request_id,
        "error": error,
        "broke_off": reply.broke_off,
    }


def reply_of(recorded: Recorded, ask: Ask) -> Reply:
    """The reply again, under the ids of ``ask``."""
    form = recorded.answer
    error = form["error"]
    for place, item_id in enumerate(_ids(ask), 1):
        error = error and error.replace(_place(place), item_id)
    answers = {
        question.id: Answer(question.id, **form["answers"][f"q{number}"])
        for number, question in enumerate(ask.questions, 1)
        if f"q{number}" in form["answers"]
    }
    return Reply(
        answers=answers,
        backend=form["backend"],
        model=form["model"],
        latency_ms=recorded.latency_ms,
        cost_usd=recorded.cost_usd,
        request_id=form["request_id"],
        error=error,
        broke_off=form["broke_off"],
    )


def message_form(message: Message, recent: Sequence[Message]) -> Json:
    """What an extractor is given to read."""
    return {
        "prompt": extraction.VERSION,
        "message": _turn(message),
        "earlier": [_turn(turn) for turn in recent],
    }


def drafts_form(drafts: Sequence[Draft]) -> Json:
    """What an extractor found."""
    return [draft.model_dump(mode="json", exclude_defaults=True) for draft in drafts]


def drafts_of(form: Json) -> list[Draft]:
    """The drafts again."""
    return [Draft.model_validate(item) for item in form]


def listwise_form(query: str, items: Sequence[Fact | Turn]) -> Json:
    """What a language model is given to rank."""
    return {"prompt": listwise.VERSION, **listwise.document(query, items)}


def ranking_form(ranking: Ranking, items: Sequence[Fact | Turn]) -> Json:
    """The numbers of a ranking, in the order of ``items``."""
    return {
        "scale": ranking.scale,
        "numbers": [ranking.numbers.get(id_of(item)) for item in items],
        "problems": list(ranking.problems),
    }


def ranking_of(recorded: Recorded, items: Sequence[Fact | Turn]) -> Ranking:
    """The ranking again, under the ids of ``items``."""
    form = recorded.answer
    numbers = zip(items, form["numbers"], strict=True)
    return Ranking(
        scale=form["scale"],
        numbers={id_of(item): float(number) for item, number in numbers if number is not None},
        asked=len(items),
        problems=tuple(form["problems"]),
        cost_usd=recorded.cost_usd,
        latency_ms=recorded.latency_ms,
    )


def _known(ask: Ask) -> dict[str, Fact]:
    """The facts asked about, by id, in the order they first come up."""
    known: dict[str, Fact] = {}
    for question in ask.questions:
        for fact in (question.about, question.candidate):
            if fact is not None:
                known.setdefault(fact.id, fact)
    return known


def _ids(ask: Ask) -> list[str]:
    """Ids that an error may name: of the facts asked about, then of the messages."""
    return [*_known(ask), *(q.turn.message.id for q in ask.questions if q.turn)]


def _question(question: Question, known: Sequence[str]) -> Json:
    form = {
        "name": question.name,
        "version": question.version,
        "type": question.type,
        "options": list(question.options),
        "known": known.index(question.candidate.id) + 1 if question.candidate else None,
        "told_by": sorted(canonical(list(question.told_by))),
    }
    if question.about:
        form["about"] = known.index(question.about.id) + 1
    if question.pair:
        form["pair"] = [_profile(profile) for profile in question.pair]
    if question.turn:
        form["turn"] = _asked_turn(question.turn)
    return form


def _asked_turn(turn: Turn) -> Json:
    return [_turn(turn.message), _turn(turn.before) if turn.before else None]


def _profile(profile: Profile) -> Json:
    """One of two entities, with all the facts that the rules look at."""
    names = [profile.entity.name, *profile.entity.aliases]
    facts = [{n: _plain(getattr(fact, n)) for n in (*_FACT, "open")} for fact in profile.facts]
    return {"names": names, "facts": facts}


def _fact(fact: Fact, ask: Ask) -> Json:
    return {name: _plain(getattr(fact, name)) for name in _FACT} | {
        "valid_from": _day(fact.valid_from),
        "valid_until": _day(fact.valid_until) if fact.valid_until else None,
        "begins_after": fact.valid_from > ask.valid_from,
    }


def _turn(message: Message) -> Json:
    return {
        "speaker": message.speaker,
        "role": str(message.role),
        "date": _day(message.said_at),
        "text": message.text,
    }


def _plain(value: Any) -> Json:
    return str(value) if isinstance(value, str) else value


def _place(number: int) -> str:
    return f"{{known_{number}}}"


def _day(moment: datetime) -> str:
    return moment.date().isoformat()

"""Entities: other names, merging by hand or by decision, and which may be the same."""

from __future__ import annotations

from collections.abc import Sequence

from engram_graph import clock
from engram_graph.errors import InputError, NotFoundError
from engram_graph.flows.asking import answered
from engram_graph.flows.runtime import Runtime
from engram_graph.graph import entities as store
from engram_graph.graph import merge as graph_merge
from engram_graph.models.decisions import Answer, Ask, Question
from engram_graph.models.entities import Merged, MergeSuggestion, Profile, Unmerged
from engram_graph.models.facts import Draft, Entity
from engram_graph.rules.answers import request_log, usable, yes
from engram_graph.rules.entities import Pair, candidate_pairs, kept_first
from engram_graph.rules.names import USER, entity_key, is_first_person
from engram_graph.rules.questions import same_entity
from engram_graph.rules.secrets import find
from engram_graph.rules.validate import clean_name
from engram_graph.vocabulary import FALLBACK, Role

_ENTITIES = 10_000  # looked at for suggestions
_PAIRS = 50  # asked about
_FACTS = 50  # of each entity that the rules look at
_TOGETHER = 10  # pairs in one request


async def add_alias(runtime: Runtime, namespace: str, name: str, alias: str) -> Entity:
    """Give an entity another name.

    Raises:
        NotFoundError: no such entity. InputError: the name is taken, or can be none.
    """
    clean_name(name, "entity")
    clean_name(alias, "alias")
    if is_first_person(alias) and entity_key(alias) != USER:
        raise InputError(
            f"{alias!r} means whoever speaks and can be nobody's name",
            hint="Say who speaks (speaker=), or give the alias 'user'.",
            field="alias",
        )
    if find(alias):
        raise InputError("the alias holds a credential", field="alias")
    return await store.add_alias(runtime.graph, namespace, name, alias, clock.now())


async def merge(
    runtime: Runtime, namespace: str, keep: str, other: str, reason: str = ""
) -> Merged:
    """Make two entities one, by the caller's word."""
    clean_name(keep, "keep")
    clean_name(other, "other")
    ground = graph_merge.Ground(reason=safe(reason))
    return await graph_merge.merge(runtime.graph, namespace, keep, other, ground, clock.now())


async def unmerge(runtime: Runtime, namespace: str, what: str, reason: str = "") -> Unmerged:
    """Take a merge back."""
    return await graph_merge.unmerge(runtime.graph, namespace, what, safe(reason), clock.now())


def safe(reason: str) -> str:
    """``reason`` if it may be kept in the log.

    Raises:
        InputError: it holds a credential.
    """
    if find(reason):
        raise InputError("the reason holds a credential", field="reason")
    return reason.strip()


async def suggest(runtime: Runtime, namespace: str, *, apply: bool) -> list[MergeSuggestion]:
    """Entities that may be the same, the likeliest first.

    What a person has taken apart is not suggested again.

    Args:
        apply: merge those that the decider is sure of (.85 or more).
    """
    known = await store.entities(runtime.graph, namespace, limit=_ENTITIES)
    pairs = candidate_pairs(known, _PAIRS)
    named = {each.key: each for pair in pairs for each in (pair.first, pair.second)}
    profiles = await store.profiles(runtime.graph, namespace, list(named.values()), _FACTS)
    asked = [
        (pair, same_entity(profiles[pair.first.key], profiles[pair.second.key]))
        for pair in pairs
        if pair.first.key in profiles
        and pair.second.key in profiles
        and not _apart(profiles[pair.first.key], profiles[pair.second.key])
    ]
    found: list[MergeSuggestion] = []
    for begin in range(0, len(asked), _TOGETHER):
        found += await _answered(runtime, namespace, asked[begin : begin + _TOGETHER], apply)
    return sorted(found, key=lambda each: -(each.p or 0.0))


def _apart(first: Profile, second: Profile) -> bool:
    return first.entity.id in second.apart or second.entity.id in first.apart


async def _answered(
    runtime: Runtime, namespace: str, asked: Sequence[tuple[Pair, Question]], apply: bool
) -> list[MergeSuggestion]:
    """What the decider says of some pairs in one request, and what was done about it."""
    questions = tuple(question for _, question in asked)
    now = clock.now()
    first = asked[0][0]
    ask = Ask(
        draft=Draft(
            subject=first.first.name, predicate=FALLBACK, object=first.second.name, text=""
        ),
        valid_from=max(
            (f.valid_from for p in questions[0].pair or () for f in p.facts), default=now
        ),
        speaker=USER,
        role=Role.USER,
        message="",
        questions=questions,
    )
    reply = await answered(runtime.decider, ask)
    request = request_log(reply, questions, clock.new_id(), now)
    await store.record_request(runtime.graph, namespace, request)
    found = []
    for pair, question in asked:
        answer = reply.answers.get(question.id)
        keep, other = kept_first(pair.first, pair.second)
        suggestion = MergeSuggestion(
            keep=keep,
            other=other,
            why=tuple(like.value for like in pair.why),
            p=yes(answer) if usable(answer) else None,
            backend=answer.backend if answer else reply.backend,
        )
        sure = suggestion.p is not None and suggestion.p >= runtime.method.thresholds.act
        if apply and sure and answer is not None:
            suggestion = await _merged(runtime, namespace, suggestion, answer, request.id)
        found.append(suggestion)
    return found


async def _merged(
    runtime: Runtime, namespace: str, suggestion: MergeSuggestion, answer: Answer, request: str
) -> MergeSuggestion:
    """A suggestion carried out; as it was when one of the two went with an earlier merge."""
    ground = graph_merge.Ground(
        reason=", ".join(suggestion.why),
        p=answer.p("yes"),
        backend=answer.backend,
        request=request,
    )
    try:
        merged = await graph_merge.merge(
            runtime.graph,
            namespace,
            suggestion.keep.name,
            suggestion.other.name,
            ground,
            clock.now(),
        )
    except (InputError, NotFoundError):
        return suggestion
    return suggestion.model_copy(update={"merged": merged})

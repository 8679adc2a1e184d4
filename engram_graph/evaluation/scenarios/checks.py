"""What each check of a scenario looks at. A check gives what is not as expected, in words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from engram_graph.clock import instant
from engram_graph.errors import EngramError
from engram_graph.evaluation.scenarios import absence, equality
from engram_graph.evaluation.scenarios import check_form as form
from engram_graph.evaluation.scenarios.world import World, person, reference
from engram_graph.graph.inspect import Stored
from engram_graph.models.facts import Fact
from engram_graph.rules.names import entity_key
from engram_graph.rules.questions import SAME_FACT

_STATES = ("facts", "open", "closed", "entities", "messages", "unfinished")


async def look(world: World, checks: Sequence[form.Check]) -> None:
    """Evaluate ``checks`` now; what is wrong is added to the world's problems."""
    at = f"at step {world.at}: " if world.at else ""
    for one in checks:
        try:
            wrong = await _check(world, one)
        except EngramError as error:
            wrong = [f"{type(error).__name__}: {error.message}"]
        name = one.check if one.ns == "main" else f"{one.check} in {one.ns!r}"
        world.problems += [f"{at}{name}: {each}" for each in wrong]


async def invariants(world: World) -> list[str]:
    """What ``doctor`` finds in the scenario's namespaces."""
    return [
        f"{finding.invariant}: {finding.message}"
        for name in world.namespaces()
        for finding in (await world.client.doctor(namespace=name)).findings
    ]


async def _check(world: World, one: form.Check) -> list[str]:
    match one:
        case form.OpenFacts():
            facts = await world.facts(one.ns)
            return _sets(_those(facts, lambda f: f.valid_until is None), _refs(one.facts))
        case form.ClosedFacts():
            return _closed(await world.facts(one.ns), one)
        case form.Links():
            return await _links(world, one)
        case form.Marked():
            facts = await world.facts(one.ns)
            return _sets(_those(facts, lambda f: bool(getattr(f, one.check))), _refs(one.facts))
        case form.Belief():
            return _beliefs(await world.facts(one.ns), one)
        case form.ValidFrom():
            return _valid_from(await world.facts(one.ns), one)
        case form.Counts():
            return await _counts(world, one)
        case form.Sources():
            return await _sources(world, one)
        case form.MessageIs():
            return await _message(world, one)
        case form.SearchFinds():
            return await _search(world, one)
        case form.AsOf():
            return await _as_of(world, one)
        case form.History():
            return await _history(world, one)
        case form.Decisions():
            return await _decisions(world, one)
        case form.Raises():
            return _raised(world, one)
        case form.Absent():
            return await absence.places(world, one.texts)
        case form.Equal():
            a, b = [await world.everything([world.ns(name)]) for name in (one.a, one.b)]
            return equality.differences(a, b)
        case form.Invariants():
            return await invariants(world)


# --- sets of facts ---


def _refs(names: Iterable[str]) -> set[str]:
    return {reference(name) for name in names}


def _those(facts: dict[str, Fact], wanted: Any) -> set[str]:
    return {name for name, fact in facts.items() if wanted(fact)}


def _sets(found: set[str], wanted: set[str]) -> list[str]:
    missing, more = sorted(wanted - found), sorted(found - wanted)
    return ([f"missing {', '.join(missing)}"] if missing else []) + (
        [f"not expected {', '.join(more)}"] if more else []
    )


def _same(what: str, found: object, wanted: object) -> list[str]:
    return [] if found == wanted else [f"{what} is {_said(found)}, expected {_said(wanted)}"]


def _said(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    text = value if isinstance(value, str) else repr(value)
    text = repr(text) if isinstance(value, str) else text
    return text if len(text) <= 300 else f"{text[:300]}… ({len(text)} characters)"


def _unknown(name: str, facts: dict[str, Fact]) -> list[str]:
    return [f"no fact {reference(name)} among {', '.join(facts) or 'none'}"]


def _closed(facts: dict[str, Fact], one: form.ClosedFacts) -> list[str]:
    ended = {name: fact for name, fact in facts.items() if fact.valid_until is not None}
    wrong = _sets(set(ended), _refs(each.fact for each in one.facts))
    for each in one.facts:
        fact = ended.get(reference(each.fact))
        if fact is None:
            continue
        if each.reason is not None:
            wrong += _same(f"the reason of {each.fact}", fact.closed_reason, each.reason)
        if each.until is not None:
            wrong += _same(f"the end of {each.fact}", fact.valid_until, instant(each.until))
    return wrong


async def _links(world: World, one: form.Links) -> list[str]:
    names = {fact.id: name for name, fact in (await world.facts(one.ns)).items()}
    records = await world.everything([world.ns(one.ns)])
    ids = {record.place: record.properties.get("id", "") for record in records}
    found = [
        (names.get(ids[record.place], "?"), names.get(ids.get(each.to, ""), "?"))
        for record in records
        for each in record.leaving
        if each.type == one.check.upper()
    ]
    wanted = [(reference(new), reference(old)) for new, old in one.pairs]
    if one.check == "same_as":  # either direction is the same link
        found, wanted = [_sorted(pair) for pair in found], [_sorted(pair) for pair in wanted]
    arrow = " = " if one.check == "same_as" else " > "
    return _sets({arrow.join(pair) for pair in found}, {arrow.join(pair) for pair in wanted})


def _sorted(pair: tuple[str, str]) -> tuple[str, str]:
    return (min(pair), max(pair))


# --- single values ---


def _beliefs(facts: dict[str, Fact], one: form.Belief) -> list[str]:
    wrong = []
    for name, wanted in one.values.items():
        fact = facts.get(reference(name))
        if fact is None:
            wrong += _unknown(name, facts)
        else:
            wrong += _same(name, round(fact.belief, 4), round(wanted, 4))
    return wrong


def _valid_from(facts: dict[str, Fact], one: form.ValidFrom) -> list[str]:
    fact = facts.get(reference(one.fact))
    if fact is None:
        return _unknown(one.fact, facts)
    found = fact.valid_from
    wrong = [] if one.exactly is None else _same(one.fact, found, instant(one.exactly))
    if one.min is not None and found < instant(one.min):
        wrong.append(f"{one.fact} is valid from {found.isoformat()}, before {one.min}")
    if one.max is not None and found > instant(one.max):
        wrong.append(f"{one.fact} is valid from {found.isoformat()}, after {one.max}")
    return wrong


async def _counts(world: World, one: form.Counts) -> list[str]:
    stats = await world.client.stats(namespace=world.ns(one.ns))
    found = stats.model_dump() | {"closed": stats.facts - stats.open}
    wrong = []
    for name in _STATES:
        wanted = getattr(one, name)
        wrong += [] if wanted is None else _same(name, found[name], wanted)
    return wrong


async def _sources(world: World, one: form.Sources) -> list[str]:
    facts = await world.facts(one.ns)
    fact = facts.get(reference(one.fact))
    if fact is None:
        return _unknown(one.fact, facts)
    behind = await world.client.explain(fact, namespace=world.ns(one.ns))
    wrong = []
    if one.speakers is not None:
        wrong += _sets({message.speaker for message in behind.messages}, set(one.speakers))
    if one.messages is not None:
        wrong += _same("the number of messages", len(behind.messages), one.messages)
    return wrong


async def _message(world: World, one: form.MessageIs) -> list[str]:
    found = [
        record.properties
        for record in await world.everything([world.ns(one.ns)])
        if record.label == "Message" and record.properties["source_id"] == one.source_id
    ]
    if len(found) != 1:
        return [f"{len(found)} messages with the source_id {one.source_id!r}"]
    text, metadata = found[0]["text"], json.loads(found[0].get("metadata") or "{}")
    wrong = [] if one.text is None else _same("text", text, one.text)
    if one.length is not None:
        wrong += _same("length", len(text), one.length)
    if one.ends_with is not None and not text.endswith(one.ends_with):
        wrong.append(f"the text ends with {text[-len(one.ends_with) - 20 :]!r}")
    if one.metadata is not None:
        wrong += _same("metadata", metadata, one.metadata)
    return wrong


# --- reading ---


async def _search(world: World, one: form.SearchFinds) -> list[str]:
    recall = await world.client.search(
        one.query * one.repeat, namespace=world.ns(one.ns), mode=one.mode, as_of=one.as_of
    )
    items = [f"{h.fact.subject}\n{h.fact.object}\n{h.fact.text}\n{h.line}" for h in recall.facts]
    items += [f"{hit.message.speaker}\n{hit.message.text}\n{hit.line}" for hit in recall.turns]
    asked = f"for {one.query[:60]!r}"
    wrong = [
        f"{asked}: {text!r} is in none of {len(items)} items"
        for text in one.include
        if not any(text in item for item in items)
    ]
    for text in one.exclude:
        if found := next((item for item in items if text in item), None):
            wrong.append(f"{asked}: {text!r} is in {_said(found)}")
        elif text in recall.context:
            wrong.append(f"{asked}: {text!r} is in the context")
    return wrong


async def _as_of(world: World, one: form.AsOf) -> list[str]:
    now = datetime.now(UTC)
    if one.known is not None and one.known not in world.marks:
        return [f"no mark {one.known!r} was made before"]
    names = {fact.id: name for name, fact in (await world.facts(one.ns)).items()}
    then = world.client.iter_facts(
        namespace=world.ns(one.ns),
        as_of=now if one.valid is None else one.valid,
        known_at=now if one.known is None else world.marks[one.known],
    )
    return _sets({names.get(fact.id, fact.text) async for fact in then}, _refs(one.facts))


async def _history(world: World, one: form.History) -> list[str]:
    subject = person(one.subject)
    line = await world.client.history(subject, one.relation, namespace=world.ns(one.ns))
    found = [(f.object_key, _day(f.valid_from), _day(f.valid_until)) for f in line.facts]
    wanted = [
        (
            entity_key(person(name)),
            _day(instant(start)),
            _day(None if end is None else instant(end)),
        )
        for name, start, end in one.intervals
    ]
    return _same("the line", found, wanted)


def _day(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


async def _decisions(world: World, one: form.Decisions) -> list[str]:
    facts = await world.facts(one.ns)
    fact = facts.get(reference(one.fact))
    if fact is None:
        return _unknown(one.fact, facts)
    other = facts.get(reference(one.candidate)) if one.candidate is not None else None
    if one.candidate is not None and other is None:
        return _unknown(one.candidate, facts)
    asked = [
        each
        for each in [*await _decided(world, one, fact), *await _logged(world, one, fact)]
        if each["question"] == one.question and (other is None or each["candidate"] == other.id)
    ]
    wanted = {"backend": one.backend, "chosen": one.chosen, "outcome": one.outcome}
    right = [
        each
        for each in asked
        if all(value is None or each[name] == value for name, value in wanted.items())
    ]
    if bool(right) is not one.none:
        return []
    shown = [{name: each[name] for name in wanted} for each in (right if one.none else asked)]
    return [f"{'there is' if one.none else 'not'} among {_said(shown)}" + f" on {one.question}"]


async def _decided(world: World, one: form.Decisions, fact: Fact) -> list[dict[str, Any]]:
    """The decisions about ``fact``; whether two facts are the same is about either."""
    behind = await world.client.explain(fact, namespace=world.ns(one.ns))
    return [
        {
            "question": each.question,
            "candidate": each.candidate_id if each.fact_id == fact.id else each.fact_id,
            "backend": each.backend,
            "chosen": each.chosen,
            "outcome": each.outcome,
        }
        for each in behind.decisions
        if each.fact_id == fact.id or each.question == SAME_FACT
    ]


async def _logged(world: World, one: form.Decisions, fact: Fact) -> list[dict[str, Any]]:
    """The answers of every request that a decision about ``fact`` rests on."""
    records = {each.place: each for each in await world.everything([world.ns(one.ns)])}
    requests: dict[str, Stored] = {}
    for record in records.values():
        ends = [(each.type, records[each.to]) for each in record.leaving if each.to in records]
        if any(kind == "ABOUT" and end.properties["id"] == fact.id for kind, end in ends):
            requests |= {end.place: end for kind, end in ends if kind == "FROM"}
    found = []
    for request in requests.values():
        for key, answer in json.loads(request.properties["answers"]).items():
            question, *about, candidate = key.split(":") if ":" in key else (key, None)
            if about and fact.id not in about:  # a request on several known pairs
                continue
            probabilities = answer["probabilities"]
            found.append(
                {
                    "question": question,
                    "candidate": candidate,
                    "backend": answer["backend"],
                    "chosen": max(probabilities, key=probabilities.get, default=""),
                    "outcome": None,
                }
            )
    return found


def _raised(world: World, one: form.Raises) -> list[str]:
    raised = world.raised.get(one.step)
    if raised is None:
        return [f"step {one.step} raised nothing, expected {one.kind}"]
    wrong = []
    if not isinstance(raised.error, one.type):
        wrong.append(
            f"step {one.step} raised {type(raised.error).__name__} ({raised.error}), "
            f"expected {one.kind}"
        )
    if not raised.stored_nothing:
        wrong.append(f"step {one.step} raised {one.kind}, and changed what is stored")
    return wrong

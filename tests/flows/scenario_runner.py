"""Runs the behaviour scenarios of ``tests/data/scenarios.jsonl`` through the public API.

A step or check that is not known raises ``NotSupportedError``: what is new needs a method here
(``_do_…`` or ``_check_…``), nothing else.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from canonical import canonical
from flow_fakes import ScriptedDecider, ScriptedExtractor

from engram_graph import errors
from engram_graph.clock import instant
from engram_graph.graph.driver import Graph
from engram_graph.graph.records import native
from engram_graph.models.facts import Draft, Fact
from engram_graph.rules.names import entity_key

_FILE = Path(__file__).parent.parent / "data" / "scenarios.jsonl"
_CONTEXT = re.compile(r"\{\{context:(.*?)\}\}")
Client = Any
Scenario = dict[str, Any]


class NotSupportedError(Exception):
    """A step or check this runner does not know yet."""


@cache
def scenarios() -> dict[str, Scenario]:
    """Every scenario by its id."""
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines if line.strip()]
    return {one["id"]: one for one in found}


class Runner:
    """One scenario at work.

    Args:
        make: makes a client, given decider, extractor and nothing else.
        graph: for what the public API does not show. prefix: before every namespace.
    """

    def __init__(self, make: Callable[..., Client], graph: Graph, prefix: str, one: Scenario):
        self._make = make
        self._graph = graph
        self._prefix = prefix
        self._scenario = one
        self._decider = ScriptedDecider()
        self._extractor = ScriptedExtractor()
        self._client = self._new_client()
        self._marks: dict[str, datetime] = {}
        self._raised: dict[int, tuple[BaseException, bool]] = {}

    async def run(self) -> None:
        """All steps, then the checks at the end."""
        for number, step in enumerate(self._scenario["steps"], 1):
            expected = self._expected_error(number)
            if expected is None:
                await self._step(step)
                continue
            before = await self._contents()
            try:
                await self._step(step)
            except errors.EngramError as error:
                self._raised[number] = (error, await self._contents() == before)
        await self._check_all(self._scenario["expect"])

    def _new_client(self) -> Client:
        rules = self._scenario.get("preset") == "rules"
        return self._make(extractor=self._extractor, decider=None if rules else self._decider)

    def _expected_error(self, number: int) -> dict[str, Any] | None:
        checks = self._scenario["expect"]
        return next((c for c in checks if c["check"] == "error" and c["step"] == number), None)

    def _ns(self, item: dict[str, Any]) -> str:
        name = item.get("ns", "main")
        return f"{self._prefix}/{name}" if name.strip() else name

    async def _contents(self) -> int:
        rows = await self._graph.statement(
            "CYPHER 25 MATCH (n) WHERE n.namespace STARTS WITH $prefix OR trim(n.namespace) = '' "
            "RETURN count(n) AS n",
            prefix=self._prefix,
        )
        return int(rows[0]["n"])

    # --- steps ---

    async def _step(self, step: dict[str, Any], client: Client | None = None) -> None:
        do = getattr(self, f"_do_{step['do']}", None)
        if do is None:
            raise NotSupportedError(f"step {step['do']}")
        await do(step, client or self._client)

    async def _do_remember(self, step: dict[str, Any], client: Client) -> None:
        words = f"{step['subject']} {step['relation'].replace('_', ' ')} {step['object']}"
        await client.remember(
            step["subject"],
            step["relation"],
            step["object"],
            namespace=self._ns(step),
            text=step.get("text", words),
            said_at=step.get("said_at"),
            valid_from=step.get("valid_from"),
            speaker=step.get("speaker", "user"),
            source_id=step.get("source_id"),
            metadata=step.get("metadata"),
        )

    async def _do_add(self, step: dict[str, Any], client: Client) -> None:
        text = step["text"] * step.get("repeat", 1)
        for found in _CONTEXT.finditer(text):
            recall = await client.search(found[1], namespace=self._ns(step))
            assert recall.context, "there is nothing to paste back"
            text = text.replace(found[0], recall.context)
        await client.add(
            text,
            namespace=self._ns(step),
            role=step.get("role", "user"),
            speaker=step.get("speaker", "user"),
            said_at=step.get("said_at"),
            source_id=step.get("source_id"),
            metadata=step.get("metadata"),
        )

    async def _do_decider(self, step: dict[str, Any], client: Client) -> None:
        self._decider.script = step.get("answers", {})
        self._decider.malformed = frozenset(step.get("malformed", ()))

    async def _do_decider_down(self, step: dict[str, Any], client: Client) -> None:
        only = step.get("only")
        self._decider.down = None if only is None else frozenset(only)

    async def _do_decider_up(self, step: dict[str, Any], client: Client) -> None:
        self._decider.down = frozenset()

    async def _do_extractor(self, step: dict[str, Any], client: Client) -> None:
        replies: list[list[Draft]] = []
        for reply in step["replies"]:
            if isinstance(reply, dict):
                raise NotSupportedError("raw replies need a model's server")
            replies.append([_draft(each) for each in reply])
        self._extractor.replies = list(replies)

    async def _do_parallel(self, step: dict[str, Any], client: Client) -> None:
        clients = [self._new_client() for _ in step["steps"]]
        async with asyncio.TaskGroup() as group:
            for one, inner in zip(clients, step["steps"], strict=True):
                group.create_task(self._step(inner, one))

    async def _do_resume(self, step: dict[str, Any], client: Client) -> None:
        await client.resume(namespace=self._ns(step))

    async def _do_reopen_database(self, step: dict[str, Any], client: Client) -> None:
        await client.aclose()
        self._client = self._new_client()

    async def _do_search(self, step: dict[str, Any], client: Client) -> None:
        query = step["query"] * step.get("repeat", 1)
        await client.search(query, namespace=self._ns(step), mode=step.get("mode", "facts"))

    async def _do_mark(self, step: dict[str, Any], client: Client) -> None:
        await asyncio.sleep(0.025)
        self._marks[step["name"]] = datetime.now(UTC)
        await asyncio.sleep(0.025)

    async def _do_check(self, step: dict[str, Any], client: Client) -> None:
        await self._check_all(step["expect"])

    # --- checks ---

    async def _check_all(self, checks: list[dict[str, Any]]) -> None:
        for one in checks:
            if one["check"] in ("error", "invariants"):  # doctor looks after every test
                if one["check"] == "error":
                    self._check_error(one)
                continue
            check = getattr(self, f"_check_{one['check']}", None)
            if check is None:
                raise NotSupportedError(f"check {one['check']}")
            try:
                await check(one)
            except AssertionError as error:
                raise AssertionError(f"{json.dumps(one, ensure_ascii=False)}\n{error}") from error

    def _check_error(self, one: dict[str, Any]) -> None:
        assert one["step"] in self._raised, f"step {one['step']} raised nothing"
        error, untouched = self._raised[one["step"]]
        assert isinstance(error, getattr(errors, one["class"])), f"step {one['step']}: {error!r}"
        assert untouched, f"step {one['step']} stored something"

    async def _facts(self, one: dict[str, Any]) -> dict[str, Fact]:
        """Reference (``#1`` for the first) → fact, in recording order."""
        seen: Counter[str] = Counter()
        found = {}
        async for fact in self._client.iter_facts(namespace=self._ns(one)):
            triple = f"{fact.subject_key}|{fact.predicate}|{fact.object_key}"
            seen[triple] += 1
            found[f"{triple}#{seen[triple]}"] = fact
        return found

    async def _named(self, one: dict[str, Any]) -> dict[str, str]:
        """Fact id → reference."""
        return {fact.id: name for name, fact in (await self._facts(one)).items()}

    async def _fact(self, one: dict[str, Any]) -> Fact:
        facts = await self._facts(one)
        name = reference(one["fact"])
        assert name in facts, f"no {name} among {sorted(facts)}"
        return facts[name]

    async def _check_open_facts(self, one: dict[str, Any]) -> None:
        found = {n for n, f in (await self._facts(one)).items() if f.valid_until is None}
        _equal(found, {reference(r) for r in one["facts"]})

    async def _check_closed_facts(self, one: dict[str, Any]) -> None:
        closed = {n: f for n, f in (await self._facts(one)).items() if f.valid_until is not None}
        _equal(set(closed), {reference(each["fact"]) for each in one["facts"]})
        for each in one["facts"]:
            fact = closed[reference(each["fact"])]
            if "reason" in each:
                _equal(fact.closed_reason, each["reason"])
            if "until" in each:
                _equal(fact.valid_until, instant(each["until"]))

    async def _links(self, one: dict[str, Any], kind: str) -> list[tuple[str, str]]:
        named = await self._named(one)
        rows = await self._graph.statement(
            "CYPHER 25 MATCH (a:Fact {namespace: $ns})-[r:$($kind)]->(b:Fact) "
            "RETURN a.id AS a, b.id AS b",
            ns=self._ns(one),
            kind=kind,
        )
        return [(named[row["a"]], named[row["b"]]) for row in rows]

    async def _check_supersedes(self, one: dict[str, Any]) -> None:
        wanted = sorted((reference(new), reference(old)) for new, old in one["pairs"])
        _equal(sorted(await self._links(one, "SUPERSEDES")), wanted)

    async def _check_refines(self, one: dict[str, Any]) -> None:
        wanted = sorted((reference(new), reference(old)) for new, old in one["pairs"])
        _equal(sorted(await self._links(one, "REFINES")), wanted)

    async def _check_same_as(self, one: dict[str, Any]) -> None:
        found = {frozenset(pair) for pair in await self._links(one, "SAME_AS")}
        _equal(found, {frozenset(map(reference, pair)) for pair in one["pairs"]})

    async def _check_disputed(self, one: dict[str, Any]) -> None:
        found = {n for n, f in (await self._facts(one)).items() if f.disputed}
        _equal(found, {reference(r) for r in one["facts"]})

    async def _check_tentative(self, one: dict[str, Any]) -> None:
        found = {n for n, f in (await self._facts(one)).items() if f.tentative}
        _equal(found, {reference(r) for r in one["facts"]})

    async def _check_belief(self, one: dict[str, Any]) -> None:
        facts = await self._facts(one)
        found = {name: round(facts[reference(name)].belief, 4) for name in one["values"]}
        _equal(found, {name: round(value, 4) for name, value in one["values"].items()})

    async def _check_valid_from(self, one: dict[str, Any]) -> None:
        fact = await self._fact(one)
        if "is" in one:
            _equal(fact.valid_from, instant(one["is"]))
        if "min" in one:
            assert instant(one["min"]) <= fact.valid_from <= instant(one["max"])

    async def _check_counts(self, one: dict[str, Any]) -> None:
        stats = await self._client.stats(namespace=self._ns(one))
        found = {
            "facts": stats.facts,
            "open": stats.open,
            "closed": stats.facts - stats.open,
            "entities": stats.entities,
            "messages": stats.messages,
            "unfinished": stats.unfinished,
        }
        asked = {name for name in one if name not in ("check", "ns")}
        _equal({name: found[name] for name in asked}, {name: one[name] for name in asked})

    async def _check_sources(self, one: dict[str, Any]) -> None:
        behind = await self._client.explain(await self._fact(one), namespace=self._ns(one))
        if "speakers" in one:
            _equal({m.speaker for m in behind.messages}, set(one["speakers"]))
        if "messages" in one:
            _equal(len(behind.messages), one["messages"])

    async def _check_message(self, one: dict[str, Any]) -> None:
        rows = await self._graph.statement(
            "CYPHER 25 MATCH (m:Message {namespace: $ns, source_id: $id}) RETURN m {.*} AS m",
            ns=self._ns(one),
            id=one["source_id"],
        )
        _equal(len(rows), 1)
        found = native(rows[0]["m"])
        if "text" in one:
            _equal(found["text"], one["text"])
        if "length" in one:
            _equal(len(found["text"]), one["length"])
        if "ends_with" in one:
            assert found["text"].endswith(one["ends_with"])
        if "metadata" in one:
            _equal(json.loads(found["metadata"]), one["metadata"])

    async def _check_search(self, one: dict[str, Any]) -> None:
        recall = await self._client.search(
            one["query"] * one.get("repeat", 1),
            namespace=self._ns(one),
            mode=one.get("mode", "facts"),
            as_of=one.get("as_of"),
        )
        items = [f"{hit.fact.subject}\n{hit.fact.object}\n{hit.fact.text}" for hit in recall.facts]
        items += [f"{hit.message.speaker}\n{hit.message.text}" for hit in recall.turns]
        for wanted in one.get("include", ()):
            assert any(wanted in item for item in items), f"{wanted!r} is not in {items}"
        for unwanted in one.get("exclude", ()):
            assert not any(unwanted in item for item in items), f"{unwanted!r} is in {items}"
            assert unwanted not in recall.context

    async def _check_as_of(self, one: dict[str, Any]) -> None:
        known = self._marks[one["known"]] if "known" in one else datetime.now(UTC)
        page = await self._client.facts(
            namespace=self._ns(one),
            as_of=one.get("valid", datetime.now(UTC)),
            known_at=known,
        )
        named = await self._named(one)
        _equal({named[fact.id] for fact in page.facts}, {reference(r) for r in one["facts"]})

    async def _check_history(self, one: dict[str, Any]) -> None:
        line = await self._client.history(one["subject"], one["relation"], namespace=self._ns(one))
        found = [(f.object_key, f.valid_from, f.valid_until) for f in line.facts]
        wanted = [
            (entity_key(name), instant(start), None if end is None else instant(end))
            for name, start, end in one["intervals"]
        ]
        _equal(found, wanted)

    async def _check_decisions(self, one: dict[str, Any]) -> None:
        fact = await self._fact(one)
        facts = await self._facts(one)
        other = facts[reference(one["candidate"])].id if "candidate" in one else None
        behind = await self._client.explain(fact, namespace=self._ns(one))
        found = [
            d
            for d in behind.decisions
            if d.fact_id == fact.id
            and d.question == one["question"]
            and (other is None or d.candidate_id == other)
            and all(
                getattr(d, name) == one[name]
                for name in ("backend", "chosen", "outcome")
                if name in one
            )
        ]
        shown = [(d.question, d.backend, d.chosen, d.outcome) for d in behind.decisions]
        assert bool(found) is not one.get("none", False), f"among {shown}"

    async def _check_equal(self, one: dict[str, Any]) -> None:
        a, b = (await canonical(self._graph, self._ns({"ns": one[n]})) for n in ("a", "b"))
        _equal(a, b)


def reference(name: str) -> str:
    """``subject|relation|object#n`` with normalised names and a number."""
    triple, mark, number = name.rpartition("#")
    if not (mark and number.isdigit()):
        triple, number = name, "1"
    subject, relation, obj = triple.split("|")
    return f"{entity_key(subject)}|{relation}|{entity_key(obj)}#{number}"


def _draft(given: dict[str, Any]) -> Draft:
    return Draft(
        subject=given["subject"],
        predicate=given["relation"],
        object=given["object"],
        text=given["text"],
        when=given.get("when"),
        quote=given.get("quote"),
    )


def _equal(found: object, wanted: object) -> None:
    assert found == wanted, f"found {found!r}, wanted {wanted!r}"

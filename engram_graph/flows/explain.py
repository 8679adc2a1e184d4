"""Everything behind one fact, found by id, by the start of an id, or by what it says."""

from __future__ import annotations

from functools import partial

from engram_graph.errors import AmbiguousError, InputError, NotFoundError
from engram_graph.flows.runtime import Runtime
from engram_graph.graph import history
from engram_graph.models.facts import Fact
from engram_graph.models.results import Explanation
from engram_graph.rules.names import entity_key
from engram_graph.rules.render import one_line
from engram_graph.rules.story import story
from engram_graph.rules.validate import clean_name
from engram_graph.vocabulary import predicate

_LISTED = 10  # facts that an error names
_ENDED = 1000  # ended facts of one triple that are looked at
_SHORTEST = 8  # characters of an id's start: fewer fit facts of every namespace


async def explain(runtime: Runtime, namespace: str, reference: str) -> Explanation:
    """The story of the fact that ``reference`` names.

    Raises:
        NotFoundError: it names none. AmbiguousError: it names several.
        InputError: it is neither an id nor ``subject|predicate|object``.
    """
    fact = await find(runtime, namespace, reference)
    behind = await history.explain(runtime.graph, namespace, fact)
    return behind.model_copy(update={"story": story(behind, runtime.method)})


async def find(runtime: Runtime, namespace: str, reference: str) -> Fact:
    """One fact by its id, the start of one, or ``subject|predicate|object``."""
    if "|" in reference:
        found = await _said(runtime, namespace, reference)
    elif len(reference) < _SHORTEST:
        found = []
    else:
        found = await history.by_prefix(runtime.graph, namespace, reference, _LISTED + 1)
    if not found:
        raise NotFoundError(f"no fact {reference!r} in namespace {namespace!r}", id=reference)
    if len(found) > 1:
        raise AmbiguousError(
            f"{reference!r} names several facts",
            hint="Give one id: " + "; ".join(_listed(fact) for fact in found[:_LISTED]),
            ids=[fact.id for fact in found[:_LISTED]],
        )
    return found[0]


async def _said(runtime: Runtime, namespace: str, reference: str) -> list[Fact]:
    """The open facts with this triple; when all have ended, the one that began last."""
    parts = [part.strip() for part in reference.split("|")]
    if len(parts) != 3:
        raise InputError(
            f"not subject|predicate|object: {reference!r}",
            hint="Three parts, such as 'Maya|lives_in|Lisbon', or the id of a fact.",
            field="fact",
        )
    subject, relation, obj = parts
    same = partial(
        history.facts,
        runtime.graph,
        namespace,
        subject_key=entity_key(clean_name(subject, "subject")),
        predicate=predicate(relation).name,
        object_key=entity_key(clean_name(obj, "object")),
    )
    still = await same(open_only=True, limit=_LISTED + 1)
    ended = [] if still else await same(open_only=False, limit=_ENDED)
    return still or sorted(ended, key=lambda fact: (fact.valid_from, fact.recorded_at))[-1:]


def _listed(fact: Fact) -> str:
    return f"{fact.id} ({one_line(fact.text[:80])}, from {fact.valid_from:%Y-%m-%d})"

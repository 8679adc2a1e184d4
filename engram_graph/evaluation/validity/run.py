"""Runs arms over the benchmark: told its statements or its turns, then scored without a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from engram_graph.adapters.recording import canonical_hash
from engram_graph.evaluation.arms import ARMS, OWN, chosen_of
from engram_graph.evaluation.arms.facts import FactArm
from engram_graph.evaluation.arms.statements import Teller
from engram_graph.evaluation.study.blocks import sweep
from engram_graph.evaluation.study.records import Arm, Line, Models, Read, Talk, Task, Written
from engram_graph.evaluation.study.result import Label, Result, Row, write_result
from engram_graph.evaluation.study.runner import Outcome, Study, run_study
from engram_graph.evaluation.validity import scoring
from engram_graph.evaluation.validity.form import Conversation
from engram_graph.evaluation.validity.store import compared, summed
from engram_graph.evaluation.validity.telling import statements
from engram_graph.rules.tokens import Counter

Given = Literal["facts", "turns"]
KS = (1, 3, 6)
BUDGETS = (60, 120, 250)
"""Tokens of a memory block."""
LONGEST = 20
"""Lines that are looked at for a budget."""


RULES: Final = {"preset": "default", "decider": "rules", "escalation": "none", "rerank": "none"}
"""Settings of the arms that ask no model."""


@dataclass(slots=True)
class Told:
    """An arm as the benchmark writes it; for the rest see ``records.Arm``.

    Attributes:
        given: ``facts``: it is told what each turn states, if it can be told; else, and with
            ``turns``, it is given the turns. ``flags`` say which.
    """

    arm: Arm
    given: Given
    conversations: Mapping[str, Conversation]
    name: str = field(init=False)
    about: str = field(init=False)
    ks: tuple[int, ...] = field(default=(*KS, LONGEST), init=False)
    limit: int = field(init=False)
    needs: tuple[str, ...] = field(init=False)
    flags: Mapping[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        arm = self.arm
        self.name, self.about = arm.name, arm.about
        self.limit, self.needs = min(arm.limit, LONGEST), arm.needs
        if self.given == "facts" and isinstance(arm, Teller):
            self.needs = arm.tell_needs
        given = "facts" if self._tells else "turns"
        self.flags = {**arm.flags, "given": given}
        if self._tells:
            told = [repr(statements(each)) for each in self.conversations.values()]
            self.flags = {**self.flags, "statements": canonical_hash(told)}

    @property
    def _tells(self) -> bool:
        return self.given == "facts" and isinstance(self.arm, Teller)

    def missing(self) -> str | None:
        """As the arm says."""
        return self.arm.missing()

    async def write(self, models: Models, talk: Talk, namespace: str) -> Written:
        """Tell the statements, or write the turns; facts are compared with gold."""
        conversation = self.conversations[talk.id]
        if self.given == "facts" and isinstance(self.arm, Teller):
            await self.arm.tell(models, namespace, statements(conversation))
            written = Written(turns=len(talk.turns))
        else:
            written = await self.arm.write(models, talk, namespace)
        if not isinstance(self.arm, FactArm):
            return written
        async with models.memory(namespace, **self.arm.settings) as memory:
            facts = [fact async for fact in memory.iter_facts()]
        score = compared(conversation, facts)
        return replace(written, counters={**written.counters, **score.counters()})

    async def read(self, models: Models, talk: Talk, namespace: str, task: Task) -> Read:
        """As the arm does."""
        return await self.arm.read(models, talk, namespace, task)


def facts_rules() -> FactArm:
    """Ours without a model: what it measures is the rules, and no model behind them."""
    return FactArm("facts_rules", "Facts, decided by rules without a model.", RULES, needs=())


def both_rules() -> FactArm:
    """The same, with the turns behind the facts."""
    about = "Facts, decided by rules without a model, then turns that none of them repeats."
    return FactArm("both_rules", about, RULES, limit=LONGEST, needs=(), mode="both")


OFFLINE: Final[Mapping[str, Callable[[], Arm]]] = {
    "turns_cosine": OWN["turns_cosine"],
    "turns_hybrid": OWN["turns_hybrid"],
    "facts_rules": facts_rules,
    "both_rules": both_rules,
    "full_context": OWN["full_context"],
}
"""Arms that need no model but an embedder."""


def chosen(names: Iterable[str]) -> tuple[Arm, ...]:
    """The arms of these names, of a study or of these; see ``arms.chosen_of``.

    Raises:
        InputError: no name, or one that no arm has.
    """
    return chosen_of({**OFFLINE, **ARMS}, names)


async def run_benchmark(
    study: Study, arms: Sequence[Arm], given: Given, conversations: Sequence[Conversation]
) -> list[Outcome]:
    """Run each arm and score it; result files hold the scores.

    Args:
        study: over ``telling.dataset(conversations, given)``, without answers.

    Raises:
        EngramError: as ``run_study``.
    """
    known = {each.id: each for each in conversations}
    outcomes = []
    for outcome in await run_study(study, [Told(arm, given, known) for arm in arms]):
        if outcome.result is not None:
            result = scored(outcome.result, known, study.count)
            write_result(result, study.folder.path)
            outcome = replace(outcome, result=result)
        outcomes.append(outcome)
    return outcomes


def scored(result: Result, conversations: Mapping[str, Conversation], count: Counter) -> Result:
    """``result`` with labels at each k, and ``scores``.

    A row's label is the rule's: CORRECT where the block is right, none where it has room for
    fewer lines than facts are asked for.
    """
    judged: list[tuple[Row, scoring.Verdict]] = []
    budgets: dict[int, list[tuple[Row, scoring.Verdict]]] = {each: [] for each in BUDGETS}
    longest = max(result.ks)
    for row in result.rows:
        conversation = conversations[row.conversation]
        question = next(each for each in conversation.questions if each.id == row.task)
        lines = [Line(text, ended=n in row.ended_at) for n, text in enumerate(row.lines)]
        judged.append((row, scoring.verdict(conversation, question, lines, row.k)))
        if row.k == longest:
            spent = sweep(row.lines, len(lines), count)
            for budget, found in budgets.items():
                block = scoring.fitting(lines, spent, budget)
                found.append((row, scoring.verdict(conversation, question, block)))
    at_k = {str(k): _table([each for each in judged if each[0].k == k]) for k in result.ks}
    scores: dict[str, Any] = {
        "k": at_k,
        "tokens": {str(budget): _table(found) for budget, found in budgets.items()},
    }
    store = summed([each.counters for each in result.conversations.values()])
    if store is not None:
        scores["store"] = store.as_dict()
    rows = tuple(
        row.model_copy(update={"label": _label(verdict), "answer": None}) for row, verdict in judged
    )
    return result.model_copy(update={"rows": rows, "scores": scores})


def _label(verdict: scoring.Verdict) -> Label | None:
    if verdict.right is None:
        return None
    return "CORRECT" if verdict.right else "WRONG"


def _table(judged: Sequence[tuple[Row, scoring.Verdict]]) -> dict[str, Any]:
    """Rates by kind, and the mean over kinds with its interval."""
    by_kind: dict[str, list[scoring.Verdict]] = {}
    answered: dict[tuple[str, str], list[bool]] = {}
    for row, verdict in judged:
        by_kind.setdefault(row.category, []).append(verdict)
        if verdict.right is not None:
            answered.setdefault((row.category, row.conversation), []).append(verdict.right)
    found = {kind: rates for kind, each in by_kind.items() if (rates := scoring.rates(each))}
    if not found:
        return {}
    total = scoring.rates([verdict for _, verdict in judged])
    limits = scoring.bounds(answered)
    return {
        "overall": round(scoring.overall(found), 4),
        "interval": [round(each, 4) for each in limits] if limits else None,
        "all": total.as_dict() if total else None,
        "kinds": {kind: each.as_dict() for kind, each in found.items()},
    }

"""A study without models and without a database: arms and models that answer from a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from engram_graph.errors import BudgetError
from engram_graph.evaluation.study.datasets import Dataset
from engram_graph.evaluation.study.folder import Folder
from engram_graph.evaluation.study.records import Line, Models, Read, Talk, Task, Written
from engram_graph.evaluation.study.runner import Study
from engram_graph.formats.locomo import Turn

MONDAY = datetime(2024, 1, 1, 9, tzinfo=UTC)


def talk(name: str, turns: int = 4) -> Talk:
    """A conversation of ``turns`` turns; a question about each, the last one an abstention."""
    said = tuple(
        Turn(f"{name}:t{n}", name, "Ann", f"word{n}", MONDAY + timedelta(seconds=n), 1)
        for n in range(turns)
    )
    tasks = tuple(
        Task(
            id=f"{name}:q{n}",
            conversation=name,
            text=f"Which word is number {n}?",
            answer="never told" if n == turns - 1 else f"word{n}",
            category="adversarial" if n == turns - 1 else ("odd" if n % 2 else "even"),
            evidence=() if n == turns - 1 else (f"{name}:t{n}",),
            abstention=n == turns - 1,
        )
        for n in range(turns)
    )
    return Talk(name, said, tasks)


@dataclass(frozen=True)
class Said:
    text: str
    usd: float | None = 0.001
    ms: float = 20.0


@dataclass(frozen=True)
class Verdict:
    label: Any
    usd: float | None = 0.0005
    ms: float = 10.0


@dataclass
class FakeModels:
    """Answers with the first line, which is right if the gold stands in it.

    Attributes:
        cap: answers that are given before a cap stops the run; None for no cap.
        broken: questions that get no answer. asked: how many answers were asked for.
    """

    cap: int | None = None
    broken: Mapping[str, Exception] = field(default_factory=dict)
    lacking: str | None = None
    asked: int = 0
    stages: list[tuple[str, str]] = field(default_factory=list)
    _stopped: bool = False

    def memory(self, namespace: str, **changes: Any) -> Any:
        raise NotImplementedError

    def missing(self, *needs: str) -> str | None:
        return self.lacking if needs else None

    def tally(self) -> Any:
        raise NotImplementedError

    def endpoint(self) -> Mapping[str, Any]:
        raise NotImplementedError

    @contextmanager
    def stage(self, stage: str, system: str) -> Iterator[None]:
        self.stages.append((stage, system))
        yield

    async def answer(self, question: str, lines: Sequence[str]) -> Said:
        if self.cap is not None and self.asked >= self.cap:
            self._stopped = True
            raise BudgetError("the cap is crossed", hint="Raise it.")
        self.asked += 1
        if question in self.broken:
            raise self.broken[question]
        return Said(lines[0] if lines else "never told")

    async def judge(
        self, question: str, gold: str, answer: str, *, abstention: bool = False
    ) -> Verdict:
        return Verdict("CORRECT" if gold in answer else "WRONG")

    def check(self) -> None:
        if self._stopped:
            raise BudgetError("the cap is crossed", hint="Raise it.")

    def named(self) -> Mapping[str, str]:
        return {"answer": "fake"}

    def prompts(self) -> Mapping[str, str]:
        return {"answer": "1"}


@dataclass
class FakeArm:
    """Finds the turn of a question and then the others, unless ``fails`` says otherwise.

    Attributes:
        fails: what reading a question raises, by its id. unwritable: conversations that cannot be
            written.
    """

    name: str = "fake"
    about: str = "A fake."
    ks: tuple[int, ...] = (1, 3)
    limit: int = 3
    needs: tuple[str, ...] = ()
    flags: Mapping[str, Any] = field(default_factory=lambda: {"order": "right"})
    absent: str | None = None
    fails: Mapping[str, Exception] = field(default_factory=dict)
    unwritable: Mapping[str, Exception] = field(default_factory=dict)
    written: list[str] = field(default_factory=list)
    read_: list[str] = field(default_factory=list)
    on_read: Callable[[Task], None] = lambda _: None

    def missing(self) -> str | None:
        return self.absent

    async def write(self, models: Models, talk: Talk, namespace: str) -> Written:
        if talk.id in self.unwritable:
            raise self.unwritable[talk.id]
        self.written.append(namespace)
        return Written(
            turns=len(talk.turns),
            facts=2,
            counters={"new": 2},
            closes=(
                {
                    "text": "old",
                    "old_sources": [f"{talk.id}:t0"],
                    "new_sources": [f"{talk.id}:t1"],
                    "reason": "update",
                },
            ),
            cost_usd={"extraction": 0.01, "decisions": 0.002},
            latency_ms=(5.0,) * len(talk.turns),
        )

    async def read(self, models: Models, talk: Talk, namespace: str, task: Task) -> Read:
        self.on_read(task)
        if task.id in self.fails:
            raise self.fails[task.id]
        self.read_.append(task.id)
        own = [turn for turn in talk.turns if turn.source_id in task.evidence]
        others = [turn for turn in talk.turns if turn not in own]
        turns = [*own, *others][: self.limit]
        return Read(
            tuple(Line(turn.text, turn.source_id) for turn in turns),
            shortlist=tuple(turn.source_id for turn in talk.turns),
            cost_usd=0.0002,
            latency_ms=7.0,
        )


def words(text: str) -> int:
    """Counts tokens in a study of fakes."""
    return len(text.split())


def study(folder: Path, models: FakeModels | None = None, *names: str, **more: Any) -> Study:
    """Over conversations called ``names``."""
    talks = tuple(talk(each) for each in names or ("a", "b"))
    return Study(
        dataset=Dataset("locomo", "all", talks),
        models=models or FakeModels(),
        folder=Folder(folder),
        count=words,
        counted_by="words",
        **more,
    )

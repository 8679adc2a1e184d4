"""Runs arms over conversations: write, read, measure; then answer and judge.

Everything an arm gives is read and measured before the first answer is asked for. What is
finished is kept as parts, so that a run that was stopped goes on there.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from statistics import fmean

from engram_graph.adapters.recording import canonical_hash
from engram_graph.errors import EngramError, StoreUnavailableError
from engram_graph.evaluation.study.blocks import MEASURED, sweep, tokens
from engram_graph.evaluation.study.datasets import Dataset, talk_form
from engram_graph.evaluation.study.folder import AnswerPart, Folder, ReadPart, Said, TaskRead
from engram_graph.evaluation.study.records import AnsweringModels, Arm, Read, Talk, Task
from engram_graph.evaluation.study.result import Result, Row, Store, write_result
from engram_graph.rules.tokens import Counter

Progress = Callable[[int, int], None]
NAMESPACE = "eval:study:"


@contextmanager
def _silent(_: str) -> Iterator[Progress]:
    yield lambda done, total: None


@dataclass(frozen=True, slots=True)
class Study:
    """What is run, and with what.

    Attributes:
        count, counted_by: how tokens are counted. ks: sizes of the block; empty for each arm's own.
        answers: whether anything is answered; without, rows have lines and tokens alone.
        parallel: questions answered at a time. Reading is one at a time: its latency is recorded.
        namespace: what those of the arms begin with.
        database: entered while an arm writes and reads one conversation; may give it a database
            of its own.
        bar: shows how far a piece of work is, by its name.
    """

    dataset: Dataset
    models: AnsweringModels
    folder: Folder
    count: Counter
    counted_by: str
    ks: tuple[int, ...] = ()
    answers: bool = True
    parallel: int = 4
    namespace: str = NAMESPACE
    bar: Callable[[str], AbstractContextManager[Progress]] = _silent
    database: Callable[[], AbstractContextManager[None]] = nullcontext


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an arm.

    Attributes:
        result: None if it could not run; ``why`` tells why.
        state: ``done``, ``cannot run``, ``failed``.
        unfinished: what was not read or answered, in words; a second run tries it again.
    """

    arm: str
    state: str
    result: Result | None = None
    why: str | None = None
    unfinished: tuple[str, ...] = ()


@dataclass(slots=True)
class _Work:
    """One arm over one study, and what did not work."""

    study: Study
    arm: Arm
    failed: list[str] = field(default_factory=list)


async def run_study(study: Study, arms: Sequence[Arm]) -> list[Outcome]:
    """Run each arm; one that cannot run does not keep the others from it.

    Raises:
        EngramError: a cap was crossed, a replay lacked a call, or the database is gone. What is
            finished is kept, and the same call goes on.
    """
    outcomes = []
    for arm in arms:
        outcome = await _outcome(study, arm)
        study.folder.tell(arm.name, outcome.state, outcome.why)
        outcomes.append(outcome)
    return outcomes


async def _outcome(study: Study, arm: Arm) -> Outcome:
    why = arm.missing() or study.models.missing(*arm.needs)
    if why:
        return Outcome(arm.name, "cannot run", why=why)
    work = _Work(study, arm)
    try:
        result = await _run(work)
    except StoreUnavailableError as error:
        study.folder.tell(arm.name, "stopped", error.message)
        raise
    except EngramError as error:
        if (stop := _stop(study.models)) is not None:
            study.folder.tell(arm.name, "stopped", stop.message)
            raise stop from error
        return Outcome(arm.name, "failed", why=error.message)
    write_result(result, study.folder.path)
    return Outcome(arm.name, "done", result, unfinished=tuple(work.failed))


async def run_arm(study: Study, arm: Arm) -> Result:
    """One arm over the study's conversations.

    Raises:
        EngramError: a conversation cannot be written, a cap was crossed, or a replay lacked a call.
    """
    return await _run(_Work(study, arm))


async def _run(work: _Work) -> Result:
    study, arm = work.study, work.arm
    parts = [await _read_part(work, talk) for talk in study.dataset.talks]
    tokens_at = _tokens_at(study.dataset.talks, parts)
    study.folder.keep_tokens(
        study.dataset.name,
        arm.name,
        {"arm": arm.name, "counted_by": study.counted_by, "tokens_at": tokens_at},
    )
    rows: list[Row] = []
    tells = _tells(parts)
    for talk, part in zip(study.dataset.talks, parts, strict=True):
        rows += await _answered(work, talk, part, tells)
    return Result(
        dataset=study.dataset.name,
        split=study.dataset.split,
        digest=study.dataset.digest,
        arm=arm.name,
        about=arm.about,
        flags=dict(arm.flags),
        models=dict(study.models.named()),
        prompts=dict(study.models.prompts()),
        counted_by=study.counted_by,
        tokens_at=tokens_at,
        conversations={
            talk.id: part.store for talk, part in zip(study.dataset.talks, parts, strict=True)
        },
        rows=tuple(rows),
    )


async def _read_part(work: _Work, talk: Talk) -> ReadPart:
    """A conversation written and read, or as it was kept."""
    study, arm = work.study, work.arm
    key = canonical_hash([talk_form(talk), arm.name, arm.limit, dict(arm.flags), study.counted_by])
    known = study.folder.part(ReadPart, arm.name, talk.id, key)
    if known is not None:
        return known
    with study.database():
        return await _written_and_read(work, talk, key)


async def _written_and_read(work: _Work, talk: Talk, key: str) -> ReadPart:
    study, arm = work.study, work.arm
    namespace = f"{study.namespace}{arm.name}:{talk.id}"
    failed = len(work.failed)
    with (
        study.models.stage("write", arm.name),
        _timed(study, arm, talk, "write", len(talk.turns)),
        study.bar(f"{arm.name}: writing {talk.id}") as progress,
    ):
        progress(0, 1)
        written = await arm.write(study.models, talk, namespace)
        progress(1, 1)
    study.models.check()
    work.failed += [f"{source_id}: not written: {why}" for source_id, why in written.failed]
    reads = []
    with (
        study.models.stage("read", arm.name),
        study.bar(f"{arm.name}: reading {talk.id}") as progress,
    ):
        for number, task in enumerate(talk.tasks, 1):
            with _timed(study, arm, talk, "read", 1):
                read = await _read(work, talk, namespace, task)
            reads.append(_measured(task, read, study.count, min(arm.limit, MEASURED)))
            progress(number, len(talk.tasks))
    part = ReadPart(key=key, store=Store(**asdict(written)), reads=tuple(reads))
    if len(work.failed) == failed:
        study.folder.keep(part, arm.name, talk.id)
    return part


async def _read(work: _Work, talk: Talk, namespace: str, task: Task) -> Read:
    try:
        read = await work.arm.read(work.study.models, talk, namespace, task)
    except StoreUnavailableError:
        raise  # every other question would fail as well
    except EngramError as error:
        work.study.models.check()
        work.failed.append(f"{task.id}: not read: {error.message}")
        return Read((), cost_usd=None, degraded=(f"reading failed: {error.message}",))
    work.study.models.check()
    return read


def _measured(task: Task, read: Read, count: Counter, most: int) -> TaskRead:
    lines = tuple(line.text for line in read.lines)
    return TaskRead(
        task=task.id,
        lines=lines,
        sources=tuple(line.source_id for line in read.lines),
        ended=tuple(line.ended for line in read.lines),
        shortlist=read.shortlist,
        usd=read.cost_usd,
        ms=read.latency_ms,
        degraded=read.degraded,
        tokens=sweep(lines, most, count),
    )


def _tells(parts: Sequence[ReadPart]) -> tuple[bool, bool]:
    """Whether an arm names sources, and a shortlist.

    Asked of all that it read: where it found nothing, it tells just that.
    """
    reads = [read for part in parts for read in part.reads]
    return any(any(each.sources) for each in reads), any(each.shortlist for each in reads)


def _tokens_at(talks: Sequence[Talk], parts: Sequence[ReadPart]) -> tuple[float, ...]:
    """Mean over the questions that count for accuracy; over all where none does."""
    abstentions = {task.id for talk in talks for task in talk.tasks if task.abstention}
    reads = [read for part in parts for read in part.reads]
    counted = [read for read in reads if read.task not in abstentions] or reads
    return tuple(fmean(column) for column in zip(*(read.tokens for read in counted), strict=True))


async def _answered(
    work: _Work, talk: Talk, part: ReadPart, tells: tuple[bool, bool]
) -> tuple[Row, ...]:
    """A conversation's rows, answered unless the study asks for none, or as they were kept."""
    study, arm = work.study, work.arm
    ks = ks_of(arm, study.ks)
    rows = _rows(study, talk, part, ks, tells)
    if not study.answers:
        return rows
    asked = [dict(study.models.named()), dict(study.models.prompts())]
    lines = [read.model_dump(mode="json") for read in part.reads]
    key = canonical_hash([part.key, lines, ks, asked])
    known = study.folder.part(AnswerPart, arm.name, talk.id, key)
    if known is None:
        failed = len(work.failed)
        with (
            study.models.stage("answer", arm.name),
            _timed(study, arm, talk, "answer", len(rows)),
        ):
            known = AnswerPart(key=key, said=await _ask_all(work, talk, rows))
        if len(work.failed) == failed:
            study.folder.keep(known, arm.name, talk.id)
    said = {(each.task, each.k): each.model_dump() for each in known.said}
    return tuple(row.model_copy(update=said.get((row.task, row.k), {})) for row in rows)


def _rows(
    study: Study, talk: Talk, part: ReadPart, ks: Sequence[int], tells: tuple[bool, bool]
) -> tuple[Row, ...]:
    """What is to be answered."""
    sources, shortlist = tells
    rows = []
    for task, read in zip(talk.tasks, part.reads, strict=True):
        wanted = set(task.evidence)
        for k in ks:
            lines = read.lines[:k]
            known = 0 < k <= len(read.tokens)
            rows.append(
                Row(
                    task=task.id,
                    conversation=talk.id,
                    category=task.category,
                    k=k,
                    question=task.text,
                    gold=task.answer,
                    abstention=task.abstention,
                    scored=task.scored,
                    lines=lines,
                    tokens=read.tokens[k - 1] if known else tokens(lines, study.count),
                    ended=sum(read.ended[:k]),
                    ended_at=tuple(n for n, over in enumerate(read.ended[:k]) if over),
                    evidence=task.evidence,
                    shortlisted=len(wanted & set(read.shortlist)) if shortlist else None,
                    kept=len(wanted & set(read.sources[:k])) if sources else None,
                    read_usd=read.usd,
                    read_ms=read.ms,
                    degraded=read.degraded,
                )
            )
    return tuple(rows)


async def _ask_all(work: _Work, talk: Talk, rows: Sequence[Row]) -> tuple[Said, ...]:
    """What was answered to ``rows``, and judged; nothing for one that could not be.

    Raises:
        EngramError: the run must end; what was asked by then has been waited for.
    """
    study = work.study
    places = asyncio.Semaphore(study.parallel)
    ended: list[EngramError] = []
    finished = 0
    with study.bar(f"{work.arm.name}: answering {talk.id}") as progress:

        async def ask(row: Row) -> Said | None:
            nonlocal finished
            async with places:
                if ended:
                    return None
                try:
                    said = await _ask(study.models, row)
                except EngramError as error:
                    said = None
                    if (stop := _stop(study.models)) is not None:
                        ended.append(stop)
                    why = f"{row.task} at k {row.k}: not answered: {error.message}"
                    work.failed.append(why)
                finished += 1
                progress(finished, len(rows))
                return said

        asked = await asyncio.gather(*map(ask, rows))
    if ended:
        raise ended[0]
    study.models.check()
    return tuple(said for said in asked if said is not None)


async def _ask(models: AnsweringModels, row: Row) -> Said:
    answer = await models.answer(row.question, row.lines)
    judged = await models.judge(row.question, row.gold, answer.text, abstention=row.abstention)
    return Said(
        task=row.task,
        k=row.k,
        answer=answer.text,
        label=judged.label,
        answer_usd=answer.usd,
        judge_usd=judged.usd,
        answer_ms=answer.ms,
    )


def _stop(models: AnsweringModels) -> EngramError | None:
    """Why the run must end, if it must."""
    try:
        models.check()
    except EngramError as error:
        return error
    return None


@contextmanager
def _timed(study: Study, arm: Arm, talk: Talk, stage: str, count: int) -> Iterator[None]:
    """Keep how long it took on the clock, also when it failed."""
    began = time.perf_counter()
    try:
        yield
    finally:
        took = round(time.perf_counter() - began, 4)
        study.folder.timed(
            arm=arm.name, conversation=talk.id, stage=stage, count=count, wall_s=took
        )


def ks_of(arm: Arm, asked: Sequence[int]) -> tuple[int, ...]:
    """The sizes at which an arm is answered, ascending; its own if none are asked for."""
    whole = tuple(arm.ks) == (arm.limit,)  # it gives all it has, or nothing that means anything
    return tuple(sorted(set(arm.ks if whole or not asked else asked)))


def asked_for(study: Study, **more: object) -> Mapping[str, object]:
    """What may not differ between two runs in one folder."""
    return {
        "dataset": study.dataset.name,
        "split": study.dataset.split,
        "digest": study.dataset.digest,
        "counted_by": study.counted_by,
        "models": dict(study.models.named()),
        "prompts": dict(study.models.prompts()),
        **more,
    }

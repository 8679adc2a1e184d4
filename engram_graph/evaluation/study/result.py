"""The result file of one arm over one dataset: everything that tables, tests and plots are made of.

One JSON object, keys sorted. A replay writes the same bytes: it holds recorded latencies and
nominal costs, no clock, no id of the database, and nothing that was measured on the spot.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from engram_graph.errors import InputError

FORMAT: Final = "engram-study/1"
SUFFIX = ".result.json"
Label = Literal["CORRECT", "WRONG"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Row(_Part):
    """One question at one k.

    Attributes:
        task: the question's id. gold: the right answer; what an abstention should say is not told.
        answer, label: of the answering model and the judge; None where nobody was asked.
        lines: the memory block, best first. tokens: of that block, less those of an empty one.
        ended: how many of ``lines`` the arm marked as no longer true; ``ended_at``: which, from 0.
        evidence: source ids. shortlisted: pieces of it among what was found; None if unknown.
            kept: pieces of it in ``lines``; None if the arm names no sources.
        read_usd, answer_usd, judge_usd: nominal costs; None when unknown.
        read_ms, answer_ms: recorded latency of the models asked.
        degraded: what fell back while reading.
    """

    task: str
    conversation: str
    category: str
    k: int
    question: str
    gold: str
    abstention: bool = False
    scored: bool = True
    answer: str | None = None
    label: Label | None = None
    lines: tuple[str, ...] = ()
    tokens: int = 0
    ended: int = 0
    ended_at: tuple[int, ...] = ()
    evidence: tuple[str, ...] = ()
    shortlisted: int | None = None
    kept: int | None = None
    read_usd: float | None = 0.0
    answer_usd: float | None = 0.0
    judge_usd: float | None = 0.0
    read_ms: float = 0.0
    answer_ms: float = 0.0
    degraded: tuple[str, ...] = ()


class Store(_Part):
    """What writing one conversation left; see ``records.Written``."""

    turns: int
    facts: int = 0
    active: int = 0
    tentative: int = 0
    disputed: int = 0
    same_as: int = 0
    counters: dict[str, int] = Field(default_factory=dict)
    closes: tuple[dict[str, Any], ...] = ()
    beliefs: tuple[dict[str, Any], ...] = ()
    cost_usd: dict[str, float | None] = Field(default_factory=dict)
    latency_ms: tuple[float, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()

    @field_validator("closes")
    @classmethod
    def _names_sources(cls, closes: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
        for close in closes:
            for name in ("old_sources", "new_sources"):
                ids = close.get(name)
                if not isinstance(ids, list | tuple) or not all(isinstance(i, str) for i in ids):
                    raise ValueError(f"a close without {name}")
        return closes


class Result(_Part):
    """All of an arm over a dataset.

    Attributes:
        dataset: ``locomo``, ``longmemeval``, ``updates``. split: as asked for. digest: of the
            conversations and questions that were put.
        flags: the arm's switches. models: purpose → model. prompts: purpose → version.
        counted_by: what counted tokens. tokens_at: mean tokens of the block at k = 1, 2, ….
        conversations: id → what writing it left. rows: by question, then k.
        scores: of a benchmark that is scored without a model; empty for others.
    """

    format: Literal["engram-study/1"] = FORMAT
    dataset: str
    split: str
    digest: str
    arm: str
    about: str
    flags: dict[str, Any] = Field(default_factory=dict)
    models: dict[str, str] = Field(default_factory=dict)
    prompts: dict[str, str] = Field(default_factory=dict)
    counted_by: str = "estimate"
    tokens_at: tuple[float, ...] = ()
    conversations: dict[str, Store] = Field(default_factory=dict)
    rows: tuple[Row, ...] = ()
    scores: dict[str, Any] = Field(default_factory=dict)

    @field_validator("scores")
    @classmethod
    def _by_size(cls, scores: dict[str, Any]) -> dict[str, Any]:
        for name in ("k", "tokens"):
            sizes = scores.get(name, {})
            if not isinstance(sizes, dict) or not all(
                size.isascii() and size.isdigit() and isinstance(of, dict)
                for size, of in sizes.items()
            ):
                raise ValueError(f"{name} holds no scores by size")
        return scores

    @property
    def ks(self) -> tuple[int, ...]:
        """The sizes that were answered, ascending."""
        return tuple(sorted({row.k for row in self.rows}))

    def at(self, k: int) -> tuple[Row, ...]:
        """The rows of that k.

        Raises:
            InputError: none was answered at it.
        """
        found = tuple(row for row in self.rows if row.k == k)
        if not found:
            raise InputError(
                f"{self.arm} was not answered at k = {k}",
                hint="It was at " + (", ".join(map(str, self.ks)) or "none"),
                field="k",
            )
        return found


def write_result(result: Result, folder: Path) -> Path:
    """Write it as ``DATASET.ARM.result.json`` in ``folder``; the path."""
    path = folder / f"{result.dataset}.{result.arm}{SUFFIX}"
    text = json.dumps(result.model_dump(mode="json"), indent=1, sort_keys=True, ensure_ascii=False)
    unfinished = path.with_suffix(".part")
    unfinished.write_text(text + "\n", encoding="utf-8")
    unfinished.replace(path)
    return path


def read_result(path: str | Path) -> Result:
    """A result file.

    Raises:
        InputError: no such file, another format, or a question twice at one k.
    """
    name = Path(path).name
    try:
        result = Result.model_validate_json(Path(path).read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise InputError(f"{name} cannot be read: {reason}", field="file") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(
            f"{name} is no result file: {where}: {first['msg']}",
            hint="Result files are written by engram eval locomo, longmemeval and updates.",
            field="file",
        ) from None
    if len({(row.task, row.k) for row in result.rows}) < len(result.rows):
        raise InputError(
            f"{name} is no result file: a question comes twice at one k",
            hint="Result files are written whole; run it again in its folder.",
            field="file",
        )
    return result


def read_results(places: list[str]) -> list[Result]:
    """Result files, and all of those in folders, ordered by dataset and arm.

    Raises:
        InputError: one cannot be read, or there is none.
    """
    paths = [
        path
        for place in places
        for path in (
            sorted(Path(place).rglob(f"*{SUFFIX}")) if Path(place).is_dir() else [Path(place)]
        )
    ]
    if not paths:
        raise InputError(
            "no result files there", hint=f"They are called DATASET.ARM{SUFFIX}", field="file"
        )
    return sorted(map(read_result, paths), key=lambda each: (each.dataset, each.arm))

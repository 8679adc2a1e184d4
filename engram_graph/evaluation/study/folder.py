"""The folder of a run: what was asked for, and what is finished, so that a run can go on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, ValidationError

from engram_graph.adapters.recording import canonical_hash
from engram_graph.errors import ConfigurationError, InputError
from engram_graph.evaluation.study.result import Label, Store

FORMAT: Final = "engram-run/1"
_NAME = 150  # of a file, without its ending: most file systems take 255 bytes
_ASKED, _TIMINGS, _LOCK = "study.json", "timings.jsonl", ".lock"


class TaskRead(BaseModel):
    """What an arm gave for one question.

    Attributes:
        sources, ended: of each line. tokens: of the block at k = 1, 2, ….
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    task: str
    lines: tuple[str, ...]
    sources: tuple[str | None, ...]
    ended: tuple[bool, ...]
    shortlist: tuple[str, ...]
    usd: float | None
    ms: float
    degraded: tuple[str, ...]
    tokens: tuple[int, ...]


class ReadPart(BaseModel):
    """A conversation that is written and read. ``key``: of all it depends on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    store: Store
    reads: tuple[TaskRead, ...]


class Said(BaseModel):
    """The answer to one question at one k, and its label; fields as those of ``Row``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    task: str
    k: int
    answer: str
    label: Label
    answer_usd: float | None
    judge_usd: float | None
    answer_ms: float


class AnswerPart(BaseModel):
    """A conversation that is answered and judged. ``key``: of all it depends on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    said: tuple[Said, ...]


P = TypeVar("P", ReadPart, AnswerPart)


class Folder:
    """The folder ``path``, made if it is not there.

    Raises:
        ConfigurationError: it cannot be made or written to.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigurationError(
                f"{self.path} cannot be the folder of a run: {error.strerror}", hint="Pass another."
            ) from None

    def claim(self, asked: Mapping[str, Any]) -> None:
        """Keep what a run was asked for; a run of something else is refused.

        Raises:
            InputError: the folder holds another run; ``differs`` names what is not the same.
        """
        known = self._asked()
        if known is None:
            self._save({"format": FORMAT, "asked": dict(asked), "arms": {}})
            return
        before = known["asked"]
        differs = sorted(
            key for key in {*before, *asked} if before.get(key) != _plain(asked.get(key))
        )
        if differs:
            raise InputError(
                f"{self.path.name} holds a run with another {', '.join(differs)}",
                hint="Pass another folder; --recording may name the recording in this one.",
                field="out",
                differs=differs,
            )

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes out; the system lets go of it if this one dies.

        Raises:
            ConfigurationError: another process runs in this folder.
        """
        from filelock import FileLock, Timeout

        lock = FileLock(self.path / _LOCK, timeout=0)
        try:
            lock.acquire()
        except Timeout:
            raise ConfigurationError(
                f"another run is going on in {self.path.name}",
                hint="Wait for it, or pass another folder.",
            ) from None
        except OSError as error:
            raise ConfigurationError(
                f"{self.path} cannot be the folder of a run: {error.strerror}", hint="Pass another."
            ) from None
        try:
            yield
        finally:
            lock.release()

    def tell(self, arm: str, state: str, why: str | None = None) -> None:
        """Keep what became of an arm: ``done``, ``cannot run``, ``failed``, ``stopped``."""
        known = self._asked() or {"format": FORMAT, "asked": {}, "arms": {}}
        known["arms"][arm] = {"state": state} | ({"why": why} if why else {})
        self._save(known)

    def part(self, kind: type[P], arm: str, conversation: str, key: str) -> P | None:
        """A finished part, if there is one for exactly this ``key``."""
        try:
            text = self._part(kind, arm, conversation).read_text(encoding="utf-8")
            found = kind.model_validate_json(text)
        except (OSError, ValidationError, UnicodeDecodeError):
            return None  # what cannot be read is made again
        return found if found.key == key else None

    def keep(self, part: P, arm: str, conversation: str) -> None:
        """Keep a finished part."""
        path = self._part(type(part), arm, conversation)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, part.model_dump(mode="json"))

    def keep_tokens(self, dataset: str, arm: str, data: Mapping[str, Any]) -> None:
        """Keep how long an arm's blocks are: ``DATASET.ARM.tokens.json``."""
        write_json(self.path / f"{dataset}.{arm}.tokens.json", data)

    def timed(self, **row: Any) -> None:
        """Add a measured time; it is no part of a result."""
        with (self.path / _TIMINGS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, sort_keys=True) + "\n")

    def timings(self) -> list[dict[str, Any]]:
        """All measured times, oldest first."""
        path = self.path / _TIMINGS
        if not path.exists():
            return []
        rows = []
        for line in path.read_text(encoding="utf-8").splitlines():
            with suppress(ValueError):  # a killed run may leave a row unfinished
                rows.append(json.loads(line))
        return rows

    def _part(self, kind: type[Any], arm: str, conversation: str) -> Path:
        # An id comes from a file: it must not lead out of the folder.
        name = quote(conversation, safe="")
        if len(name) > _NAME:
            name = f"{name[:_NAME]}-{canonical_hash(conversation)[:16]}"
        suffix = ".read.json" if kind is ReadPart else ".json"
        return self.path / "parts" / arm / f"{name}{suffix}"

    def _asked(self) -> dict[str, Any] | None:
        path = self.path / _ASKED
        try:
            known = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            known = None
        match known:
            case {"format": "engram-run/1", "asked": dict(asked), "arms": dict(arms)}:
                return {"format": FORMAT, "asked": asked, "arms": arms}
            case _:
                raise InputError(
                    f"{path.name} in {self.path.name} is not of a run", hint="Pass another folder."
                )

    def _save(self, known: Mapping[str, Any]) -> None:
        write_json(self.path / _ASKED, known)


def write_json(path: Path, data: Any) -> None:
    """Write it whole or not at all, keys sorted."""
    text = json.dumps(data, indent=1, sort_keys=True, ensure_ascii=False)
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_text(text + "\n", encoding="utf-8")
    unfinished.replace(path)


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value))

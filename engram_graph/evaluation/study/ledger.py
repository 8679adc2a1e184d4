"""The ledger of a study: what every call to a model used, what each stage spent, and the caps.

``ledger.jsonl`` holds two kinds of rows. A ``usage`` row for each call: its purpose, model, tokens,
latency and nominal cost, and whether it was replayed (``cached``; it then cost nothing, and its
tokens are not told). A ``spend`` row for each stage: what its new calls cost, by who is paid, and
how long it took. Caps count new calls only, over the usage rows, which are there even if a run was
killed.
"""

from __future__ import annotations

import json
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from engram_graph import clock
from engram_graph.adapters.recording import Asked, Recorded, Tokens
from engram_graph.errors import BudgetError, ConfigurationError, InputError
from engram_graph.evaluation.study.records import Tally
from engram_graph.models.decisions import total_cost

FILE: Final = "ledger.jsonl"
TOTAL: Final = "total"
PROVIDERS = ("openai", "jev", "anthropic", "openrouter")
Spend = defaultdict[str, float]
"""USD by who is paid."""
_PARTS = {"decision": "decisions", "escalation": "escalations", "embedding": "embeddings"}
_AGAIN = "Then give the same command again: it goes on, and what is recorded stays free."


@dataclass(frozen=True, slots=True)
class Caps:
    """What may be spent, in USD by provider (``openai``, ``jev``, …) or ``total``; none: no cap.

    Attributes:
        run: of one run's folder, however often it was stopped. study: of all runs together.

    Raises:
        ConfigurationError: no such provider, or no number of 0 or more.
    """

    run: Mapping[str, float] = field(default_factory=dict)
    study: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, usd in (*self.run.items(), *self.study.items()):
            if name not in (*PROVIDERS, TOTAL):
                raise ConfigurationError(
                    f"a cap names a provider, not {name!r}",
                    hint="One of " + ", ".join((*PROVIDERS, TOTAL)) + ".",
                )
            if not 0 <= usd < math.inf:
                raise ConfigurationError("a cap must be a number of 0 or more")


@dataclass(slots=True)
class _Stage:
    name: str = ""
    system: str = ""
    spend: Spend = field(default_factory=lambda: defaultdict(float))


_stage: ContextVar[_Stage | None] = ContextVar("engram_graph.study.stage", default=None)
_Heard = list[tuple[str, Recorded]]  # purpose and call
_heard: ContextVar[tuple[_Heard, ...]] = ContextVar("engram_graph.study.heard", default=())


class Ledger:
    """Writes the rows of one run, and stops it at a cap. A recording's watcher.

    The charge that crosses a cap is still written; then that call raises, and so does every new
    one. What is replayed goes on.

    Args:
        path: the run's ``ledger.jsonl``; made when it does not exist, else added to.
        run_id: of this process, in every row.
        payee: who is paid for a call; None for a call on this machine.
        study: another ledger, or a folder with those of other runs, for the caps of a study.
        offline: no new call may be made at all.

    Raises:
        InputError: a ledger cannot be read.
    """

    def __init__(
        self,
        path: Path,
        *,
        run_id: str,
        payee: Callable[[Asked], str | None],
        caps: Caps | None = None,
        study: Path | None = None,
        offline: bool = False,
    ) -> None:
        self.path = path
        self._run_id = run_id
        self._payee = payee
        self._caps = caps or Caps()
        self._offline = offline
        self._stopped: tuple[str, str] | None = None
        self.spent_run = spent(path)
        _drop_cut_row(path)
        self.spent_study = self.spent_run.copy()
        for other in _others(study, path):
            _merge(self.spent_study, spent(other))

    def before(self, asked: Asked) -> None:
        """Refuse a new call where none may be made.

        Raises:
            BudgetError: a cap was crossed, or this run is a replay.
        """
        self.check()
        if self._offline:
            self._stop(
                f"this {asked.kind} is not recorded, and a replay makes no call",
                "It was recorded with other texts, options, versions or models, or not at all; "
                "without a budget of 0 it is made.",
            )
        self._check_caps(self._payee(asked))

    def after(self, asked: Asked, call: Recorded, tokens: Tokens | None) -> None:
        """Count a call.

        Raises:
            BudgetError: it crossed a cap; it is written.
        """
        cached = tokens is None
        payee = self._payee(asked)
        row = {
            "row": "usage",
            "ts": _now(),
            "run_id": self._run_id,
            **_of_stage(),
            "purpose": asked.kind,
            "payee": payee,
            "model": ":".join(filter(None, (asked.backend, asked.model))),
            "tokens_in": tokens[0] if tokens else None,
            "tokens_out": tokens[1] if tokens else None,
            "latency_ms": call.latency_ms,
            "cost_usd": call.cost_usd,
            "cached": cached,
        }
        self._write(row)
        for heard in _heard.get():
            heard.append((asked.kind, call))
        if cached or payee is None:
            return
        for spend in (self.spent_run, self.spent_study, *_spend_here()):
            spend[payee] += call.cost_usd or 0.0
        if call.cost_usd is None and not call.failed and self._is_capped(payee):
            self._stop(
                f"the cost of a call to {asked.model or asked.backend} is unknown, and {payee} "
                "has a cap",
                "Set the prices: ENGRAM_LLM_USD_PER_MILLION_INPUT, …_OUTPUT and "
                f"ENGRAM_EMBEDDING_USD_PER_MILLION. {_AGAIN}",
            )
        self._check_caps(payee)

    def check(self) -> None:
        """Raise again what stopped the run, if something did.

        Raises:
            BudgetError: a cap was crossed, or a replay asked for what is not recorded.
        """
        if self._stopped:
            raise BudgetError(self._stopped[0], hint=self._stopped[1])

    @contextmanager
    def stage(self, name: str, system: str) -> Iterator[None]:
        """What is asked within belongs to a stage; its spend row is written however it ends."""
        stage = _Stage(name, system)
        before = _stage.set(stage)
        began = time.perf_counter()
        try:
            yield
        finally:
            _stage.reset(before)
            spend = {payee: stage.spend[payee] for payee in PROVIDERS}
            self._write(
                {
                    "row": "spend",
                    "ts": _now(),
                    "stage": name,
                    "system": system,
                    "run_id": self._run_id,
                    "spend": spend,
                    "wall_s": round(time.perf_counter() - began, 3),
                }
            )

    def _check_caps(self, payee: str | None) -> None:
        """Stop where what ``payee``, or all together, got is over a cap."""
        for what, caps, spend in (
            ("run", self._caps.run, self.spent_run),
            ("study", self._caps.study, self.spent_study),
        ):
            for name in caps.keys() & {payee, TOTAL} if payee else ():
                cap = caps[name]
                used = math.fsum(spend.values()) if name == TOTAL else spend[name]
                if used > cap or used == cap == 0:
                    self._stop(
                        f"this {what} spent ${used:.4f} ({name}), its cap of ${cap:g} is reached",
                        f"Raise the cap to go on. {_AGAIN}",
                    )

    def _is_capped(self, payee: str) -> bool:
        return not {payee, TOTAL}.isdisjoint((*self._caps.run, *self._caps.study))

    def _stop(self, message: str, hint: str) -> None:
        self._stopped = message, hint
        self.check()

    def _write(self, row: dict[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


@contextmanager
def tally() -> Iterator[Tally]:
    """What is asked within the block, by any client of the study; added up when it is left.

    Exactly, so that it does not matter which of several calls at a time came first.
    """
    one, heard = Tally(), _Heard()
    before = _heard.set((*_heard.get(), heard))
    try:
        yield one
    finally:
        _heard.reset(before)
        one.calls = len(heard)
        one.latency_ms = math.fsum(call.latency_ms for _, call in heard)
        for kind in sorted({kind for kind, _ in heard}):
            costs = [call.cost_usd for each, call in heard if each == kind]
            one.cost_usd[_PARTS.get(kind, kind)] = total_cost(costs)


def spent(path: Path) -> Spend:
    """What the new calls of a ledger cost, by who was paid; empty without a file.

    A last line that was cut short is left out.

    Raises:
        InputError: it cannot be read, or holds other lines.
    """
    found: Spend = defaultdict(float)
    try:
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path.name} cannot be read: {type(error).__name__}") from None
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            if row["row"] == "usage" and not row["cached"] and row["payee"]:
                found[row["payee"]] += row["cost_usd"] or 0.0
        except (ValueError, KeyError, TypeError):
            if number < len(lines):
                raise InputError(
                    f"{path.name}, line {number}: no row of a ledger", field="ledger"
                ) from None
    return found


def _drop_cut_row(path: Path) -> None:
    """Take away a last row that a killed run left unfinished, so that the next is not lost too."""
    raw = path.read_bytes() if path.exists() else b""
    if raw and not raw.endswith(b"\n"):
        path.write_bytes(raw[: raw.rfind(b"\n") + 1])


def _others(study: Path | None, own: Path) -> list[Path]:
    if study is None:
        return []
    found = sorted(study.rglob(FILE)) if study.is_dir() else [study]
    return [each for each in found if each.resolve() != own.resolve()]


def _of_stage() -> dict[str, str]:
    stage = _stage.get() or _Stage()
    return {"stage": stage.name, "system": stage.system}


def _merge(spend: Spend, more: Spend) -> None:
    for payee, usd in more.items():
        spend[payee] += usd


def _spend_here() -> tuple[Spend, ...]:
    stage = _stage.get()
    return (stage.spend,) if stage else ()


def _now() -> str:
    return clock.now().isoformat()

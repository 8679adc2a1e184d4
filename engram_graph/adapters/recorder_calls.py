"""What all recorders share: look a call up, make it when it is not there, keep what came."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from weakref import WeakValueDictionary

from engram_graph import clock
from engram_graph.adapters import usage
from engram_graph.adapters.recording import Asked, Json, Recorded, Recording
from engram_graph.adapters.usage import Used
from engram_graph.errors import ConfigurationError, EngramError

_REFUSED = frozenset({400, 413, 422})


@dataclass(frozen=True, slots=True)
class Made:
    """What a call gave that was made.

    Attributes:
        answer: plain JSON values. cost_usd: None for what the adapters within tell of it.
        latency_ms: None leaves it to be timed.
        keep: whether it is the whole answer.
    """

    answer: Json
    cost_usd: float | None = None
    latency_ms: float | None = None
    keep: bool = True


class Recorder:
    """Looks a call up in a recording, makes it when it is not there, and keeps what came.

    A failure is kept only where a server read the request and refused it (HTTP 400, 413, 422): it
    would again. Outages, keys, caps and broken replies are not. Two equal calls at the same moment
    are made once.

    Args:
        budget_usd: what new calls may cost, counted by their known cost over all users of
            ``recording``; the call that crosses it is still kept. None for no cap. 0: what is not
            recorded is an error, and nothing is sent.
        failure: the error of a call that fails. missing: of one that may not be made.

    Raises:
        ConfigurationError: a budget below 0, or no number.
    """

    def __init__(
        self,
        recording: Recording,
        *,
        budget_usd: float | None,
        failure: type[EngramError],
        missing: type[EngramError],
    ) -> None:
        if budget_usd is not None and not budget_usd >= 0:
            raise ConfigurationError("budget_usd must be a number of 0 or more")
        self._recording = recording
        self._budget_usd = budget_usd
        self._failure = failure
        self._missing = missing
        self._under_way: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def call(
        self, asked: Asked, make: Callable[[], Awaitable[Made]] | None
    ) -> tuple[Recorded, bool]:
        """What the call gave, and whether it was replayed; without ``make`` as with a budget of 0.

        Raises:
            EngramError: as ``make`` raised it, now or when it was recorded; or ``missing``.
        """
        watcher = self._recording.watcher
        lock = self._under_way.setdefault(asked.key, asyncio.Lock())
        async with lock:
            known = await self._recording.get(asked)
            if known is None:
                if watcher is not None:
                    watcher.before(asked)
                if make is None or self._budget_usd == 0:
                    raise self._not_recorded(asked)
                self._check_budget(self._budget_usd)
                return await self._make(asked, make), False
        if watcher is not None:
            watcher.after(asked, known, None)
        self._raise_if_failed(known)
        return known, True

    async def call_together(
        self,
        asked: Sequence[Asked],
        sizes: Sequence[float],
        make: Callable[[Sequence[int]], Awaitable[list[Made]]] | None,
    ) -> list[Recorded]:
        """What several calls gave; those that are not recorded are made as one.

        A failure is never kept: it does not tell which of them was at fault.

        Args:
            sizes: by which cost, latency and tokens of what is made are parted among the calls.
            make: gives what the calls at these places of ``asked`` give.

        Raises:
            EngramError: as of ``call``.
        """
        watcher = self._recording.watcher
        places = {each.key: place for place, each in reversed(list(enumerate(asked)))}
        found: dict[str, Recorded] = {}
        for key, place in places.items():
            known = await self._recording.get(asked[place])
            if known is not None:
                found[key] = known
                if watcher is not None:
                    watcher.after(asked[place], known, None)
        lost = [place for key, place in places.items() if key not in found]
        if lost:
            if watcher is not None:
                watcher.before(asked[lost[0]])
            if make is None or self._budget_usd == 0:
                raise self._not_recorded(asked[lost[0]])
            self._check_budget(self._budget_usd)
            parts = [sizes[place] for place in lost]
            made = await self._make_together([asked[place] for place in lost], parts, lost, make)
            found |= made
        return [found[each.key] for each in asked]

    async def aclose(self) -> None:
        """Close the file; a later call opens it again."""
        await self._recording.aclose()

    def _raise_if_failed(self, call: Recorded) -> None:
        if call.failed:
            told = call.answer
            raise self._failure(told["message"], hint=told["hint"], **told["details"])

    async def _make(self, asked: Asked, make: Callable[[], Awaitable[Made]]) -> Recorded:
        began = time.perf_counter()
        try:
            with usage.counted() as used:
                made = await make()
        except self._failure as error:
            told = {"message": error.message, "hint": error.hint, "details": error.details}
            failed = Recorded(told, _since(began), used.cost_usd, clock.now(), failed=True)
            refused = type(error) is self._failure and error.details.get("status") in _REFUSED
            await self._done(asked, failed, used, keep=refused)
            raise
        recorded = Recorded(
            made.answer,
            _since(began) if made.latency_ms is None else made.latency_ms,
            used.cost_usd if made.cost_usd is None else made.cost_usd,
            clock.now(),
        )
        await self._done(asked, recorded, used, keep=made.keep)
        return recorded

    async def _make_together(
        self,
        asked: Sequence[Asked],
        sizes: Sequence[float],
        places: Sequence[int],
        make: Callable[[Sequence[int]], Awaitable[list[Made]]],
    ) -> dict[str, Recorded]:
        began = time.perf_counter()
        with usage.counted() as used:
            answers = await make(places)
        latency_ms, whole = _since(began), sum(sizes) or 1.0
        found = {}
        for each, size, made in zip(asked, sizes, answers, strict=True):
            share = size / whole
            cost_usd = None if used.cost_usd is None else used.cost_usd * share
            call = Recorded(made.answer, latency_ms * share, cost_usd, clock.now())
            read = None if used.input_tokens is None else round(used.input_tokens * share)
            await self._done(each, call, Used(read), keep=True)
            found[each.key] = call
        return found

    async def _done(self, asked: Asked, call: Recorded, used: Used, *, keep: bool) -> None:
        self._recording.charge(call.cost_usd or 0.0)
        try:
            # Counted first: of a run that is killed in between, no spending is lost.
            if self._recording.watcher is not None:
                tokens = used.input_tokens, used.output_tokens
                self._recording.watcher.after(asked, call, tokens)
        finally:
            if keep:
                await self._recording.put(asked, call)

    def _check_budget(self, budget_usd: float | None) -> None:
        spent = self._recording.spent_usd
        if budget_usd is not None and spent >= budget_usd:
            raise self._missing(
                f"the cap of ${budget_usd:g} for calls that are not recorded is reached",
                hint="Raise it to go on; what is recorded stays free.",
                spent_usd=spent,
            )

    def _not_recorded(self, asked: Asked) -> EngramError:
        return self._missing(
            f"this {asked.kind} is not in the recording {self._recording.path.name}",
            hint="It was recorded with other texts, options, versions or models; "
            "`engram recording FILE` tells which models.",
            key=asked.key,
        )


def _since(began: float) -> float:
    return (time.perf_counter() - began) * 1000

"""One endpoint, asked at a steady pace and again when it is worth it.

Source: jev-api §7. No redirect is followed: it would carry key and text elsewhere.
"""

from __future__ import annotations

import email.utils
import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import anyio
import httpx

from engram_graph.errors import DecisionInvalidError, DecisionUnavailableError

MAX_RETRIES = 2
BUDGET_S = 30.0
"""Of one call, tries and waits together."""
_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 5.0
_JITTER = 0.25


@dataclass(frozen=True, slots=True)
class Timing:
    """Where time comes from; tests put their own here."""

    now: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    jitter: Callable[[], float] = random.random


class Endpoint:
    """POSTs to one URL.

    Args:
        headers: sent with every request; never logged, never part of an error.
        timeout_s: of each step of a request (connect, send, receive).
        rate_per_s: requests begun per second, retries included.
    """

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str],
        timeout_s: float,
        rate_per_s: float,
        transport: httpx.AsyncBaseTransport | None = None,
        timing: Timing | None = None,
    ) -> None:
        self._url = url
        self._headers = dict(headers)
        self._timeout_s = timeout_s
        self._gap_s = 1.0 / rate_per_s
        self._transport = transport
        self._timing = timing or Timing()
        self._next_slot = -math.inf
        self._made: httpx.AsyncClient | None = None

    async def post(self, body: bytes, before: Callable[[], None]) -> httpx.Response:
        """The first reply that is not worth another try, whatever its status.

        Args:
            before: called before every try; what it raises ends the call.

        Raises:
            DecisionUnavailableError: no reply came.
            DecisionInvalidError: a reply that cannot be decoded.
        """
        await self._pace()
        began = self._timing.now()
        for tries in range(MAX_RETRIES + 1):
            if tries:
                await self._pace()
            before()
            left = BUDGET_S - (self._timing.now() - began)
            reply, broken = await self._once(body, max(left, 0.001))
            if reply is not None and not _passing(reply.status_code):
                return reply
            wait = self._wait(reply, tries)
            late = self._timing.now() - began + wait >= BUDGET_S
            if tries == MAX_RETRIES or late:
                if reply is not None:
                    return reply
                raise DecisionUnavailableError(
                    f"the decision API {broken}",
                    hint="Check the network and the base URL; the next write asks it again.",
                )
            await self._timing.sleep(wait)
        raise AssertionError("the last try returns or raises")

    async def aclose(self) -> None:
        """Close the connections; a later ``post`` opens new ones."""
        client, self._made = self._made, None
        if client is not None:
            await client.aclose()

    async def _once(self, body: bytes, left_s: float) -> tuple[httpx.Response | None, str]:
        """The reply, or None and what went wrong; ``from None``: errors carry the request."""
        try:
            with anyio.fail_after(left_s):
                return await self._client().post(self._url, content=body), ""
        except (httpx.TimeoutException, TimeoutError):
            return None, f"did not answer within {min(self._timeout_s, left_s):.3g} s"
        except (httpx.UnsupportedProtocol, httpx.LocalProtocolError) as error:
            raise DecisionUnavailableError(
                f"the decision API cannot be asked: {type(error).__name__}",
                hint="Check the base URL.",
            ) from None
        except httpx.TransportError as error:
            return None, f"cannot be reached: {type(error).__name__}"
        except httpx.RequestError as error:
            raise DecisionInvalidError(
                f"the decision API's reply cannot be decoded: {type(error).__name__}"
            ) from None

    async def _pace(self) -> None:
        now = self._timing.now()
        slot = max(now, self._next_slot)
        self._next_slot = slot + self._gap_s
        if slot > now:
            await self._timing.sleep(slot - now)

    def _wait(self, reply: httpx.Response | None, tries: int) -> float:
        asked = retry_after(reply.headers, self._timing.wall()) if reply is not None else None
        if asked is not None:
            return asked
        wait = min(_FIRST_WAIT_S * 2.0**tries, _LONGEST_WAIT_S)
        return wait * (1.0 - _JITTER * self._timing.jitter())

    def _client(self) -> httpx.AsyncClient:
        if self._made is None:
            self._made = httpx.AsyncClient(
                headers=self._headers,
                timeout=self._timeout_s,
                transport=self._transport,
                follow_redirects=False,
            )
        return self._made


def retry_after(headers: Mapping[str, str], wall: float) -> float | None:
    """Seconds to wait as the server asks; None if it does not say, or makes no sense."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if 0 <= seconds < math.inf:
            return seconds
    try:
        moment = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
    except (ValueError, TypeError, OverflowError):
        return None
    return max(moment.timestamp() - wall, 0.0)


def _passing(status: int) -> bool:
    """Whether the same request may well succeed a little later."""
    return status in (408, 429) or status >= 500

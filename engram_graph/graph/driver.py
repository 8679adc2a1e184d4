"""One connection pool to Neo4j: sessions, retries, and the one map of driver errors to ours."""

from __future__ import annotations

import asyncio
import copy
import logging
import random
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar
from urllib.parse import urlsplit

import neo4j
from neo4j import exceptions as failures

from engram_graph import telemetry
from engram_graph.errors import (
    ConfigurationError,
    DimensionError,
    EmbedderMismatchError,
    EngramError,
    ServerVersionError,
    StoreError,
    StoreUnavailableError,
)
from engram_graph.graph import places
from engram_graph.graph.places import Vectors
from engram_graph.graph.queries import NamedQuery, load

OLDEST = (2026, 2)
_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
_CONNECT_SECONDS = 15.0  # also for a port that accepts and then says nothing
_RETRY_SECONDS = 30.0
SLOW_SECONDS = 2.0
"""A statement that takes longer is named in the log."""
log = logging.getLogger(__name__)
Row = dict[str, Any]
T = TypeVar("T")


class MovedError(Exception):
    """The vectors are another embedder's, or at another place, than this client knows of."""


class Tx:
    """A running transaction that takes named queries only.

    ``carries``: a vector was written or searched for in it. ``seen``: what was recorded about
    vectors after the last of these, if its statement told (as a column ``vectors``).
    """

    def __init__(
        self, tx: neo4j.AsyncManagedTransaction, place: int, noted: dict[str, str]
    ) -> None:
        self._tx = tx
        self._place = place
        self._noted = noted
        self.carries = False
        self.seen: Vectors | None = None

    async def run(self, query: NamedQuery, **params: Any) -> list[Row]:
        """All rows of ``query`` as plain dicts."""
        if carries := places.carries(params):
            self.carries, self.seen = True, None
        if self._place > 1:
            query = places.at(query, self._place)
            params = {name: places.renamed(value, self._place) for name, value in params.items()}
        with _statement(query.name, self._noted) as span:
            result = await self._tx.run(query.text, params)
            # Maps and lists only, never nodes: data() would walk through every value in vain.
            rows = [dict(record.items()) for record in await result.fetch(_ALL)]  # type: ignore[no-untyped-call]
            span.set_attribute("db.response.returned_rows", len(rows))
        if carries and rows and _TOLD in rows[0]:
            self.seen = _vectors([row.pop(_TOLD) for row in rows])
        return rows


_ALL = 2**31 - 1
_TOLD = "vectors"


class Graph:
    """The store as the rest of the package sees it.

    Reads go to readers and writes to the leader (``neo4j://`` URIs); a bookmark manager makes each
    read see this client's own writes.

    ``vectors``: what was last seen recorded about them. A transaction that wrote one looks at the
    record once more before it commits, and is undone when that says something else by now.
    ``embedder``: model and dimension that this client's vectors are of; None while none fits.
    """

    def __init__(self, uri: str, username: str, password: str, database: str | None = None) -> None:
        self.uri = re.sub(r"//.*@", "//", uri)  # for messages: a password may stand in it
        self._database = database
        self._noted = _noted(self.uri, database)
        try:
            if uri.partition("://")[0] not in _SCHEMES:
                raise ValueError("unknown scheme")
            self._driver = neo4j.AsyncGraphDatabase.driver(
                uri,
                auth=(username, password),
                connection_timeout=5.0,
                connection_acquisition_timeout=20.0,
                max_transaction_retry_time=6.0,
                notifications_min_severity="OFF",
                user_agent="engram_graph",
            )
        except (ValueError, failures.ConfigurationError):
            raise ConfigurationError(
                f"NEO4J_URI is not usable: {self.uri!r}",
                hint="Leave the user and password to NEO4J_USERNAME and NEO4J_PASSWORD."
                if self.uri != uri
                else "Such as bolt://localhost:7687 or neo4j+s://name.databases.neo4j.io",
            ) from None
        self._bookmarks = neo4j.AsyncGraphDatabase.bookmark_manager()
        self.vectors: Vectors | None = None
        self.embedder: tuple[str, int] | None = None
        self._checks = True

    async def connect(self) -> tuple[int, ...]:
        """Check that the server answers and is new enough; its version, such as (2026, 9, 0).

        Raises:
            StoreUnavailableError: it does not answer. ConfigurationError: wrong password.
            ServerVersionError: it is older than 2026.02.
        """
        async with self._mapped(), asyncio.timeout(_CONNECT_SECONDS):
            await self._driver.verify_connectivity()
        row = (await self.read(load("schema")["server_version"]))[0]
        version = parse_version(row["version"])
        if version[:2] < OLDEST:
            await self.close()
            raise ServerVersionError(
                f"Neo4j {row['version']} is too old: engram_graph needs "
                f"{OLDEST[0]}.{OLDEST[1]:02d} or later",
                hint="Upgrade the server, or unset NEO4J_URI to use the embedded one.",
            )
        await self.locate()
        return version

    async def locate(self) -> list[Row]:
        """Read what is recorded about schema and vectors; the row, if there is one."""
        rows = await self.read(load("schema")["read_schema"])
        self.vectors = _vectors(rows)
        return rows

    def unchecked(self) -> Graph:
        """The same pool without the look at the record: for the benchmark's bare statements."""
        bare = copy.copy(self)
        bare._checks = False
        return bare

    async def read(self, query: NamedQuery, **params: Any) -> list[Row]:
        """Rows of a reading statement, retried on transient failures."""
        return await self._managed(
            neo4j.READ_ACCESS, query.name, lambda tx: tx.run(query, **params)
        )

    async def write(self, query: NamedQuery, **params: Any) -> list[Row]:
        """Rows of a writing statement; it must be repeatable."""
        return await self._managed(
            neo4j.WRITE_ACCESS, query.name, lambda tx: tx.run(query, **params)
        )

    async def transact(self, name: str, work: Callable[[Tx], Awaitable[T]]) -> T:
        """Run ``work`` in one writing transaction; it may run twice, so what it does else must be
        repeatable."""
        with telemetry.span("engram.transaction", {"engram.transaction.name": name}):
            return await self._managed(neo4j.WRITE_ACCESS, name, work)

    async def look(self, name: str, work: Callable[[Tx], Awaitable[T]]) -> T:
        """Run ``work`` in one reading transaction: its statements see one state."""
        with telemetry.span("engram.transaction", {"engram.transaction.name": name}):
            return await self._managed(neo4j.READ_ACCESS, name, work)

    async def schema(self, query: NamedQuery, **params: Any) -> list[Row]:
        """Rows of a schema or SHOW statement, in a transaction of its own."""
        return await self.statement(places.at(query, self.place).text, query.name, **params)

    async def statement(self, text: Any, name: str = "statement", /, **params: Any) -> list[Row]:
        """Rows of one auto-commit statement, such as of a migration; it must be repeatable.

        Many may migrate at once: their schema statements deadlock, or find what another made
        since they looked. Both are tried again.
        """
        deadline = time.monotonic() + _RETRY_SECONDS
        pause = 0.05
        while True:
            try:
                async with self._mapped(), self._session(neo4j.WRITE_ACCESS) as session:
                    with _statement(name, self._noted):
                        result = await session.run(text, params)
                        return [record.data() async for record in result]
            except StoreError as error:
                if not _repeatable(error.__cause__) or time.monotonic() > deadline:
                    raise
            await asyncio.sleep(pause * random.uniform(0.5, 1.5))
            pause = min(2 * pause, 2.0)

    async def close(self) -> None:
        """Close the pool."""
        await self._driver.close()

    @property
    def place(self) -> int:
        """The number of the place that vectors stand in."""
        return self.vectors.place if self.vectors else 1

    async def _managed(self, mode: str, name: str, work: Callable[[Tx], Awaitable[T]]) -> T:
        known = self.vectors
        running: list[Tx] = []

        @neo4j.unit_of_work(metadata={"app": "engram_graph", "query": name})
        async def unit(tx: neo4j.AsyncManagedTransaction) -> T:
            running[:] = [Tx(tx, known.place if known else 1, self._noted)]
            done = await work(running[0])
            if known and running[0].carries:  # made before another task saw the change
                _need_same_embedder(self.embedder, known)
            checks = known and self._checks and mode == neo4j.WRITE_ACCESS and running[0].carries
            # After the writes: their locks hold up whoever drops the index of an old place.
            if checks:
                seen = running[0].seen or _vectors(
                    await running[0].run(load("schema")["read_schema"])
                )
                if seen != known:
                    raise MovedError
            return done

        try:
            async with self._mapped(), self._session(mode) as session:
                if mode == neo4j.READ_ACCESS:
                    return await session.execute_read(unit)
                return await session.execute_write(unit)
        except (MovedError, StoreError) as error:
            if known is None or not _moved(error):
                raise
            await self.locate()
            if self.vectors == known:
                if not isinstance(error, MovedError):
                    raise  # an index that is simply not there
                await asyncio.sleep(0.05)  # read from a member of a cluster that lags behind
            elif running[0].carries:
                made_by = self.embedder or (known.embedder, known.dimension)
                _need_same_embedder(made_by, self.vectors or Vectors())
        return await self._managed(mode, name, work)

    def _session(self, mode: str) -> neo4j.AsyncSession:
        return self._driver.session(
            database=self._database,
            default_access_mode=mode,
            bookmark_manager=self._bookmarks,
        )

    @asynccontextmanager
    async def _mapped(self) -> AsyncIterator[None]:
        try:
            yield
        except EngramError:
            raise
        except failures.AuthError as error:
            raise ConfigurationError(
                f"Neo4j at {self.uri} refused the user name or password",
                hint="Check NEO4J_USERNAME and NEO4J_PASSWORD; of the embedded server, the file "
                "that `engram status` names.",
            ) from error
        except (failures.ServiceUnavailable, failures.SessionExpired, OSError) as error:
            raise StoreUnavailableError(f"Neo4j at {self.uri} does not answer") from error
        except failures.Neo4jError as error:
            raise translate(error) from error
        except failures.DriverError as error:
            raise StoreUnavailableError(
                f"the connection to Neo4j at {self.uri} failed: {type(error).__name__}"
            ) from error


@contextmanager
def _statement(name: str, noted: dict[str, str]) -> Iterator[telemetry.Span]:
    """What is told of a statement: its name and how long it took; never a parameter."""
    began = time.monotonic()
    measured = {"db.system.name": "neo4j", "db.query.summary": name}
    with telemetry.span(
        name,
        noted | measured,
        outward=True,
        metric="db.client.operation.duration",
        measured=measured,
    ) as span:
        try:
            yield span
        except failures.Neo4jError as error:
            span.set_attribute("db.response.status_code", error.code or "")
            raise
        finally:
            if (seconds := time.monotonic() - began) > SLOW_SECONDS:
                log.warning("slow statement: %s took %.1f s", name, seconds)


def _noted(uri: str, database: str | None) -> dict[str, str]:
    """Where statements go, for their spans."""
    try:
        host = urlsplit(uri).hostname
    except ValueError:
        host = None
    return ({"server.address": host} if host else {}) | (
        {"db.namespace": database} if database else {}
    )


def translate(error: failures.Neo4jError) -> EngramError:
    """Our error for a server's error; its text names queries and indexes, never parameters."""
    code = error.code or ""
    text = (error.message or "").splitlines()[0][:300] if error.message else code
    if "vector" in text.lower() and "dimension" in text.lower():
        return DimensionError(text, hint="See `engram doctor`; the embedder changed.")
    if "AuthenticationRateLimit" in code:
        return ConfigurationError("too many wrong passwords: Neo4j refuses logins for 5 seconds")
    if "CredentialsExpired" in code:
        return ConfigurationError(
            "Neo4j wants the initial password to be changed first",
            hint="ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO '…' on the system database.",
        )
    if "DatabaseNotFound" in code:
        return ConfigurationError(text, hint="Check NEO4J_DATABASE.")
    if error.is_retryable():
        return StoreUnavailableError(text)
    return StoreError(text, server_code=code)


def _vectors(rows: list[Row]) -> Vectors:
    row = (rows[0] if rows else None) or {}
    return Vectors(row.get("place") or 1, row.get("embedder"), row.get("dimension"))


def _moved(error: Exception) -> bool:
    """Whether it may be due to vectors that are somewhere else by now: an index that is gone."""
    gone = "Neo.ClientError.Schema.IndexNotFound"
    return isinstance(error, MovedError) or (
        isinstance(error, StoreError) and error.details.get("server_code") == gone
    )


def _need_same_embedder(made_by: tuple[str | None, int | None] | None, found: Vectors) -> None:
    if made_by and made_by != (found.embedder, found.dimension):
        raise EmbedderMismatchError(
            f"stored vectors are now those of {found.embedder!r}, no longer of {made_by[0]!r}",
            hint=f"Use {found.embedder!r} from here on, or `engram reembed` with the other one.",
        )


def _repeatable(cause: BaseException | None) -> bool:
    """Whether a statement failed for another's sake, so that it may succeed the next time."""
    if not isinstance(cause, failures.Neo4jError):
        return False
    return cause.is_retryable() or "EquivalentSchemaRuleAlreadyExists" in (cause.code or "")


def parse_version(text: str) -> tuple[int, ...]:
    """``2026.09.0`` or ``5.26.1-aura`` as numbers; what is no number ends it."""
    numbers: list[int] = []
    for part in text.replace("-", ".").split("."):
        if not part.isdigit():
            break
        numbers.append(int(part))
    return tuple(numbers)

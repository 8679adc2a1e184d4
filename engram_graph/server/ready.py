"""When a starting server is ready: a driver got in and, with HTTP, Browser's door answers."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from contextlib import suppress

from engram_graph.errors import ServerError
from engram_graph.server.config import HOST

_POLL = 0.1  # seconds between two looks at a starting server
_ANSWER_TIMEOUT = 5.0  # seconds for one answer


def wait_until_ready(
    bolt_port: int,
    http_port: int | None,
    auth: tuple[str, str],
    alive: Callable[[], bool],
    owns: Callable[[int], bool],
    deadline: float,
) -> bool:
    """Wait until the server answers; False as soon as ``alive`` says that it ended.

    ``deadline`` is of the monotonic clock. An open port proves nothing, Neo4j opens it before it
    can answer, and another server may have taken it first: ``owns`` tells whose it is. Raises
    ServerError when the password is refused and when the time is up.
    """
    while alive():
        if _accepts(bolt_port) and owns(bolt_port) and _bolt_answers(bolt_port, auth):
            break
        _pause(deadline)
    while alive():
        if http_port is None or _http_answers(http_port):
            return True
        _pause(deadline)
    return False


def _pause(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise ServerError("Neo4j did not answer in time")
    time.sleep(_POLL)


def _accepts(port: int) -> bool:
    # Saves a driver, which retries and logs, on each look before the port is open.

    with socket.socket() as probe:
        probe.settimeout(_ANSWER_TIMEOUT)
        return probe.connect_ex((HOST, port)) == 0


def _bolt_answers(port: int, auth: tuple[str, str]) -> bool:
    from neo4j import GraphDatabase
    from neo4j.exceptions import AuthError, DriverError, Neo4jError

    uri = f"bolt://{HOST}:{port}"
    try:
        with GraphDatabase.driver(
            uri,
            auth=auth,
            connection_timeout=_ANSWER_TIMEOUT,
            # Covers the handshake too: something else may listen there and stay silent.
            connection_acquisition_timeout=_ANSWER_TIMEOUT,
            telemetry_disabled=True,
        ) as driver:
            driver.verify_connectivity()
    except AuthError as error:
        # Not tried again: after three refusals the server refuses the right password too.
        raise ServerError(
            "the Neo4j of this data folder refuses the password in its file 'password'",
            hint="Was the password changed by hand? Put the current one into that file.",
        ) from error
    except (DriverError, Neo4jError, OSError):
        return False
    return True


def _http_answers(port: int) -> bool:
    import http.client

    # Not urllib: a proxy set in the environment must not stand between us and loopback.
    connection = http.client.HTTPConnection(HOST, port, timeout=_ANSWER_TIMEOUT)
    try:
        with suppress(OSError, http.client.HTTPException):
            connection.request("GET", "/", headers={"Accept": "application/json"})
            return connection.getresponse().status == 200
        return False
    finally:
        connection.close()

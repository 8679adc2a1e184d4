"""One writer in a process of its own: ``python evidence_writer.py`` with its orders on stdin.

The first line holds the orders as JSON; once connected it says ``ready`` and waits for a second
line. Its last line tells what came of it.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import datetime, timedelta
from typing import Any

from engram_graph import clock
from engram_graph.settings import Settings
from engram_graph.sync import Memory
from engram_graph.testing.scripted import ScriptedDecider


class Retries(logging.Handler):
    """Counts what was tried again: by us, because a plan was stale, and by the driver."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.stale: list[int] = []
        self.driver = 0

    def emit(self, record: logging.LogRecord) -> None:
        if record.name == "neo4j.session":
            self.driver += "will be retried" in record.msg
        elif "stale" in record.msg:
            self.stale.append(int(record.args[0]))  # type: ignore[index, call-overload]


def run(memory: Memory, calls: list[dict[str, Any]]) -> list[str]:
    """Say everything; the names of the errors a caller would have seen."""
    errors: list[str] = []
    for call in calls:
        try:
            memory.remember(**call)
        except Exception as error:
            errors.append(f"{type(error).__name__}: {error}")
    return errors


def main() -> None:
    orders = json.loads(sys.stdin.readline())
    if ahead := orders["clock_ahead_s"]:  # another machine has another clock
        here, shift = clock.now, timedelta(seconds=ahead)

        def there() -> datetime:
            return here() + shift

        clock.now = there
    retries = Retries()
    for name in ("neo4j.session", "engram_graph.graph.retry"):
        logging.getLogger(name).addHandler(retries)
        logging.getLogger(name).setLevel(logging.DEBUG)
    settings = Settings(**orders["settings"])
    with Memory(
        orders["namespace"], settings=settings, decider=ScriptedDecider(orders["script"])
    ) as memory:
        say("ready")
        sys.stdin.readline()
        errors = run(memory, orders["calls"])
    say(json.dumps({"errors": errors, "stale": retries.stale, "driver": retries.driver}))


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()

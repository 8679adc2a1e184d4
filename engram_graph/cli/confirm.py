"""A question before something that somebody might regret."""

from __future__ import annotations

import sys

from engram_graph.cli.interrupt import interruptible
from engram_graph.cli.output import one_line
from engram_graph.cli.run import Run
from engram_graph.errors import InputError


def confirmed(run: Run, what: str, do: str) -> bool:
    """Whether somebody says yes to ``do``, such as *forget it*; ``what`` tells what would happen.

    Raises:
        InputError: nobody is there to answer.
    """
    run.out.note(f"{one_line(what)} {do.capitalize()}? [y/N]")
    with interruptible():
        answer = sys.stdin.readline()
    if not answer:
        raise InputError(f"nobody answered whether to {do}", hint="Pass --yes, or answer y.")
    return answer.strip().lower() in ("y", "yes")

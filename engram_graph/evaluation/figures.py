"""What every plot of an evaluation shares: matplotlib asked for, one style, the same bytes."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from engram_graph.errors import MissingExtraError

_STYLE: dict[str, Any] = {
    "font.size": 9.0,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "engram",  # the same names inside at each run
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def need_matplotlib() -> None:
    """Ask before the long work, not after it.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("a picture needs matplotlib", extra="eval") from error


@contextmanager
def styled(**changes: Any) -> Iterator[None]:
    """The style of all plots while they are drawn and written; ``changes`` go on top.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    need_matplotlib()
    from matplotlib import style

    with style.context(["default", _STYLE | changes]):
        yield


def svg(figure: Any) -> str:
    """A figure as SVG, without a date; to be called inside ``styled``."""
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"

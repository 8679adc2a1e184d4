"""``engram eval shortlist --report``: what a report needs of each pool, and its two files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from engram_graph.errors import InputError
from engram_graph.evaluation import fit_shortlist
from engram_graph.evaluation.figures import need_matplotlib
from engram_graph.evaluation.shortlist import Found, Pool, Progress
from engram_graph.evaluation.shortlist_plot import picture
from engram_graph.evaluation.shortlist_report import (
    LEFT_OUT,
    PAGE,
    PICTURE,
    SHIPPED,
    Results,
    page,
)
from engram_graph.formats.locomo import Conversation
from engram_graph.rules.turns import WEIGHTS


class Study:
    """A report in the making.

    Raises:
        InputError: the folder cannot be made. MissingExtraError: matplotlib is not installed.
    """

    def __init__(self, folder: Path, conversations: Sequence[Conversation], k: int) -> None:
        need_matplotlib()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"cannot make the folder {folder}: {error.strerror}", field="report"
            ) from None
        self._folder, self._conversations, self._k = folder, conversations, k
        self._tables: list[fit_shortlist.Table] = []

    def looks_at(self, conversation: Conversation) -> Callable[[Pool], None]:
        """What is to see each pool of ``conversation``."""
        return lambda pool: self._tables.append(fit_shortlist.table(conversation.id, pool))

    def write(
        self,
        found: Mapping[str, Found],
        embedder: str | None,
        degraded: Sequence[str],
        progress: Progress | None = None,
    ) -> tuple[Path, Path]:
        """Fit with one conversation left out at a time, and write both files.

        Args:
            found: conversation → what was measured there.
            embedder: name of the model.
            degraded: what fell back.
        """
        names = next(iter(found.values()))
        joined = {
            name or SHIPPED: {q: ids for each in found.values() for q, ids in each[name].items()}
            for name in names
        }
        if len({each.conversation for each in self._tables}) > 1:
            start = [WEIGHTS[part] for part in fit_shortlist.PARTS]  # near the end of the search
            folds = fit_shortlist.left_out(self._tables, start, progress)
            joined[LEFT_OUT] = fit_shortlist.orders(self._tables, folds)
        results = Results(self._conversations, joined, self._k, embedder, degraded)
        files = self._folder / PAGE, self._folder / PICTURE
        for path, text in zip(files, (page(results), picture(results)), strict=True):
            path.write_text(text, encoding="utf-8", newline="\n")
        return files

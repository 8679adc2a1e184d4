"""A decider that replays a file beside the tests, and tells what is missing there."""

from __future__ import annotations

from pathlib import Path

from engram_graph.adapters.recorder import RecordingDecider
from engram_graph.adapters.recording import Recording
from engram_graph.errors import ConfigurationError, DecisionBudgetError
from engram_graph.models.decisions import Ask, Reply
from engram_graph.settings import Settings
from engram_graph.wiring import make_decider


class RecordedDecider(RecordingDecider):
    """Replays a recording, or makes one.

    Attributes:
        missing: how many questions had no recorded answer; the memory went on without one.
    """

    missing = 0

    async def ask(self, ask: Ask) -> Reply:
        """The recorded reply, else the one of the decider that is recorded.

        Raises:
            DecisionError: as of ``RecordingDecider``.
        """
        try:
            return await super().ask(ask)
        except DecisionBudgetError:
            self.missing += len(ask.questions)
            raise


def recorded_decider(path: Path, *, record: bool = False) -> RecordedDecider:
    """The decider of the recording ``path`` (``.jsonl`` or ``.sqlite``).

    Args:
        record: ask the decider of the environment (ENGRAM_DECIDER, keys) for what is not in it.

    Raises:
        ConfigurationError: the file is not there, or is no recording; or, to record, no key.
    """
    if record:
        path.parent.mkdir(parents=True, exist_ok=True)
        settings = Settings.load(recording=None)
        return RecordedDecider(make_decider(settings), Recording(path))
    if not path.exists():
        raise ConfigurationError(
            f"there is no recording {path.name} in {path.parent.name}",
            hint="Make it with: pytest --engram-record",
        )
    return RecordedDecider(None, Recording(path, read_only=True))

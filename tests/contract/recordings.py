"""A model asked once and replayed at once, as the contract tests see it; calls by other ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from engram_graph.adapters.recorder import RecordingDecider, RecordingExtractor
from engram_graph.adapters.recording import Recording
from engram_graph.models.decisions import Ask, Reply
from engram_graph.models.facts import Draft, Message
from engram_graph.ports import Decider, Extractor


class ReplayedDecider:
    """Every reply is the replay of one that was recorded a moment before."""

    def __init__(self, inner: Decider, path: Path) -> None:
        self.name = inner.name
        self._path = path
        self._recording = RecordingDecider(inner, Recording(path))

    async def ask(self, ask: Ask) -> Reply:
        first = await self._recording.ask(ask)
        again = RecordingDecider(None, Recording(self._path, read_only=True))
        try:
            reply = await again.ask(ask)
        finally:
            await again.aclose()
        assert again.name == self.name
        assert reply == first
        assert reply.replayed
        return reply

    async def aclose(self) -> None:
        await self._recording.aclose()


class ReplayedExtractor:
    """The same for drafts."""

    def __init__(self, inner: Extractor, path: Path) -> None:
        self.name = inner.name
        self._path = path
        self._recording = RecordingExtractor(inner, Recording(path))

    async def extract(self, message: Message, recent: Sequence[Message]) -> list[Draft]:
        first = await self._recording.extract(message, recent)
        again = RecordingExtractor(None, Recording(self._path, read_only=True))
        try:
            drafts = await again.extract(message, recent)
        finally:
            await again.aclose()
        assert again.name == self.name
        assert drafts == first
        return drafts

    async def aclose(self) -> None:
        await self._recording.aclose()


def with_other_ids(ask: Ask, suffix: str = "-other") -> Ask:
    """The same question of another run: its facts have other ids, and moved a little in time."""
    return replace(
        ask,
        questions=tuple(
            replace(
                q,
                candidate=q.candidate.model_copy(
                    update={"id": q.candidate.id[::-1] + suffix, "belief": 0.5, "version": 7}
                ),
            )
            if q.candidate
            else q
            for q in ask.questions
        ),
    )

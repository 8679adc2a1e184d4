"""The client's writing methods: check what comes in, then run one flow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

from engram_graph import intake
from engram_graph.client.base import Connection, Moment, fact_id
from engram_graph.errors import InputError
from engram_graph.flows import bulk, correct, ingest, write
from engram_graph.models.facts import Fact
from engram_graph.models.results import Added, Imported
from engram_graph.wiring import Progress


class Writing(Connection):
    """``add``, ``remember``, ``correct``, ``ingest`` and what belongs to them."""

    @overload
    async def add(
        self,
        content: str,
        *,
        namespace: str | None = ...,
        conversation: str | None = ...,
        speaker: str | None = ...,
        role: str = ...,
        said_at: Moment | None = ...,
        source_id: str | None = ...,
        metadata: Mapping[str, Any] | None = ...,
        wait: bool = ...,
    ) -> Added: ...

    @overload
    async def add(
        self,
        content: Sequence[Mapping[str, Any]],
        *,
        namespace: str | None = ...,
        conversation: str | None = ...,
        speaker: str | None = ...,
        role: str = ...,
        said_at: Moment | None = ...,
        source_id: str | None = ...,
        metadata: Mapping[str, Any] | None = ...,
        wait: bool = ...,
    ) -> list[Added]: ...

    async def add(
        self,
        content: str | Sequence[Mapping[str, Any]],
        *,
        namespace: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        role: str = "user",
        said_at: Moment | None = None,
        source_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        wait: bool = True,
    ) -> Added | list[Added]:
        """Store a message, or a chat's messages, and the facts they state.

        Args:
            content: one text, or messages in the chat format: ``role``, ``content``, optional
                ``name`` (the speaker), ``said_at``, ``source_id``, ``metadata``. Content in parts
                is joined; messages without any text (calls of tools) are left out.
            conversation: which chat; a namespace has one by default.
            speaker: who said it; by default ``user`` or the role's name.
            said_at: when (aware datetime, date or ISO text); now by default.
            source_id: your own id; a known one changes nothing.
            wait: False returns once the message is safe; ``flush`` waits for its facts.

        Returns:
            What became of it; one for each message of a list. A failing extractor leaves the
            message stored and unfinished (``message.status``); ``resume`` tries again.

        Raises:
            InputError, ScopeError: nothing of the call was stored.
        """
        defaults = {
            "conversation": conversation,
            "speaker": speaker,
            "role": role,
            "said_at": said_at,
            "metadata": metadata,
        }
        single = isinstance(content, str)
        if not single and source_id is not None:
            raise InputError(
                "source_id names one message, content is a list",
                hint="Put a source_id into each message.",
            )
        items: Iterable[Mapping[str, Any]] = (
            [{"content": content, "source_id": source_id}]
            if isinstance(content, str)
            else intake.chat(content)
        )
        scope = self._scope(namespace)
        messages = [intake.message(scope, item, defaults) for item in items]
        runtime = await self.open()
        done: list[Added] = []
        for message in messages:
            stored, vectors, degraded = await write.store(runtime, message)
            if wait:
                done.append(await write.process(runtime, stored, vectors, degraded))
            else:
                done.append(self._later(stored, degraded))
        return done[0] if single else done

    async def remember(
        self,
        subject: str,
        predicate: str,
        object: str,  # noqa: A002 - the triple's own word
        *,
        namespace: str | None = None,
        text: str | None = None,
        negated: bool = False,
        valid_from: Moment | None = None,
        valid_until: Moment | None = None,
        said_at: Moment | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        role: str = "user",
        source_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Added:
        """Store one given fact, decided against what is known.

        Args:
            predicate: one of the 25 names; yours is final.
            text: the fact as a sentence; made from the three by default.
            negated: it says that the relation does not hold (any more).
            valid_from, valid_until: when it is true, half-open; from ``said_at`` by default.

        Raises:
            InputError, ScopeError: nothing was stored.
        """
        message, extracted = intake.given(
            self._scope(namespace),
            {
                "subject": subject,
                "predicate": predicate,
                "object": object,
                "text": text,
                "negated": negated,
                "valid_from": valid_from,
                "valid_until": valid_until,
                "said_at": said_at,
                "conversation": conversation,
                "speaker": speaker,
                "role": role,
                "source_id": source_id,
                "metadata": metadata,
            },
        )
        runtime = await self.open()
        stored, vectors, degraded = await write.store(runtime, message, extracted)
        return await write.process(runtime, stored, vectors, degraded)

    async def remember_many(
        self,
        facts: Iterable[Mapping[str, Any]],
        *,
        namespace: str | None = None,
        decide: bool = True,
        progress: Progress | None = None,
    ) -> Imported:
        """Store many given facts, each a mapping with the arguments of ``remember``.

        Args:
            decide: False imports in bulk: no questions, nothing closes; the same facts again are
                skipped. All are checked before the first one is stored.

        Raises:
            InputError: with the position (from 1) of the first bad one; nothing was stored.
        """
        scope = self._scope(namespace)
        given = intake.many(scope, facts)
        runtime = await self.open()
        if not decide:
            return await bulk.import_facts(runtime, scope, given, progress)
        return await bulk.decide_facts(runtime, given, progress)

    async def correct(
        self,
        fact: Fact | str,
        *,
        namespace: str | None = None,
        subject: str | None = None,
        predicate: str | None = None,
        object: str | None = None,  # noqa: A002
        text: str | None = None,
        valid_from: Moment | None = None,
        valid_until: Moment | None = None,
        reason: str = "",
        speaker: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Added:
        """Close a fact by hand and put a corrected one in its place; logged with ``reason``.

        What is not given stays as it is. Without ``valid_from`` the old fact was never true (its
        interval becomes empty); with one it was true until then.

        Args:
            metadata: of the message that records the correction.

        Raises:
            NotFoundError: no such fact. InputError: nothing would change.
        """
        scope = self._scope(namespace)
        change = intake.correction(
            scope,
            subject=subject,
            predicate=predicate,
            object=object,
            text=text,
            valid_from=valid_from,
            valid_until=valid_until,
            reason=reason,
            speaker=speaker,
            metadata=metadata,
        )
        runtime = await self.open()
        return await correct.correct(runtime, scope, fact_id(fact), change)

    async def ingest(
        self,
        path: str | Path,
        *,
        namespace: str | None = None,
        conversation: str | None = None,
        progress: Progress | None = None,
    ) -> Imported:
        """Read a file of messages or facts (JSON lines), or LoCoMo's format; repeat it freely.

        What is known is skipped, what is unfinished is finished. A bad line is reported in
        ``failed`` with its number, and the rest goes on.

        Args:
            conversation: of a LoCoMo file, only this one (its ``sample_id``).

        Raises:
            InputError: no such file, or no format that is known.
        """
        scope = self._scope(namespace)
        runtime = await self.open()
        return await ingest.ingest(
            runtime, scope, Path(path), conversation=conversation, progress=progress
        )

    async def resume(self, *, namespace: str | None = None) -> list[Added]:
        """Finish messages that are pending or failed, oldest first, then ask again about facts that
        are ``unsettled``; the first one that gets no answer at all ends it.

        Returns:
            One for each message, and for each fact asked about again (``asked_again``).
        """
        scope = self._scope(namespace)
        return await write.resume(await self.open(), scope)

    async def flush(self) -> None:
        """Wait for the facts of all messages added with ``wait=False``.

        Raises:
            EngramError: the first failure among them; their messages are kept for ``resume``.
        """
        await self._waiting.join()
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

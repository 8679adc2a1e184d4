"""``AsyncMemory`` of mem0 on this memory; see ``integrations/mem0.py``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from engram_graph import clock, intake
from engram_graph.errors import ExtractionError, NotFoundError
from engram_graph.formats.moving import short
from engram_graph.graph.moving import stating
from engram_graph.integrations import mem0_forms as forms
from engram_graph.integrations.mem0_forms import (
    UNSET,
    Mem0InputError,
    MemoryNotFoundError,
    Scope,
    UnsupportedError,
)
from engram_graph.memory import AsyncMemory as Client
from engram_graph.models.facts import Fact, Message
from engram_graph.models.results import Added, Explanation
from engram_graph.vocabulary import FALLBACK, ClosedReason, MessageStatus, Role

Row = dict[str, Any]
_MOST = 150  # that one search finds
_ALL = 1_000_000
_UPDATED = {"message": "Memory updated successfully!"}


class AsyncMemory:
    """mem0's ``AsyncMemory``: the same methods, arguments and results.

    Args:
        config: not taken; settings come from the environment, or are passed as ``parts``.
        space: begins the name of every namespace; two spaces share nothing.
        memory: a client of yours, which you close; None for one of its own.
        parts: of a client of its own, as of ``engram_graph.AsyncMemory``.

    Raises:
        UnsupportedError: a ``config``. Mem0InputError: ``space`` holds a slash.
    """

    def __init__(
        self,
        config: None = None,
        *,
        space: str = "mem0",
        memory: Client | None = None,
        **parts: Any,
    ) -> None:
        self._space = forms.checked_space(space, config)
        self._own = memory is None
        self._memory = memory or Client(**parts)

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> NoReturn:
        """Not to be had: raises UnsupportedError."""
        forms.no_config()

    async def add(
        self,
        messages: str | Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        timestamp: Any = None,
        expiration_date: Any = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
        llm: Any = None,
    ) -> dict[str, list[Row]]:
        """Store messages, and the memories that they state.

        System messages are left out. The first person is the ``user_id``, unless a message has a
        ``name``; ``run_id`` names the conversation.

        Args:
            timestamp: when it was said: Unix seconds or ISO text; now by default.
            expiration_date: the last day a memory holds; only with ``infer=False``.
            infer: False keeps each message as one memory, word for word, decided against what is
                known as any given fact is.

        Returns:
            Events: ``ADD``; ``NONE`` for what was known; ``DELETE`` for what ended because of it.

        Raises:
            ExtractionError: the messages are kept; ``engram resume`` reads them later.
            UnsupportedError: ``memory_type``, ``prompt``, ``llm``; an expiry of what is inferred.
        """
        forms.refuse(memory_type=memory_type, prompt=prompt, llm=llm)
        if infer and expiration_date is not None:
            raise UnsupportedError(
                "what is read out of messages has no expiry given by the caller",
                hint="Add it with infer=False, or update the memory that add gives.",
                field="expiration_date",
            )
        ids = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
        whose = forms.scope(self._space, ids)
        content: Any = messages
        if isinstance(messages, str):
            content = [{"role": "user", "content": messages}]
        elif isinstance(messages, Mapping):
            content = [messages]
        person = str(ids["user_id"] or Role.USER.value).strip()
        chat = [
            {"name": person if one.get("role", "user") == "user" else ids["agent_id"]} | one
            for one in intake.chat(content)
            if one.get("role") != Role.SYSTEM
        ]
        shared: Row = {
            "conversation": whose.identity.get("run_id"),
            "metadata": forms.own_metadata(metadata, whose),
            "said_at": forms.said_at(timestamp),
        }
        done: list[Added] = []
        if infer:
            done += (
                await self._memory.add(chat, namespace=whose.namespace, **shared) if chat else []
            )
        else:
            facts = [
                forms.raw(one, person, ends=forms.expiry(expiration_date), **shared) for one in chat
            ]
            intake.many(whose.namespace, facts)  # all fit, before the first is stored
            for fact in facts:
                done.append(await self._memory.remember(namespace=whose.namespace, **fact))
        if any(one.message.status is MessageStatus.FAILED for one in done):
            raise ExtractionError("the extractor failed; the messages are kept")
        return {"results": [row for one in done for row in await self._events(whose, one)]}

    async def search(
        self,
        query: str,
        *,
        top_k: int = 20,
        filters: Mapping[str, Any] | None = None,
        threshold: float = 0.1,
        rerank: bool = False,
        explain: bool = False,
        reference_date: Any = None,
        show_expired: bool = False,
        **kwargs: Any,
    ) -> dict[str, list[Row]]:
        """Memories that bear on ``query``, the best first.

        Args:
            top_k: most of them, 0 to 150; ``limit`` is taken as well.
            filters: ids and metadata, compared for equality; ids are also taken as arguments.
            threshold: leaves out scores below it: the relevance where a model judged, else the
                fused score. Neither is a cosine.
            rerank: only where a model judges (ENGRAM_RERANK), and then it always does.
            show_expired: also what has ended.

        Raises:
            UnsupportedError: an operator among the filters, ``reference_date``, or ``rerank``
                where no model judges.
        """
        if reference_date is not None:
            raise UnsupportedError(
                "reference_date is not taken",
                hint="engram_graph.Memory(…).search takes as_of and between.",
                field="reference_date",
            )
        wanted = forms.count(kwargs.pop("limit", top_k), _MOST)
        whose = forms.scope(self._space, forms.filters(filters, kwargs))
        if not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
            raise Mem0InputError("threshold must be from 0 to 1", field="threshold")
        runtime = await self._memory.open()
        if rerank and runtime.reranker is None:
            raise UnsupportedError(
                "no model judges what is found", hint="Set ENGRAM_RERANK.", field="rerank"
            )
        most = _MOST if whose.others else max(wanted, 1)
        found = await self._memory.search(query, namespace=whose.namespace, limit=most)
        hits = [hit for hit in found.facts if show_expired or forms.holds(hit.fact)]
        sources = await self._sources(whose, [hit.fact for hit in hits])
        rows: list[Row] = []
        for hit in hits:
            relevance = hit.scores.relevance
            score = hit.scores.fused if relevance is None else relevance
            told = sources.get(hit.fact.id, [])
            if score >= threshold and forms.matches(whose, told):
                more: Row = {"score": score}
                if explain:
                    more["score_details"] = hit.scores.model_dump()
                rows.append(forms.item(hit.fact, told, whose, **more))
        return {"results": rows[:wanted]}

    async def get(self, memory_id: str) -> Row | None:
        """One memory as it is after all updates; None when there is none of this id."""
        try:
            whose, told = await self._told(memory_id)
        except NotFoundError:
            return None
        fact = forms.current(told.fact, told.newer)
        sources = await self._sources(whose, [fact])
        return forms.item(fact, sources.get(fact.id, []), whose, score=None)

    async def get_all(
        self,
        *,
        filters: Mapping[str, Any] | None = None,
        top_k: int = 20,
        show_expired: bool = False,
        **kwargs: Any,
    ) -> dict[str, list[Row]]:
        """Memories in the order they were recorded; ``filters`` and ids as of ``search``.

        Args:
            show_expired: also what has ended.
        """
        wanted = forms.count(kwargs.pop("limit", top_k), _ALL)
        whose = forms.scope(self._space, forms.filters(filters, kwargs))
        return {"results": await self._listed(whose, wanted, ended=show_expired)}

    async def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: Any = UNSET,
        data: str | None = None,
    ) -> dict[str, str]:
        """Correct a memory: what it said was true until now, and ``history`` keeps it.

        The new text is read for its triple; what states no single fact is ``related_to``. The id
        stays.

        Args:
            metadata: added to what is there; only together with a text or an expiry.
            data: the former name of ``text``.

        Raises:
            MemoryNotFoundError: no such memory. UnsupportedError: metadata alone; taking an expiry
                away.
        """
        text = data if text is None else text
        ends = None if expiration_date is UNSET else forms.expiry(expiration_date)
        if text is None and ends is None:
            raise UnsupportedError(
                "metadata cannot be changed alone, nor an expiry be taken away",
                hint="Pass the text as well, or add the memory anew.",
                field="text",
            )
        whose, told = await self._told(memory_id)
        fact = forms.current(told.fact, told.newer)
        if text == fact.text and ends is None and not metadata:
            return dict(_UPDATED)  # it says that already
        sources = (await self._sources(whose, [fact])).get(fact.id, [])
        speaker = sources[0].speaker if sources else whose.name
        changes: Row = {"valid_until": ends}
        if text is not None and text != fact.text:
            changes |= await self._triple(whose, fact, text, speaker)
            changes |= {"text": text, "valid_from": clock.now()}
        await self._memory.correct(
            fact,
            namespace=whose.namespace,
            reason="update",
            speaker=speaker,
            metadata=forms.updated_metadata(fact, sources, whose, metadata),
            **changes,
        )
        return dict(_UPDATED)

    async def delete(self, memory_id: str) -> dict[str, str]:
        """Forget a memory with all its versions, without a trace: ``history`` is empty then.

        A message that states other memories as well stays, with its words.

        Raises:
            MemoryNotFoundError: no such memory.
        """
        whose, told = await self._told(memory_id)
        await self._forget(whose, told)
        return {"message": "Memory deleted successfully!"}

    async def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> dict[str, str]:
        """Forget all memories of a user, agent or run; of several, those that have all the ids.

        All of one owner goes with its messages.
        """
        ids = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
        whose = forms.scope(self._space, ids)
        if not whose.others:
            await self._memory.forget(everything=True, namespace=whose.namespace)
        else:
            for row in await self._listed(whose, _ALL, ended=True):
                try:
                    await self._forget(*await self._told(row["id"]))
                except NotFoundError:
                    continue  # it went with another version of itself
        return {"message": "Memories deleted successfully!"}

    async def history(self, memory_id: str) -> list[Row]:
        """All that a memory was, and what superseded it, oldest first; empty without a memory."""
        try:
            whose, told = await self._told(memory_id)
        except NotFoundError:
            return []
        chain = [*reversed(told.older), told.fact, *told.newer]
        return forms.history_rows(chain, await self._sources(whose, chain), str(memory_id))

    async def reset(self) -> None:
        """Forget everything in this space, of every user."""
        for info in await self._memory.namespaces():
            if info.namespace.startswith(f"{self._space}/"):
                await self._memory.forget(everything=True, namespace=info.namespace)

    async def close(self) -> None:
        """Close the connection, unless the client is yours."""
        if self._own:
            await self._memory.aclose()

    async def chat(self, query: str) -> NoReturn:
        """Not to be had, as in mem0: raises UnsupportedError."""
        raise UnsupportedError("chat is not there", hint="Give search's results to your model.")

    async def __aenter__(self) -> AsyncMemory:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # Inside

    async def _told(self, memory_id: object) -> tuple[Scope, Explanation]:
        whose, fact_id = forms.scope_of_id(self._space, memory_id)
        try:
            return whose, await self._memory.explain(fact_id, namespace=whose.namespace)
        except NotFoundError:
            raise MemoryNotFoundError(
                f"memory {memory_id!r} was not found", hint="get_all lists those that are there."
            ) from None

    async def _sources(self, whose: Scope, facts: Sequence[Fact]) -> dict[str, list[Message]]:
        graph = (await self._memory.open()).graph
        return await stating(graph, whose.namespace, [fact.id for fact in facts])

    async def _events(self, whose: Scope, added: Added) -> list[Row]:
        named = [(fact, "ADD") for fact in added.facts]
        named += [(fact, "NONE") for fact in added.repeated]
        named += [(fact, "DELETE") for fact in added.closed]
        sources = await self._sources(whose, [fact for fact, _ in named])
        return [forms.event(fact, sources.get(fact.id, []), whose, name) for fact, name in named]

    async def _listed(self, whose: Scope, most: int, *, ended: bool) -> list[Row]:
        rows: list[Row] = []
        cursor: str | None = None
        while len(rows) < most:
            page = await self._memory.facts(namespace=whose.namespace, limit=500, cursor=cursor)
            sources = await self._sources(whose, page.facts)
            for fact in page.facts:
                updated = fact.closed_reason is ClosedReason.CORRECTED
                told = sources.get(fact.id, [])
                if not updated and (ended or forms.holds(fact)) and forms.matches(whose, told):
                    rows.append(forms.item(fact, told, whose))
            cursor = page.cursor
            if cursor is None:
                break
        return rows[:most]

    async def _forget(self, whose: Scope, told: Explanation) -> None:
        now = forms.current(told.fact, told.newer)
        chain = [*reversed(told.older), told.fact, *told.newer]
        versions = [now]
        for before in reversed(chain[: chain.index(now)]):
            if before.closed_reason is not ClosedReason.CORRECTED:
                break  # another memory, which this one superseded
            versions.append(before)
        for fact in reversed(versions):
            try:
                await self._memory.forget(fact=fact, namespace=whose.namespace)
            except NotFoundError:
                continue  # it went as a copy of another one

    async def _triple(self, whose: Scope, fact: Fact, text: str, speaker: str) -> Row:
        """What the new text states, so that the edge never says something else than the words."""
        plain = {"subject": fact.subject, "predicate": FALLBACK, "object": short(text)}
        message = intake.message(whose.namespace, {"content": text, "speaker": speaker}, {})
        try:
            drafts = await (await self._memory.open()).extractor.extract(message, ())
        except ExtractionError:
            return plain
        if len(drafts) != 1 or drafts[0].negated != fact.negated:
            return plain
        (draft,) = drafts
        return {"subject": draft.subject, "predicate": draft.predicate, "object": draft.object}

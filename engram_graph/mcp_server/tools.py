"""The tools: a method of the client each, by its name and with its words.

A docstring here is what a model reads to choose a tool.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from engram_graph.errors import InputError
from engram_graph.graph import analyst
from engram_graph.mcp_server import arguments as a
from engram_graph.mcp_server.answers import (
    AddedAnswer,
    AddedMessagesAnswer,
    ExplanationAnswer,
    ForgottenAnswer,
    PageAnswer,
    RecallAnswer,
    RowsAnswer,
    TimelineAnswer,
)
from engram_graph.memory import AsyncMemory
from engram_graph.models.results import Mode, Stats


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool as it is offered.

    Attributes:
        call: takes the arguments of the tool, and ``namespace``.
        writes: it changes the memory. destroys: what it removes is gone.
        repeatable: the same call again changes nothing more.
    """

    call: Callable[..., Awaitable[Any]]
    title: str
    writes: bool = False
    destroys: bool = False
    repeatable: bool = True

    @property
    def name(self) -> str:
        """The client's word for it."""
        return self.call.__name__


class Tools:
    """The tools over one memory."""

    def __init__(self, memory: AsyncMemory) -> None:
        self._memory = memory

    def offers(self) -> tuple[Offer, ...]:
        """All of them, in the order in which they are listed."""
        return (
            Offer(self.search, "Search the memory"),
            Offer(self.remember, "Remember a fact or a text", writes=True, repeatable=False),
            Offer(self.add_messages, "Add messages of a chat", writes=True, repeatable=False),
            Offer(self.facts, "List facts"),
            Offer(self.history, "History of a subject"),
            Offer(self.explain, "Explain a fact"),
            Offer(self.as_of, "What was true at a moment"),
            Offer(self.forget, "Forget for good", writes=True, destroys=True),
            Offer(self.stats, "Counts of the memory"),
            Offer(self.cypher, "Run an analyst query"),
        )

    async def search(
        self,
        query: Annotated[str, Field(description="The question, in words.", max_length=10_000)],
        mode: Annotated[
            Mode, Field(description="facts, turns (messages as they were said), or both.")
        ] = "facts",
        limit: a.Limit = None,
        as_of: Annotated[str | None, a.moment("Only what was true then")] = None,
        context_tokens: Annotated[
            int | None, Field(description="Budget of context, in tokens.", ge=50, le=100_000)
        ] = None,
        namespace: str | None = None,
    ) -> RecallAnswer:
        """Find what the memory knows that bears on a question. Use it first, before you answer
        anything about people, their lives, plans, preferences or earlier conversations, and answer
        from `context`. Facts that ended say since when they no longer hold. If nothing is found,
        try mode 'turns', or say that you do not know."""
        return RecallAnswer.of(
            await self._memory.search(
                query,
                mode=mode,
                limit=limit,
                as_of=as_of,
                context_tokens=context_tokens,
                namespace=namespace,
            )
        )

    async def remember(
        self,
        text: Annotated[
            a.Text | None,
            Field(
                description="What to remember, in the words it was said in; or, beside the three "
                "parts, the fact as one sentence."
            ),
        ] = None,
        subject: a.Subject = None,
        predicate: a.GivenRelation = None,
        object: a.Object = None,  # noqa: A002 - the triple's own word
        negated: Annotated[
            bool, Field(description="The relation does not hold, or no longer.")
        ] = False,
        valid_from: Annotated[str | None, a.moment("Since when the fact is true")] = None,
        valid_until: Annotated[str | None, a.moment("Until when; absent while it holds")] = None,
        said_at: a.SaidAt = None,
        speaker: a.Speaker = None,
        conversation: a.Conversation = None,
        source_id: a.SourceId = None,
        namespace: str | None = None,
    ) -> AddedAnswer:
        """Remember one thing that should last: a fact given as subject, predicate and object
        (surest), or a text from which facts are extracted. Use it when the user states something
        lasting about themselves or others, or corrects it: state what is true now, and what it
        replaces ends by itself and stays in the history. Do not store passwords or keys."""
        shared: dict[str, Any] = {
            "said_at": said_at,
            "speaker": speaker,
            "conversation": conversation,
            "source_id": source_id,
            "namespace": namespace,
        }
        if subject is not None and predicate is not None and object is not None:
            return AddedAnswer.of(
                await self._memory.remember(
                    subject,
                    predicate,
                    object,
                    text=text,
                    negated=negated,
                    valid_from=valid_from,
                    valid_until=valid_until,
                    **shared,
                )
            )
        parts = (subject, predicate, object, valid_from, valid_until)
        if text is None or negated or any(part is not None for part in parts):
            raise InputError(
                "neither a text alone nor a whole fact",
                hint="Give subject, predicate and object; or only a text.",
            )
        return AddedAnswer.of(await self._memory.add(text, **shared))

    async def add_messages(
        self,
        messages: Annotated[
            list[a.ChatMessage],
            Field(description="In their order.", min_length=1, max_length=a.MAX_MESSAGES),
        ],
        conversation: a.Conversation = None,
        namespace: str | None = None,
    ) -> AddedMessagesAnswer:
        """Store messages of a chat word for word, with the facts they state. Use it to keep a
        whole exchange, or what several people said; for one fact or sentence use remember. A
        message stays findable (search, mode 'turns') even if no fact is found in it."""
        added = await self._memory.add(
            [message.model_dump(exclude_none=True) for message in messages],
            conversation=conversation,
            namespace=namespace,
        )
        return AddedMessagesAnswer(messages=tuple(map(AddedAnswer.of, added)))

    async def facts(
        self,
        subject: a.Subject = None,
        predicate: a.Relation = None,
        object: a.Object = None,  # noqa: A002
        open: Annotated[  # noqa: A002
            bool | None, Field(description="true: only without an end; false: only ended ones.")
        ] = None,
        limit: a.PageLimit = 50,
        cursor: a.Cursor = None,
        namespace: str | None = None,
    ) -> PageAnswer:
        """List facts by subject, relation or object, page by page, without any ranking. Use it for
        complete lists ("everything about Maya"); to answer a question use search."""
        return PageAnswer.of(
            await self._memory.facts(
                subject=subject,
                predicate=predicate,
                object=object,
                open=open,
                limit=limit,
                cursor=cursor,
                namespace=namespace,
            )
        )

    async def history(
        self,
        subject: Annotated[a.Name, Field(description="Who or what it is about, by name.")],
        predicate: a.Relation = None,
        namespace: str | None = None,
    ) -> TimelineAnswer:
        """All facts of a subject in the order they held, those that ended as well, and which one
        superseded which. Use it when asked what changed, what was before, or since when."""
        return TimelineAnswer.of(
            await self._memory.history(subject, predicate, namespace=namespace)
        )

    async def explain(self, fact: a.Reference, namespace: str | None = None) -> ExplanationAnswer:
        """Why a fact stands as it does: who said what and when, each decision with its
        probability, what it superseded and what superseded it. Use it when asked how you know, or
        why something changed."""
        return ExplanationAnswer.of(await self._memory.explain(fact, namespace=namespace))

    async def as_of(
        self,
        as_of: Annotated[str, a.moment("The moment in the world")],
        known_at: Annotated[str | None, a.moment("As the memory knew it then; now by default")] = (
            None
        ),
        subject: a.Subject = None,
        predicate: a.Relation = None,
        object: a.Object = None,  # noqa: A002
        limit: a.PageLimit = 50,
        cursor: a.Cursor = None,
        namespace: str | None = None,
    ) -> PageAnswer:
        """Facts that were true at a moment, as is known today or as it was known then. Use it for
        "where did she live in August 2024". A fact's temporal_status says if it was only planned
        or supposed."""
        return PageAnswer.of(
            await self._memory.facts(
                as_of=as_of,
                known_at=known_at,
                subject=subject,
                predicate=predicate,
                object=object,
                limit=limit,
                cursor=cursor,
                namespace=namespace,
            )
        )

    async def forget(
        self,
        fact: Annotated[
            str | None, Field(description="Id of a fact.", min_length=1, max_length=100)
        ] = None,
        message: Annotated[
            str | None,
            Field(description="Id or source_id of a message.", min_length=1, max_length=500),
        ] = None,
        entity: Annotated[
            a.Name | None, Field(description="A name: it goes with all facts about it.")
        ] = None,
        confirm: Annotated[
            bool, Field(description="true only after the user has seen the counts and agreed.")
        ] = False,
        namespace: str | None = None,
    ) -> ForgottenAnswer:
        """Remove a fact, a message or an entity with every trace of it; there is no way back. Use
        it only when the user asks to have something deleted. What merely changed or was wrong is
        corrected with remember. The first call, without confirm, counts what would go and removes
        nothing: show that to the user, and call again with confirm=true only if they agree."""
        return ForgottenAnswer.of(
            await self._memory.forget(
                fact=fact,
                message=message,
                entity=entity,
                dry_run=not confirm,
                namespace=namespace,
            )
        )

    async def stats(self, namespace: str | None = None) -> Stats:
        """Counts of the memory: messages, facts, open and disputed ones, entities, decisions, open
        facts by relation, and what deciding cost. Use it to see whether anything is stored."""
        return await self._memory.stats(namespace=namespace)

    async def cypher(
        self,
        name: Annotated[
            str,
            Field(
                description="Which query; the resource engram://queries tells their parameters.",
                max_length=100,
                json_schema_extra={"enum": sorted(analyst.library())},
            ),
        ],
        params: Annotated[
            a.Values | None, Field(description="Its parameters by name, dates as ISO 8601 text.")
        ] = None,
        namespace: str | None = None,
    ) -> RowsAnswer:
        """Run one of the analysts' Cypher queries over the graph of facts; it can only read. Use it
        for what the other tools do not answer: what changed between two dates (changes_in_world,
        changes_in_memory), connections of an entity, disputed, duplicate or unsure facts, sources,
        costs. The namespace is set by the server."""
        given = dict(params or {})
        if analyst.NAMESPACE in given:
            raise InputError("the namespace is no parameter of a query", field="params")
        wanted = analyst.named(name)
        rows = await self._memory.query(wanted.name, namespace=namespace, **given)
        return RowsAnswer(
            columns=wanted.column_names,
            rows=tuple(rows[: a.MAX_ROWS]),
            complete=len(rows) <= a.MAX_ROWS,
        )

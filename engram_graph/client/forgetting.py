"""The client's methods: forget."""

from __future__ import annotations

from engram_graph.client.base import Connection, fact_id
from engram_graph.errors import InputError
from engram_graph.flows import forget
from engram_graph.graph.forget_scope import Target
from engram_graph.models.facts import Fact, Message
from engram_graph.models.results import Forgotten
from engram_graph.rules.validate import clean_name, clean_text


class Forgetting(Connection):
    """``forget``."""

    async def forget(
        self,
        *,
        fact: Fact | str | None = None,
        message: Message | str | None = None,
        entity: str | None = None,
        everything: bool = False,
        namespace: str | None = None,
        dry_run: bool = False,
    ) -> Forgotten:
        """Remove something and every trace of it, for good. Name exactly one thing.

        What stays is mended: a chain closes over the gap, what was closed stays closed, and a
        fact that owed its belief or its end to what went keeps it, by a decision without content.
        A message that states other facts as well stays with its words, also those of the
        forgotten fact: forget the message if they must go. So do the words of a fact that only
        mentions a forgotten entity.

        Args:
            fact: it, or its id: with its copies (SAME_AS), its decisions, and the messages that
                state nothing else.
            message: it, its id or its source_id: with the facts that no other message states.
            entity: any spelling of its name or of an alias: with its aliases and all facts it is
                the subject or object of.
            everything: the whole namespace, in batches; if it breaks off, call it again.
            dry_run: only count.

        Raises:
            NotFoundError: not in this namespace. InputError: none of the four, or several.
            ConflictError: other writers kept changing what it touches; nothing was forgotten.
        """
        scope = self._scope(namespace)
        if not isinstance(everything, bool):
            raise InputError("everything must be True or False", field="everything")
        named = {"fact": fact, "message": message, "entity": entity}
        given = [name for name, value in named.items() if value is not None]
        given += ["everything"] if everything else []
        if len(given) != 1:
            raise InputError(
                f"forget takes exactly one thing, not {' and '.join(given) or 'nothing'}",
                hint="Pass fact=…, message=…, entity=… or everything=True.",
            )
        if everything:
            return await forget.forget_everything(await self.open(), scope, dry_run=dry_run)
        if isinstance(message, Message):
            message = message.id
        target = Target(
            fact=fact_id(fact) if fact is not None else None,
            message=clean_text(message, "message") if message is not None else None,
            entity=clean_name(entity, "entity") if entity is not None else None,
        )
        return await forget.forget(await self.open(), scope, target, dry_run=dry_run)

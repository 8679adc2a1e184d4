"""The client's upkeep methods: what keeps a store in order."""

from __future__ import annotations

from engram_graph.client.base import Connection, Moment, fact_id
from engram_graph.clock import instant
from engram_graph.flows import hygiene
from engram_graph.flows.reembed import reembed
from engram_graph.models.facts import Fact
from engram_graph.models.upkeep import HygieneReport, ReembedReport
from engram_graph.wiring import Progress


class Upkeep(Connection):
    """``hygiene``, ``restore`` and ``reembed``."""

    async def hygiene(
        self,
        *,
        namespace: str | None = None,
        same_as: bool = True,
        worth: bool = False,
        short_lived: bool = False,
        apply: bool = False,
        progress: Progress | None = None,
        now: Moment | None = None,
    ) -> HygieneReport:
        """Link facts that say the same, and archive what search need not give. First a dry run.

        The decider is asked in both cases. A pass that breaks off keeps what it has done, and the
        next one goes on from there. Archived facts stay in ``facts``, ``history`` and ``explain``;
        ``restore``, or saying one again, gives it back to ``search``. Given facts stay.

        Args:
            same_as: compare facts of one subject and predicate; links come and go.
            worth: ask again whether facts unread for 30 days are worth keeping.
            short_lived: archive short-lived facts a week after they began or were last said.
            apply: carry it out; otherwise nothing is changed and the report says what would be.
            progress: told (done, total).
            now: taken for the present moment.
        """
        scope = self._scope(namespace)
        moment = instant(now, "now") if now is not None else None
        wanted = hygiene.Wanted(same_as, worth, short_lived, apply, moment)
        return await hygiene.hygiene(await self.open(), scope, wanted, progress)

    async def restore(self, fact: Fact | str, *, namespace: str | None = None) -> Fact:
        """Give an archived fact back to ``search``; hygiene does not archive it again.

        Returns:
            The fact; one that is not archived, as it is.

        Raises:
            NotFoundError: not in this namespace.
        """
        scope = self._scope(namespace)
        return await hygiene.restore(await self.open(), scope, fact_id(fact))

    async def reembed(
        self, *, dry_run: bool = False, progress: Progress | None = None
    ) -> ReembedReport:
        """Make all vectors anew with this client's embedder: of all namespaces, while clients work.

        The old vectors are used until the new ones are complete; then all clients change over at
        once. Who still has the old embedder gets ``EmbedderMismatchError`` from its next write or
        search by vector. Until then, clients with the new embedder write without vectors (they are
        made up for) and search by full text only; ``degraded`` says so. Broken off, the next call
        goes on. With the embedder in use, what has no vector gets one.

        Args:
            dry_run: only count, and estimate from a sample that is embedded.
            progress: told (done, total).

        Raises:
            ConfigurationError: no embedder. ConflictError: another embedder's run took over.
            EmbeddingError: the model failed; call again to go on.
        """
        return await reembed(await self.open(), dry_run=dry_run, progress=progress)

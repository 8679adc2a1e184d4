"""The client's methods: export and import_."""

from __future__ import annotations

import re
from pathlib import Path

from engram_graph import clock
from engram_graph.client.base import Connection
from engram_graph.flows import transfer, transfer_import
from engram_graph.models.export import Exported
from engram_graph.models.results import Imported
from engram_graph.wiring import Progress

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


class Transfer(Connection):
    """``export`` and ``import_``."""

    async def export(
        self,
        path: str | Path | None = None,
        *,
        namespace: str | None = None,
        vectors: bool = False,
        overwrite: bool = False,
        progress: Progress | None = None,
    ) -> Exported:
        """Write all that a namespace holds into one JSON-lines file, for ``import_``.

        Messages, facts with both clocks, beliefs, links, decisions and every answer of a decider
        are in it, a record a line behind a header (``schemas/export_line.schema.json``).

        Args:
            path: the file; by default one in the current folder named after the namespace and the
                moment. It appears whole or not at all, and only its owner may read it.
            vectors: with the embeddings; without them an import makes new ones.
            overwrite: replace an existing file.

        Raises:
            InputError: the file exists or cannot be written.
            ConflictError: somebody kept writing to the namespace; there is no file.
        """
        scope = self._scope(namespace)
        target = Path(path) if path is not None else Path(_file_name(scope))
        runtime = await self.open()
        return await transfer.export(
            runtime, scope, target, vectors=vectors, overwrite=overwrite, progress=progress
        )

    async def import_(
        self,
        path: str | Path,
        *,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> Imported:
        """Read a file of ``export`` into a namespace, which may hold other facts.

        The whole file is checked first. What is known stays as it is: the same file again adds
        nothing, and completes an import that broke off. Entities of one name become one; the
        facts are not decided against those that are there. Credentials are taken out. In a
        namespace other than the exported one all ids are new, and the same each time.

        Returns:
            Counts; ``failed`` names by line each message whose ``source_id`` is another
            message's here, and the facts that are left out with it.

        Raises:
            InputError: a line is not usable (``details["position"]``); nothing was imported.
        """
        scope = self._scope(namespace)
        runtime = await self.open()
        return await transfer_import.import_(runtime, scope, Path(path), progress)


def _file_name(namespace: str) -> str:
    plain = _NOT_IN_NAMES.sub("-", namespace)[:80].rstrip("-") or "namespace"
    return f"engram-{plain}-{clock.now():%Y%m%dT%H%M%SZ}.jsonl"

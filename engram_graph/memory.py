"""``AsyncMemory``, the client."""

from __future__ import annotations

from engram_graph.client.entities import Entities
from engram_graph.client.feedback import Labelling
from engram_graph.client.forgetting import Forgetting
from engram_graph.client.items import Items
from engram_graph.client.moving import Moving
from engram_graph.client.networks import Networks
from engram_graph.client.observed import observed
from engram_graph.client.querying import Querying
from engram_graph.client.reading import Reading
from engram_graph.client.replaying import Replaying
from engram_graph.client.transfer import Transfer
from engram_graph.client.upkeep import Upkeep
from engram_graph.client.writing import Writing


@observed
class AsyncMemory(
    Items,
    Writing,
    Reading,
    Querying,
    Networks,
    Forgetting,
    Transfer,
    Moving,
    Upkeep,
    Replaying,
    Entities,
    Labelling,
):
    """Long-term memory in Neo4j. Connects at the first call; close it, or use ``async with``.

    Args:
        namespace: whose memory; may be given per call instead. Never empty.
        settings: options; by default read from the environment.
        embedder, extractor, decider, reranker: parts of your own in place of the configured ones
            (see ``ports``).
        method: how to decide, in place of the configured preset (see ``rules.method``).
        recording: an open one that several clients share, in place of that of the settings.
        progress: told (done, total) while the embedded server's files are fetched.

    Every method raises ``EngramError`` or one below it, and nothing else on purpose.
    """

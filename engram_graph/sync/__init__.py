"""``Memory``: the methods of ``AsyncMemory``, blocking; also usable inside a running event loop.

One thread with an event loop of its own opens the connection and runs every call, so a notebook or
a web handler may use it as it is.
"""

from __future__ import annotations

from engram_graph.sync.entities import BlockingEntities
from engram_graph.sync.feedback import BlockingLabelling
from engram_graph.sync.forgetting import BlockingForgetting
from engram_graph.sync.items import BlockingItems
from engram_graph.sync.moving import BlockingMoving
from engram_graph.sync.networks import BlockingNetworks
from engram_graph.sync.querying import BlockingQuerying
from engram_graph.sync.reading import BlockingReading
from engram_graph.sync.replaying import BlockingReplaying
from engram_graph.sync.transfer import BlockingTransfer
from engram_graph.sync.upkeep import BlockingUpkeep
from engram_graph.sync.writing import BlockingWriting


class Memory(
    BlockingWriting,
    BlockingReading,
    BlockingQuerying,
    BlockingNetworks,
    BlockingForgetting,
    BlockingTransfer,
    BlockingMoving,
    BlockingUpkeep,
    BlockingReplaying,
    BlockingEntities,
    BlockingLabelling,
    BlockingItems,
):
    """Long-term memory in Neo4j, blocking; see ``AsyncMemory`` for every argument.

    Use it in a ``with`` block, or call ``close``.
    """

"""The settings of a test's memory: nothing of the user's environment but the database."""

from __future__ import annotations

from typing import Any

from engram_graph.settings import Settings
from engram_graph.testing.database import Neo4jServer


def settings_for(server: Neo4jServer, **values: Any) -> Settings:
    """Settings on ``server``: hashed embeddings, patterns and rules, all else as by default.

    Nothing in them needs a key, a model or the network.

    Args:
        values: settings by their names in ``Settings``.

    Raises:
        ConfigurationError: no such setting, or a value that does not fit.
    """
    plain = {
        name: field.get_default(call_default_factory=True)
        for name, field in Settings.model_fields.items()
    }
    ours = {
        "neo4j_uri": server.uri,
        "neo4j_username": server.username,
        "neo4j_password": server.password,
        "embedder": "hash",
        "extractor": "patterns",
        "decider": "rules",
        "escalation": "none",
    }
    return Settings.load(**plain | ours | values)

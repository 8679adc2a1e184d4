"""The whole error tree of engram_graph.

EngramError
├── ConfigurationError        a setting is missing, wrong or contradicts another
│   └── MissingExtraError     an optional package is needed and not installed
├── InputError                a value in a call is not usable; nothing was stored
│   ├── ScopeError            the namespace is missing or empty
│   └── AmbiguousError        what was named fits several records
├── NotFoundError             the id names nothing in this namespace
├── StoreError                Neo4j said no
│   ├── StoreUnavailableError     no connection, or it broke
│   ├── ServerVersionError        the server is too old
│   ├── SchemaError               migrations or indexes are not as needed
│   │   └── DimensionError        vector index and embedder disagree
│   └── ConflictError             a plan kept colliding with other writers
├── ServerError               the embedded Neo4j could not be installed, started or stopped
├── DecisionError             the decider gave no usable answer
│   ├── DecisionUnavailableError  it could not be reached
│   ├── DecisionInvalidError      its answer broke the contract
│   └── DecisionBudgetError       a spending cap was reached
├── RerankError               a reranker gave no usable answer; the search goes on without
├── ExtractionError           the extractor gave no usable answer; the message is kept
├── AnsweringError            a study's answering or judging model gave no usable answer
├── BudgetError               a study may make no more calls: it stops, and can go on later
├── PeerError                 another memory, run for comparison, failed
└── EmbeddingError            no vector could be made
    └── EmbedderMismatchError     another model made the stored vectors

Each error has a stable ``code`` (for programs), a message (for people) and a ``hint`` (what to do
next).
"""

from __future__ import annotations


class EngramError(Exception):
    """Base of every error this package raises on purpose."""

    code = "engram"
    default_hint = ""

    def __init__(self, message: str, *, hint: str = "", **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint or self.default_hint
        self.details = details
        if self.hint:
            self.add_note(f"Hint: {self.hint}")  # a traceback shows it too

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.message, self.hint, self.details))

    def as_dict(self) -> dict[str, object]:
        """The one JSON form of a failure: ``{"error": {code, message, hint, …details}}``."""
        body: dict[str, object] = {"code": self.code, "message": self.message}
        if self.hint:
            body["hint"] = self.hint
        return {"error": body | self.details}


def _rebuild(
    kind: type[EngramError], message: str, hint: str, details: dict[str, object]
) -> EngramError:
    return kind(message, hint=hint, **details)


class ConfigurationError(EngramError):
    """A setting is missing, wrong, or contradicts another."""

    code = "configuration"
    default_hint = "docs/settings.md lists all settings."


class MissingExtraError(ConfigurationError):
    """An optional package is needed and not installed."""

    code = "missing_extra"

    def __init__(self, message: str, *, extra: str = "", hint: str = "", **details: object) -> None:
        super().__init__(
            message,
            hint=hint
            or f"Install it with: pip install 'engram-graph[{extra}]' (in a clone: '.[{extra}]')",
            extra=extra,
            **details,
        )


class InputError(EngramError):
    """A value in a call is not usable; nothing was stored."""

    code = "input"


class ScopeError(InputError):
    """The namespace is missing, empty or blank."""

    code = "scope"
    default_hint = "Pass namespace=… to the call or to the client; an empty one never means 'all'."


class AmbiguousError(InputError):
    """What was named fits several records; the details list their ids."""

    code = "ambiguous"


class NotFoundError(EngramError):
    """The id names nothing in this namespace."""

    code = "not_found"


class StoreError(EngramError):
    """Neo4j refused or failed a statement."""

    code = "store"


class StoreUnavailableError(StoreError):
    """No connection to Neo4j, or it broke."""

    code = "store_unavailable"
    default_hint = (
        "Is the database running? Check NEO4J_URI if it is set; else `engram status` tells and "
        "`engram up` starts the embedded one."
    )


class ServerVersionError(StoreError):
    """The server is older than this package needs."""

    code = "server_version"


class SchemaError(StoreError):
    """Constraints, indexes or the recorded schema version are not as needed."""

    code = "schema"


class DimensionError(SchemaError):
    """A vector index and the embedder have different dimensions."""

    code = "dimension"


class ConflictError(StoreError):
    """A plan kept colliding with other writers of the same entity."""

    code = "conflict"
    default_hint = "Try again; the message itself is stored and `resume` finishes it."


class ServerError(EngramError):
    """The embedded Neo4j could not be installed, started or stopped."""

    code = "server"
    default_hint = "`engram logs` shows what the server wrote."


class DecisionError(EngramError):
    """The decider gave no usable answer."""

    code = "decision"


class DecisionUnavailableError(DecisionError):
    """The decider could not be reached, or kept failing."""

    code = "decision_unavailable"


class DecisionInvalidError(DecisionError):
    """An answer of the decider broke its contract."""

    code = "decision_invalid"


class DecisionBudgetError(DecisionError):
    """A spending cap was reached, or a recording has no answer and none may be bought."""

    code = "decision_budget"


class RerankError(EngramError):
    """A reranker gave no usable answer; a search goes on without, and says so."""

    code = "rerank"


class ExtractionError(EngramError):
    """The extractor gave no usable answer; the message is kept and can be resumed."""

    code = "extraction"
    default_hint = "`engram resume` tries unfinished messages again."


class AnsweringError(EngramError):
    """The model that answers or judges in a study gave no usable answer."""

    code = "answering"
    default_hint = "The same command goes on where it stopped; what is recorded stays free."


class BudgetError(EngramError):
    """A study's cap was crossed, or a call is not recorded and none may be made.

    Not an error of any one model, for which flows fall back: the study stops.
    """

    code = "budget"


class PeerError(EngramError):
    """Another memory, run for comparison through its own package, failed."""

    code = "peer"


class EmbeddingError(EngramError):
    """No vector could be made for a text."""

    code = "embedding"


class EmbedderMismatchError(EmbeddingError):
    """The stored vectors were made by another model or in another dimension."""

    code = "embedder_mismatch"

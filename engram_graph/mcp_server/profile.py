"""What one MCP server gives away: whose memory, and whether it may be changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Self

from engram_graph.rules.validate import clean_namespace

Access = Literal["read", "write"]


@dataclass(frozen=True, slots=True)
class Profile:
    """The operator's choice; no call of a client changes it.

    Attributes:
        namespace: where a call goes that names none; None: each call must name one of ``allowed``.
        allowed: what tools take as ``namespace``; empty: they have no such argument.
        access: ``read`` leaves out every tool that changes the memory.
    """

    namespace: str | None
    allowed: tuple[str, ...] = ()
    access: Access = "write"

    @classmethod
    def of(
        cls, namespace: str | None, allowed: Iterable[str] = (), access: Access = "write"
    ) -> Self:
        """A checked profile; ``namespace`` is always among those allowed.

        Raises:
            ScopeError: no namespace at all, or one that cannot be.
        """
        others = [clean_namespace(name) for name in allowed]
        if namespace is not None or not others:
            namespace = clean_namespace(namespace)
        if not others:
            return cls(namespace, (), access)
        own = [] if namespace is None else [namespace]
        return cls(namespace, tuple(dict.fromkeys([*own, *others])), access)

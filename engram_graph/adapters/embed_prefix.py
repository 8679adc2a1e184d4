"""The name under which vectors of a model with prefixes are known: another prefix, another one."""

from __future__ import annotations

from hashlib import blake2b

_SHOWN = 24  # characters; an instruction may be a paragraph


def name_with_prefixes(model: str, query_prefix: str | None, text_prefix: str | None) -> str:
    """``model`` alone without prefixes, such as ``e5-small ['query: ', 'passage: ']`` with them."""
    if not query_prefix and not text_prefix:
        return model
    return f"{model} [{_short(query_prefix or '')}, {_short(text_prefix or '')}]"


def _short(prefix: str) -> str:
    if len(prefix) <= _SHOWN:
        return repr(prefix)
    digest = blake2b(prefix.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{prefix[:_SHOWN]!r}… {digest}"

"""Counts tokens as the vocabulary o200k_base (GPT-4o and later) does, from a package, offline."""

from __future__ import annotations

import functools
import importlib.util
import warnings
from typing import Any

from engram_graph.rules.tokens import Counter, estimate_tokens

VOCABULARY = "o200k_base"
ESTIMATE = "estimate"
_PART = 100_000  # characters: the package refuses a million at once


def token_counter() -> tuple[Counter, str]:
    """How tokens are counted, and by what: ``o200k_base`` with the extra ``tokens``, else
    ``estimate``."""
    if importlib.util.find_spec("bpe_openai") is None:
        return estimate_tokens, ESTIMATE
    return count_tokens, VOCABULARY


def count_tokens(text: str) -> int:
    """Tokens of ``text``; of a very long one at most a few too many.

    The first call loads the vocabulary, about a quarter of a second.
    """
    encoding = _encoding()
    return sum(
        len(encoding.encode_ordinary(text[at : at + _PART])) for at in range(0, len(text), _PART)
    )


@functools.cache
def _encoding() -> Any:
    with warnings.catch_warnings():  # of its own way to open its files
        warnings.simplefilter("ignore", DeprecationWarning)
        import bpe_openai

        return bpe_openai.get_encoding(VOCABULARY)

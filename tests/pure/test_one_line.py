"""Text on one line: taken word by word where that is safe, and never otherwise than by letters."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from engram_graph.cli import output
from engram_graph.rules import render

ANY = st.text(
    st.characters(exclude_categories=()) | st.sampled_from("\x1b\x85\u200b\u200d\u2028 \t")
)


def plain(text: str) -> str:
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


@given(ANY)
def test_a_line_for_a_prompt_is_made_letter_by_letter(text: str) -> None:
    kept = "".join(
        char
        for char in plain(text)
        if char.isspace()
        or char in render._JOINERS
        or unicodedata.category(char) not in ("Cc", "Cf")
    )
    assert render.one_line(text) == render._MARK.sub("(", " ".join(kept.split()))


@given(ANY)
def test_a_line_for_a_terminal_is_made_letter_by_letter(text: str) -> None:
    kept = "".join(char if char.isprintable() or char.isspace() else "\ufffd" for char in text)
    assert output.one_line(text) == " ".join(kept.split())

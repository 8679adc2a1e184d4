"""How a line of memory is read without a model: which facts it states, which it says are over."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from engram_graph.evaluation.validity.form import GoldFact
from engram_graph.intake import sentence

_SPACES = re.compile(r"\s+")
_EARLIER = (
    r"(?:from|left|leaving|not|no longer|instead of|rather than|out of|replac(?:es|ed|ing)|"
    r"former|formerly|previous|previously|earlier|before|until|used to be|was|were|had been)"
    r"(?: (?:a|an|the|in|at|with|living in|working at|working for))?"
)
_QUOTES = str.maketrans("’‘“”–—", "''\"\"--")


def plain(text: str) -> str:
    """Lower case, one space between words, plain quotes and dashes."""
    folded = unicodedata.normalize("NFC", text).translate(_QUOTES).casefold()
    return _SPACES.sub(" ", folded).strip()


def holds_form(text: str, forms: Iterable[str]) -> bool:
    """Whether one of ``forms`` stands in ``text`` as whole words."""
    return any(True for form in forms if _at(plain(form), text))


def states(fact: GoldFact, text: str) -> bool:
    """Whether a line states the fact; that it is over counts as stating it too."""
    return holds_form(plain(text), (*fact.forms, *fact.end_forms))


def ends(fact: GoldFact, text: str, ended: bool = False) -> bool:
    """Whether a line says that the fact is over.

    Args:
        ended: the arm marks the line as no longer true.
    """
    line = plain(text)
    over = (over_sentence(fact), sentence(*fact.triple, True), *fact.end_forms)
    return holds_form(line, over) or (ended and holds_form(line, fact.forms))


def moved_from(fact: GoldFact, text: str) -> bool:
    """Whether a line names the value as the earlier of two: "from Porto to Lisbon"."""
    line = plain(text)
    return any(
        re.search(rf"(?<!\w){_EARLIER} (?:\w+ )?{re.escape(plain(form))}(?!\w)", line)
        for form in fact.forms
    )


def over_sentence(fact: GoldFact) -> str:
    """That a fact no longer holds, in words: what an arm is told, and always an end form.

    So is ``intake.sentence`` of the denied fact, for memories that keep triples alone.
    """
    return f"{fact.subject} no longer {fact.predicate.replace('_', ' ')} {fact.object}"


def _at(form: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text) is not None

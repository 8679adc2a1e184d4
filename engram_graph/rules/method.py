"""The switches of the method, and the named presets. Source: decision_rules §1, §6 and §7.

A preset says which gates stand, how belief counts evidence, and what is asked. Evaluation needs
each as an arm; a product runs ``default``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from engram_graph.errors import InputError
from engram_graph.rules.thresholds import DEFAULT as NUMBERS
from engram_graph.rules.thresholds import Thresholds
from engram_graph.vocabulary import Verdict

_UPDATES = frozenset({Verdict.UPDATE})


@dataclass(frozen=True, slots=True)
class Method:
    """One way to decide, whole. The values here are those of ``s2_v3``.

    Attributes:
        name: of the preset.
        belief: evidence moves belief, and belief closes. False: a sure answer acts at once.
        evidence: which answers count: ``all`` whose likeliest label is not ``new`` (rule v2), or
            ``likeliest`` only those above .5 (rule v3).
        superseding: how strong an answer against a fact is: the probability of its ``label``, or
            the ``mass`` of update, contradiction and negates together.
        temporal_gate: G1 asks that ``current`` alone is the likeliest and ≥ .85, or the ``mass`` of
            current and past.
        past_contradicts: a past event may contradict; False: only a current one.
        structure: G2 stands. siblings: an update passes it between values of one many-valued
            relation. same_attribute: verdicts that pass it when both tell the same attribute.
        agreement: G3 stands: the second phrasing must agree.
        unsure_closes: a fact stored tentative may close another (only without belief).
        disputes: which contradictions mark both facts as disputed: those that only ``structure``
            stops, at any p; or the sure ones (.85) that any gate stops (``blocked``).
        graph_candidates: facts found by graph are compared, too.
        fulfilled: ask whether a plan came true.
        worth_filter: a draft whose worth is below .60 is not stored.
        duplicates: a sure duplicate is stored and linked (``same_as``), or not stored and its
            message becomes one more source (``keep``).
        decider: ``rules`` needs no model; None leaves it to the settings.
    """

    name: str
    thresholds: Thresholds = NUMBERS
    belief: bool = True
    evidence: Literal["all", "likeliest"] = "likeliest"
    superseding: Literal["label", "mass"] = "label"
    temporal_gate: Literal["current", "mass"] = "mass"
    past_contradicts: bool = True
    structure: bool = True
    siblings: bool = True
    same_attribute: frozenset[Verdict] = _UPDATES
    agreement: bool = True
    unsure_closes: bool = True
    disputes: Literal["structure", "blocked"] = "structure"
    graph_candidates: bool = True
    fulfilled: bool = True
    worth_filter: bool = False
    duplicates: Literal["same_as", "keep"] = "same_as"
    decider: Literal["rules"] | None = None


_S2_V3 = Method("s2_v3")
_PLAIN = Method(
    "reference",
    belief=False,
    temporal_gate="current",
    structure=False,
    same_attribute=frozenset(),
    agreement=False,
    graph_candidates=False,
    fulfilled=False,
)
PRESETS: dict[str, Method] = {
    method.name: method
    for method in (
        replace(
            _PLAIN,
            name="e0",
            unsure_closes=False,
            disputes="blocked",
            worth_filter=True,
            duplicates="keep",
        ),
        replace(_S2_V3, name="v1", evidence="all", same_attribute=frozenset()),
        replace(_S2_V3, name="v2", evidence="all"),
        replace(_S2_V3, name="v3", same_attribute=frozenset()),
        _S2_V3,
        _PLAIN,
        replace(_S2_V3, name="rules", decider="rules"),
        replace(
            _S2_V3,
            name="default",
            superseding="mass",
            past_contradicts=False,
            same_attribute=frozenset({Verdict.UPDATE, Verdict.CONTRADICTION}),
        ),
    )
}
DEFAULT = PRESETS["default"]


def preset(name: str) -> Method:
    """The preset called ``name``.

    Raises:
        InputError: there is none; the hint lists all.
    """
    if name in PRESETS:
        return PRESETS[name]
    raise InputError(
        f"unknown preset: {name!r}", hint="One of: " + ", ".join(PRESETS), field="preset"
    )

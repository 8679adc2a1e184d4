"""A decider without a model: plain rules over names, predicates and dates.

The default when no key is set. It answers what follows from the vocabulary (a one-valued relation
has one value at a time, the same words say the same) and says ``new`` to everything else: it
closes too little rather than too much.
"""

from __future__ import annotations

import re
import time

from engram_graph.models.decisions import Answer, Ask, Question, Reply
from engram_graph.models.facts import Draft, Fact
from engram_graph.rules import questions as ask_about
from engram_graph.rules.entities import same_entity
from engram_graph.rules.gates import one_valued
from engram_graph.rules.names import USER, entity_key, normal_text
from engram_graph.vocabulary import FALLBACK, SUPERSEDING, TemporalStatus, Verdict

_HEARSAY = 0.80  # likely, and below what a second phrasing must reach to close anything
_OTHER_WORDS = 0.30  # likely another fact, and too little to undo a link somebody else made
_HAPPENED = frozenset({TemporalStatus.CURRENT, TemporalStatus.PAST})
_SMALL_WORDS = frozenset(
    {"a", "an", "the", "of", "in", "on", "at", "to", "for", "and", "or", "with"}
    | {"his", "her", "their", "my", "our", "its"}
)
# What a text says right behind its subject of a time to come, of what is only supposed, of an end.
_AHEAD = re.compile(r"(?:will|shall|(?:is|am|are) (?:going|about) to|(?:plan|hope|intend)s? to)\b")
_SUPPOSED = re.compile(r"(?:would|might|may|could)\b")
_OVER = re.compile(r"(?:(?:is|am|are|has|have) )?(?:no longer|stopped|quit|given up|gave up)\b")
_OTHERWISE = re.compile(r"\b(?:but|instead|for|now)\b")
# The verbs of a plan that each relation makes true. "Any" takes the object's words alone.
_COMES_TRUE: dict[str, frozenset[str] | None] = {
    "lives_in": frozenset({"move", "moving", "live", "living", "relocate", "settle"}),
    "works_at": frozenset({"work", "working", "join", "joining", "start", "starting"}),
    "has_role": frozenset({"become", "becoming", "be", "work", "working"}),
    "studies_at": frozenset({"study", "studying", "attend", "enrol", "enroll", "start", "join"}),
    "married_to": frozenset({"marry", "marrying", "wed", "married"}),
    "owns": frozenset({"buy", "buying", "get", "getting", "own", "owning", "adopt", "purchase"}),
    "uses": frozenset({"use", "using", "switch", "switching", "try", "adopt"}),
    "member_of": frozenset({"join", "joining", "member"}),
    "speaks": frozenset({"learn", "learning", "speak", "study", "studying"}),
    "follows_diet": frozenset({"become", "becoming", "go", "going", "eat", "eating", "try"}),
    "hobby": frozenset({"start", "starting", "take", "taking", "learn", "learning", "try"}),
    "habit": frozenset({"start", "starting", "begin"}),
    "attended": None,
}


class RulesDecider:
    """Answers with certainty, or not at all, or (hearsay) likely; always the same to the same.

    Args:
        guesses: also answer what these rules only suppose: ``new`` for a pair they find nothing
            in, the extractor's own labels, no to what they cannot see. Off, such a question gets a
            fallback: another decider may know.
    """

    name = "rules"

    def __init__(self, *, guesses: bool = True) -> None:
        self.model = "rules-1" if guesses else "rules-1-sure"
        self._guesses = guesses

    async def ask(self, ask: Ask) -> Reply:
        """Answer every question of ``ask``; an unknown question gets a fallback. Never raises."""
        began = time.perf_counter()
        answers = {question.id: self._answer(ask, question) for question in ask.questions}
        spent = (time.perf_counter() - began) * 1000
        return Reply(answers, backend=self.name, model=self.model, latency_ms=spent, cost_usd=0.0)

    async def aclose(self) -> None:
        """Nothing to release."""

    def _answer(self, ask: Ask, question: Question) -> Answer:
        if question.type == "noul":
            p = _yes(ask, question)
            if p is not None and (self._guesses or _knows_yes(question, p)):
                return Answer(question.id, {"yes": p, "no": 1.0 - p}, self.name)
        elif (label := _label(ask, question)) in question.options and (
            self._guesses or _knows_label(question, label)
        ):
            p = _HEARSAY if label in SUPERSEDING and _is_hearsay(ask, question) else 1.0
            answer = dict.fromkeys(question.options, 0.0)
            if p < 1.0:
                answer[Verdict.NEW.value] = 1.0 - p
            answer[label] = p
            return Answer(question.id, answer, self.name)
        return Answer(question.id, {}, self.name, fallback=True)


def _knows_yes(question: Question, p: float) -> bool:
    """Whether a noul's answer follows from names, words and the vocabulary."""
    certain = (ask_about.SAME_ATTRIBUTE, ask_about.PLAN_FULFILLED, ask_about.SAME_FACT)
    return p == 1.0 and question.name in certain


def _knows_label(question: Question, label: str) -> bool:
    """Whether a choice's answer does; ``new`` only means that nothing was found."""
    return question.name in (ask_about.RELATION, ask_about.SECOND) and label != Verdict.NEW


def _yes(ask: Ask, question: Question) -> float | None:
    """Probability of yes; None for a question these rules do not know."""
    if question.name in (ask_about.WORTH, ask_about.WORTH_SENTENCE):
        return 1.0  # without a model, what was said is worth keeping
    if question.pair is not None:
        return same_entity(*question.pair)
    if question.turn is not None:
        message = question.turn.message
        return _relevance(ask.message, f"{message.speaker} {message.text}")
    old, new = question.candidate, ask.new_fact(question)
    if old is None:
        return None
    if question.name == ask_about.SAME_ATTRIBUTE:
        return float(_same_relation(new, old) and one_valued(old.predicate))
    if question.name == ask_about.PLAN_FULFILLED:
        return float(fulfils(new, old))
    if question.name == ask_about.SAME_FACT:
        if _denies(new) != _denies(old):
            return 0.0
        return 1.0 if _says_the_same(new, old) else _OTHER_WORDS
    if question.name == ask_about.RELEVANT:
        return _relevance(ask.message, f"{old.text} {old.subject} {old.object}")
    return None


def _label(ask: Ask, question: Question) -> str:
    """The label of a choice; empty for a question these rules do not know."""
    draft = ask.draft
    if question.name in (ask_about.RELATION, ask_about.SECOND) and question.candidate:
        return relation(
            draft, question.candidate, late=ask.valid_from < question.candidate.valid_from
        )
    known = {
        ask_about.KIND: draft.kind,
        ask_about.TEMPORAL: _temporal(draft),
        ask_about.EDGE_TYPE: draft.predicate,
        ask_about.DURABILITY: draft.durability,
        ask_about.SENSITIVITY: draft.sensitivity,
        ask_about.QUERY_RELATION: "none",
    }
    return known.get(question.name, "")


def relation(draft: Draft, old: Fact, *, late: bool = False) -> Verdict:
    """How ``draft`` relates to ``old``, as far as names and predicates tell.

    - Another subject: new.
    - The same triple, or the same words about the same subject: duplicate. If one of the two is
      negated: negates, so that a negation is negated in its turn. "Odo no longer plays chess"
      negates his hobby also when it is only given as related to chess.
    - Another value of a one-valued relation, both positive: update. "Odo does not live in Ostwick"
      says nothing about Marrowby: new. A part of the old value ("the bindery of Hollin Press"):
      refinement; the whole of which it was a part: new.
    - Plans and suppositions replace nothing and are not replaced: new. Nor does "used to live in"
      say what is so now; only told with an earlier start (``late``) it takes its place before.
    """
    if entity_key(draft.subject) != old.subject_key:
        return Verdict.NEW
    real = draft.temporal_status in _HAPPENED and old.temporal_status in _HAPPENED
    bygone = draft.temporal_status == TemporalStatus.PAST and not late
    denied, was_denied = _denies(draft), _denies(old)
    if denied != was_denied and (_says_the_same(draft, old) or _is_about(draft, old)):
        return Verdict.NEGATES if real else Verdict.NEW
    if _says_the_same(draft, old):
        return Verdict.DUPLICATE if draft.temporal_status == old.temporal_status else Verdict.NEW
    replaces = _same_relation(draft, old) and one_valued(old.predicate)
    if not replaces or denied or was_denied or not real or bygone:
        return Verdict.NEW
    if _is_part(draft.object, old.object):
        return Verdict.REFINEMENT
    return Verdict.NEW if _is_part(old.object, draft.object) else Verdict.UPDATE


def _is_hearsay(ask: Ask, question: Question) -> bool:
    """Whether a third person says otherwise than the subject has said of themselves.

    The unnamed ``user`` is whose memory this is, and is taken at their word.
    """
    speaker, old = entity_key(ask.speaker), question.candidate
    if old is None or speaker in (old.subject_key, USER):
        return False
    return any(entity_key(name) == old.subject_key for name in question.told_by)


def fulfils(draft: Draft, plan: Fact) -> bool:
    """Whether ``draft`` tells that ``plan`` came true.

    The plan's own triple is now so; or its text holds every word of the new object, and a verb that
    fits the new relation ("plans to move to Ostwick", then: lives in Ostwick).
    """
    happened = _temporal(draft) in _HAPPENED and not _denies(draft) and not plan.negated
    if not happened or entity_key(draft.subject) != plan.subject_key:
        return False
    if draft.predicate == plan.predicate and entity_key(draft.object) == plan.object_key:
        return plan.temporal_status == TemporalStatus.PLANNED
    if draft.predicate not in _COMES_TRUE:
        return False
    verbs, wanted, planned = _COMES_TRUE[draft.predicate], _words(draft.object), _words(plan.text)
    if not wanted or not wanted <= planned:
        return False
    return verbs is None or any(_stem(verb) in planned for verb in verbs)


def _same_relation(draft: Draft, old: Fact) -> bool:
    return entity_key(draft.subject) == old.subject_key and draft.predicate == old.predicate


def _says_the_same(draft: Draft, old: Fact) -> bool:
    same_object = entity_key(draft.object) == old.object_key
    if _same_relation(draft, old) and same_object:
        return True
    return (
        entity_key(draft.subject) == old.subject_key
        and normal_text(draft.text) == normal_text(old.text)
        and draft.negated == old.negated
    )


def _is_about(draft: Draft, old: Fact) -> bool:
    """Whether one of the two only relates the same subject and object, and may mean the other."""
    same_object = entity_key(draft.object) == old.object_key
    return same_object and FALLBACK in (draft.predicate, old.predicate)


def _is_part(part: str, whole: str) -> bool:
    """ "Bindery of Hollin Press" is a part of "Hollin Press"; "New York" is none of "York"."""
    return any(
        entity_key(part).endswith(f" {of} {article}{entity_key(whole)}")
        for of in ("of", "at", "in")
        for article in ("", "the ")
    )


def _temporal(draft: Draft) -> TemporalStatus:
    """The extractor's label; where it sees nothing special, what the words behind the subject say:
    "Odo will move to Ostwick" is planned, "Odo might move there" hypothetical."""
    if draft.temporal_status != TemporalStatus.CURRENT:
        return draft.temporal_status
    said = _said_of(draft.subject, draft.text)
    if _AHEAD.match(said):
        return TemporalStatus.PLANNED
    return TemporalStatus.HYPOTHETICAL if _SUPPOSED.match(said) else TemporalStatus.CURRENT


def _denies(fact: Draft | Fact) -> bool:
    """Whether it is negated, or its text ends the object ("Odo no longer plays chess") and goes
    on to nothing else."""
    if fact.negated:
        return True
    said = _said_of(fact.subject, fact.text)
    over = _OVER.match(said) is not None and fact.predicate != "dislikes"
    return over and not _OTHERWISE.search(said) and _ends_with(said, fact.object)


def _ends_with(text: str, name: str) -> bool:
    return f" {normal_text(text)}".endswith(f" {entity_key(name)}")


def _said_of(subject: str, text: str) -> str:
    """What follows the subject at the beginning of a text; nothing if it begins otherwise."""
    for name in (subject, "I"):
        if text.lower().startswith(f"{name.lower()} "):
            return text[len(name) :].lstrip()
    return ""


def _relevance(query: str, text: str) -> float:
    """From .5 (these rules cannot tell) up to 1 (``text`` holds every word of the query)."""
    wanted = _words(query)
    shared = wanted & _words(text)
    return 0.5 + 0.5 * len(shared) / len(wanted) if wanted else 0.5


def _words(text: str) -> frozenset[str]:
    """Lower-case words without small ones, without a plural s."""
    words = re.findall(r"\w+", normal_text(text))
    return frozenset(_stem(word) for word in words if word not in _SMALL_WORDS)


def _stem(word: str) -> str:
    return word.removesuffix("s") if len(word) > 3 else word

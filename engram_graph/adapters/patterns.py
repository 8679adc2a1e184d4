"""Extractor for plain English sentences, without a model and without a key.

It reads first-person statements ("I moved to Lisbon in March") and simple ones about a named person
("My sister Anna lives in Graz"). It prefers silence to a wrong fact: questions, quotations,
suppositions about others and whatever it does not understand give no draft.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import anyio.to_thread

from engram_graph.adapters import patterns_text as text_tools
from engram_graph.adapters import usage
from engram_graph.adapters.patterns_dates import Dated, take_date
from engram_graph.adapters.patterns_drafts import (
    Clause,
    date_words,
    lies_ahead,
    make_draft,
    objects,
    spoken,
    subject_name,
    with_article,
)
from engram_graph.adapters.patterns_rules import MY, MY_PERSON, NAME, RULES, Rule
from engram_graph.models.facts import Draft, Message
from engram_graph.vocabulary import Role, TemporalStatus

_SUBJECT = re.compile(rf"(?P<s>(?i:i|we)|{NAME})\s+(?P<vp>\S.*)", re.DOTALL)
_WE = frozenset({"lives_in", "owns", "attended", "plans", "married_to"})
_IF = re.compile(r"(?:if|unless|in case|once|when) [^,]{3,80}, (?=I\b)", re.IGNORECASE)
_UNSURE = re.compile(
    r"^(?:if|unless|imagine|suppose|what if|would|could|should|maybe if|were|had I|i wish|i guess"
    r"|i bet|let us|let's)\b",
    re.IGNORECASE,
)
_MIGHT = re.compile(r"(?:might|may) (?P<o>(?!be\b|have\b|not\b|seem\b|sound\b|need\b).+)", re.I)
_GOING = re.compile(
    r"(?:am|is|are) (?P<verb>moving|relocating|visiting|starting|joining|buying|adopting|selling"
    r"|travelling|traveling|flying|leaving|retiring|marrying|taking|running|running in) "
    r"(?P<rest>.+)",
    re.IGNORECASE,
)
_TRIP = re.compile(r"(?:am|is|are) (?:going|flying|travell?ing) to (?P<o>(?-i:[A-Z]).+)", re.I)
# "Moved to Lisbon last week.": the speaker is left out.
_ELIDED = re.compile(
    r"(?:Just |Finally |Recently )?(?:moved|started at|joined|bought|adopted|got promoted|quit my"
    r"|took up|gave up|went to|sold my|lost my|got a|left my) ",
    re.IGNORECASE,
)
_LEFT = re.compile(r"(?P<how>(?:have |has )?(?:left|quit)) (?P<o>(?-i:(?:the )?[A-Z]).+)", re.I)
_LONG = 10_000  # characters from which a message is read in a thread
_BASE = {
    "moving": "move", "relocating": "relocate", "visiting": "visit", "starting": "start",
    "joining": "join", "buying": "buy", "adopting": "adopt", "selling": "sell",
    "travelling": "travel", "traveling": "travel", "flying": "fly", "leaving": "leave",
    "retiring": "retire", "marrying": "marry", "taking": "take", "running": "run",
}  # fmt: skip
# With a name before it, a plain verb form means that the name is none ("Moments like that").
_PLURAL = re.compile(
    r"(?:like|love|hate|prefer|want|hope|plan|live|work|have|own|use|speak|study|play|enjoy|go|do"
    r"|eat|follow|need|dream|come|are|am|were)\b",
    re.IGNORECASE,
)
_PAIR = re.compile(
    rf"(?:(?P<a>{NAME}) and I|I and (?P<b>{NAME})) (?P<what>got married|are married|broke up"
    r"|split up|got divorced|are engaged|got engaged|are dating)",
)
_HABIT = re.compile(
    r"(?:I (?:usually|normally|always|often|regularly|typically) (?P<a>[a-z][\w' -]{3,60})"
    r"|(?P<when>every (?:morning|evening|night|day|weekend|sunday|monday|tuesday|wednesday|thursday"
    r"|friday|saturday)),? I (?P<b>[a-z][\w' -]{2,60})"
    r"|I (?P<c>(?!was|were|had|am|have|did|do|think|feel|see|love|hate)[a-z]+ [\w' -]{0,40}?"
    r"(?:every|each) (?:single )?(?:morning|evening|night|day|weekend|week|sunday|monday|tuesday"
    r"|wednesday|thursday|friday|saturday)))",
    re.IGNORECASE,
)
_NO_HABIT = re.compile(
    r"^(?:think|feel|wanted|knew|believe|find|see|say|wonder|have been|say|am)\b"
)


class PatternExtractor:
    """Drafts from sentence patterns; deterministic, offline, English only."""

    name = "patterns"

    async def extract(self, message: Message, recent: Sequence[Message]) -> list[Draft]:
        """Drafts of what a user's message states; other roles state nothing."""
        usage.cost(0.0)
        if len(message.text) < _LONG:
            return drafts(message, recent)
        return await anyio.to_thread.run_sync(drafts, message, recent)

    async def aclose(self) -> None:
        """Nothing is held open."""


def drafts(message: Message, recent: Sequence[Message] = ()) -> list[Draft]:
    """All drafts of one message, in the order of its sentences, each triple once.

    ``recent`` only tells whether "I left Acme" means a home or an employer.
    """
    if message.role is not Role.USER:
        return []
    found: dict[tuple[str, str, str, bool], Draft] = {}
    before = "\n".join(turn.text[:2_000] for turn in recent if turn.speaker == message.speaker)
    # A sentence told again says the same again: a log's million equal lines are read once.
    for sentence, plain in dict.fromkeys(text_tools.sentences(message.text)):
        if not plain:
            continue
        whole = Clause(message, sentence, text_tools.plain(sentence))
        if pair := _pair(whole):
            found.setdefault(
                (pair.subject, pair.predicate, pair.object.lower(), pair.negated), pair
            )
            continue
        for text in _clauses(sentence):
            for draft in _read(Clause(message, sentence, text, before)):
                key = (draft.subject, draft.predicate, draft.object.lower(), draft.negated)
                found.setdefault(key, draft)
    return list(found.values())


def _key(draft: Draft) -> tuple[str, str, str, bool]:
    return draft.subject, draft.predicate, draft.object.lower(), draft.negated


def _clauses(sentence: str) -> Iterator[str]:
    """Clauses that state something; a plan under a condition is marked by "might"."""
    if supposed := _IF.match(sentence):
        rest = text_tools.clauses(sentence[supposed.end() :])[:1]
        for clause in rest:
            if found := re.match(r"I (?:will|am going to|am) (.+)", clause):
                yield (
                    f"I might {_BASE.get(found[1].split()[0], found[1].split()[0])}"
                    + (found[1][len(found[1].split()[0]) :])
                )
        return
    if _UNSURE.match(sentence.strip()):
        return
    if _ELIDED.match(plain := text_tools.plain(sentence)):
        sentence = f"I {plain[0].lower()}{plain[1:]}"
    yield from (c for c in text_tools.clauses(sentence) if not _UNSURE.match(c))


def _read(clause: Clause) -> Iterator[Draft]:
    if habit := _habit(clause):
        yield habit
        return
    people = list(_people(clause))
    if people:
        yield from people
        return
    dated = take_date(clause.text, clause.message.said_at)
    for predicate, pattern, form, shape in MY:
        if found := pattern.fullmatch(dated.rest):
            what = found.groupdict().get("what") or ""
            for name in objects(found["o"], shape, predicate == "hobby", 8):
                sentence = form.format(s=clause.speaker, o=name, what=what)
                yield make_draft(clause, "I", predicate, name, sentence, dated)
            return
    found = _SUBJECT.fullmatch(dated.rest)
    if found and (found["s"].lower() in ("i", "we") or text_tools.is_name(found["s"])):
        yield from _phrase(clause, found["s"], found["vp"], dated)


def _people(clause: Clause) -> Iterator[Draft]:
    """ "My sister Anna …", "Tom is my friend": the relation, and what is said of the person."""
    for predicate, form, my_first, name_first in MY_PERSON:
        found = my_first.fullmatch(clause.text) or name_first.fullmatch(clause.text)
        if not found or not text_tools.is_name(found["o"]):
            continue
        if found.re is name_first and not re.search(r"\b(?:my|of mine)\b", found[0], re.I):
            continue
        former = re.search(r"\b(?:former|ex)[ -]", found[0][:40], re.I)
        if not former:
            text = form.format(o=found["o"], s=clause.speaker, kin=found["kin"].lower())
            yield make_draft(clause, "I", predicate, found["o"], text, Dated(""))
        rest = (found["rest"] or "").strip(" ,")
        if rest:
            dated = take_date(rest, clause.message.said_at)
            yield from _phrase(clause, found["o"], dated.rest, dated)
        return


def _pair(clause: Clause) -> Draft | None:
    dated = take_date(clause.text, clause.message.said_at)
    found = _PAIR.fullmatch(dated.rest)
    if not found or not text_tools.is_name(found["a"] or found["b"]):
        return None
    what = found["what"]
    predicate = "married_to" if "married" in what or "divorced" in what else "partner_of"
    over = "up" in what.split() or "divorced" in what
    name = found["a"] or found["b"]
    return make_draft(clause, "I", predicate, name, "", dated, negated=over)


def _habit(clause: Clause) -> Draft | None:
    found = _HABIT.fullmatch(clause.text)
    if not found:
        return None
    act = found["a"] or found["c"] or found["b"]
    name = f"{act.strip()} {found['when'].lower()}" if found["b"] else act.strip()
    if text_tools.trim(name, "act") is None or _NO_HABIT.match(name) or len(name.split()) > 12:
        return None
    return make_draft(
        clause, "I", "habit", name, f"{clause.speaker} has a habit: {name}", Dated("")
    )


def _phrase(clause: Clause, who: str, phrase: str, dated: Dated) -> Iterator[Draft]:
    subject = "I" if who.lower() in ("i", "we") else who
    verb = text_tools.without_adverbs(phrase)
    if plan := _plan(clause, subject, verb, dated):
        yield plan
        return
    if subject != "I" and _PLURAL.match(verb):
        return
    if left := _left(clause, subject, verb, dated):
        yield left
        return
    verb, denied, anymore = _negation(verb)
    short = verb.split(",", 1)[0].rstrip()
    for text in (verb,) if short == verb else (verb, short):
        for rule in RULES:
            if who.lower() == "we" and rule.predicate not in _WE:
                continue
            found = rule.pattern.fullmatch(text)
            if not found or (denied and not _deniable(rule, anymore)):
                continue
            made = list(_drafts_of(rule, found, clause, subject, dated, denied, anymore))
            if made:
                yield from made
                return


def _left(clause: Clause, subject: str, verb: str, dated: Dated) -> Draft | None:
    """ "I left Acme": an employer or a home, whichever earlier turns speak of; else neither."""
    found = _LEFT.fullmatch(verb)
    name = text_tools.trim(found["o"], "org") if found else None
    if not found or not name or len(name.split()) > 4:
        return None
    name = re.sub(r" for .*", "", name)
    known = re.escape(name)
    if found["how"].endswith("quit") or re.search(rf"\b(?:at|for) {known}\b", clause.before):
        predicate = "works_at"
    elif re.search(rf"\b(?:in|to) {known}\b", clause.before):
        predicate = "lives_in"
    else:
        return None
    return make_draft(clause, subject, predicate, name, "", dated, negated=True)


def _deniable(rule: Rule, anymore: bool) -> bool:
    if rule.past or (rule.negated and rule.deny != "negated"):
        return False
    return bool(rule.deny) and not (rule.deny == "anymore" and not anymore) and not rule.negated


def _negation(verb: str) -> tuple[str, bool, bool]:
    """The phrase without its "not", whether it had one, and whether that was "any more"."""
    anymore = bool(re.search(r"\banymore\b|\bno longer\b", verb))
    plain = re.sub(r"\s*\banymore\b", "", verb)
    if found := re.match(r"(?:do|does) not (?:be )?(.+)", plain):
        return text_tools.without_adverbs(found[1]), True, anymore
    if found := re.match(r"(am|is|are) (?:not|no longer) (?!a fan)(.+)", plain):
        return f"{found[1]} {text_tools.without_adverbs(found[2])}", True, anymore
    if found := re.match(r"no longer (.+)", plain):
        return found[1], True, True
    return plain, False, anymore


def _drafts_of(
    rule: Rule,
    found: re.Match[str],
    clause: Clause,
    subject: str,
    dated: Dated,
    denied: bool,
    anymore: bool,
) -> Iterator[Draft]:
    predicate, negated = rule.predicate, rule.negated or denied
    if denied and rule.deny == "dislikes" and not anymore:
        predicate, negated = "dislikes", False
    groups = found.groupdict()
    past = rule.past or bool(dated.end and dated.end <= clause.message.said_at)
    if dated.duration and re.match(r"(?:lived|worked|studied|was|used)\b", found[0]):
        dated = Dated(dated.rest)  # "for two years" of the past has no date
    names = objects(found["o"], rule.shape, rule.lists, rule.maximum)
    for name in names:
        if rule.shape == "place" and not text_tools.is_place(name, clause.sentence):
            continue
        if rule.shape == "name" and not text_tools.is_name(name):
            continue
        if rule.shape == "act":  # "thinking of buying a boat"
            name = text_tools.base_form(name)
        yield make_draft(
            clause, subject, predicate, name, "", dated, negated=negated, past=past,
            planned=rule.planned, as_said=spoken(found["o"], name, rule.predicate),
        )  # fmt: skip
    if not names or denied:
        return
    if (role := groups.get("role")) and (title := text_tools.trim(role, "role")):
        yield make_draft(
            clause, subject, "has_role", title, "", dated, past=past, as_said=with_article(title)
        )
    if (org := groups.get("org")) and re.match(r"(?:the )?[A-Z]", org):
        place = text_tools.trim(org, "org")
        if place:
            yield make_draft(clause, subject, "works_at", place, "", dated, past=past)


def _plan(clause: Clause, subject: str, verb: str, dated: Dated) -> Draft | None:
    """Coming things: "I am moving to Porto in June", "I might buy a boat"."""
    unsure = _MIGHT.fullmatch(verb)
    if unsure:
        name = text_tools.trim(unsure["o"], "act")
    elif (found := _TRIP.fullmatch(verb)) and lies_ahead(dated):
        goal = text_tools.trim(found["o"], "place")
        name = f"go to {goal}" if goal else None
    elif found := _GOING.fullmatch(verb):
        if found["verb"].lower() not in ("moving", "relocating") and not lies_ahead(dated):
            return None
        rest = text_tools.trim(found["rest"], "act")
        name = f"{_BASE[found['verb'].lower()]} {rest}" if rest else None
    else:
        return None
    if not name or len(name.split()) > 10:
        return None
    coming = date_words(dated) if lies_ahead(dated) else ""
    verb_text = "may" if unsure else "plans to"
    text = f"{subject_name(clause, subject)} {verb_text} {name}{coming}"
    draft = make_draft(clause, subject, "plans", name, text, dated, planned=True)
    if unsure:
        draft = draft.model_copy(update={"temporal_status": TemporalStatus.HYPOTHETICAL})
    return draft

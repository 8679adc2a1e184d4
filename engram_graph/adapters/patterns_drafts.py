"""How a match becomes a draft: the name of the object, the sentence, dates and labels. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from engram_graph.adapters import patterns_text as text_tools
from engram_graph.adapters.patterns_dates import Dated, next_occurrence
from engram_graph.adapters.patterns_rules import TEXTS
from engram_graph.models.facts import Draft, Message
from engram_graph.vocabulary import Durability, FactKind, Sensitivity, TemporalStatus

_KINDS = {
    "prefers": FactKind.PREFERENCE, "dislikes": FactKind.PREFERENCE, "attended": FactKind.EVENT,
    "plans": FactKind.TASK, "goal": FactKind.TASK, "family_of": FactKind.RELATIONSHIP,
    "friend_of": FactKind.RELATIONSHIP, "colleague_of": FactKind.RELATIONSHIP,
    "married_to": FactKind.RELATIONSHIP, "partner_of": FactKind.RELATIONSHIP,
}  # fmt: skip
_DURABILITY = {
    "born_in": Durability.PERMANENT, "family_of": Durability.PERMANENT,
    "attended": Durability.PERMANENT, "plans": Durability.SHORT_LIVED,
}  # fmt: skip
_SENSITIVITY = {
    "allergic_to": Sensitivity.HEALTH, "has_condition": Sensitivity.HEALTH,
    "married_to": Sensitivity.RELATIONSHIP, "partner_of": Sensitivity.RELATIONSHIP,
}  # fmt: skip
_THEIR = re.compile(r"\b(?:my|our)\b")
# Behind these words nothing is listed any more.
_LIST_END = re.compile(
    r"\s(?:with|'?cause|because|for|in|at|on|from|when|that|which|since|as|more|so)\b.*|\s-\s.*"
)


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause, its sentence and message, and what the speaker said ``before``."""

    message: Message
    sentence: str
    text: str
    before: str = ""

    @property
    def speaker(self) -> str:
        return self.message.speaker if self.message.speaker.strip() else "user"


def spoken(raw: str, name: str, predicate: str) -> str:
    """The object as it reads in a sentence: with the article that was taken from it."""
    if re.match(r"an? [^,]* (?:called|named) ", raw) and name.split()[0] in raw:
        return raw
    near = re.search(rf"\b(an?|the|to)(?: own| new| old)? {re.escape(name)}", f" {raw}", re.I)
    if predicate == "has_role" and not near and not re.match(r"head of|[A-Z]{2}|the ", name):
        return with_article(name)
    if not near or name.lower().startswith("the "):
        return name
    return f"{near[1].lower()} {name}"


def with_article(title: str) -> str:
    return f"{'an' if title[0] in 'aeiouAEIO' else 'a'} {title}"


def objects(raw: str, shape: str, lists: bool, maximum: int) -> list[str]:
    """The objects that ``raw`` names; none if it begins with something unclear."""
    parts = [raw]
    if lists:
        listed = raw if shape == "word" else _LIST_END.sub("", raw)
        parts = re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", listed)
        sizes = [len(part.split()) for part in parts]
        alike = sizes[0] >= sizes[-1] or parts[0].endswith("ing") or shape not in ("taste", "hobby")
        if max(sizes) > 5:
            parts = parts[:1]
        elif not alike:  # "action and science fiction films" is one thing
            parts = [listed.split(",")[0]]
    names = [text_tools.trim(part, shape) for part in parts]
    if not names[0]:
        return []
    return [name for name in names if name and len(name.split()) <= maximum]


def date_words(dated: Dated) -> str:
    """The date as it stands at the end of a sentence."""
    if not dated.when or dated.duration:
        return ""
    return f" {dated.when[0].lower()}{dated.when[1:]}"


def lies_ahead(dated: Dated) -> bool:
    """Whether the date is, or can be, one after the message."""
    return dated.future or bool(dated.when and next_occurrence(dated.when))


def subject_name(clause: Clause, subject: str) -> str:
    """How the subject is called in a text: the speaker for "I"."""
    return clause.speaker if subject == "I" else subject


def make_draft(
    clause: Clause,
    subject: str,
    predicate: str,
    name: str,
    text: str,
    dated: Dated,
    *,
    negated: bool = False,
    past: bool = False,
    planned: bool = False,
    as_said: str = "",
) -> Draft:
    start: datetime | None = None if planned else dated.start
    if start and start > clause.message.said_at:
        start = None
    ended = past and not negated
    if not text:
        form = TEXTS[predicate][1 if negated else 2 if ended else 0]
        text = f"{subject_name(clause, subject)} {form.format(o=as_said or name)}"
        coming = (planned or predicate == "goal") and lies_ahead(dated)
        if coming or predicate == "attended" or (ended and dated.end):
            text += date_words(dated)
    text = _THEIR.sub("their", text)
    status = TemporalStatus.CURRENT
    if planned:
        status = TemporalStatus.PLANNED
    elif ended:
        status = TemporalStatus.PAST
    return Draft(
        subject=subject,
        predicate=predicate,
        object=name,
        text=text,
        when=dated.when if start else None,
        quote=clause.sentence,
        valid_from=start,
        valid_until=dated.end if ended else None,
        negated=negated,
        temporal_status=status,
        kind=_KINDS.get(predicate, FactKind.BIO),
        durability=_DURABILITY.get(predicate, Durability.LONG_TERM),
        sensitivity=_SENSITIVITY.get(predicate, Sensitivity.NONE),
    )

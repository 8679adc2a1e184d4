"""How each question of ``rules.questions`` is put to a model, and what each answer means.

Plain and literal: one judgement a question, data named by its path in the state (back-ticked),
every option described. ``{known}`` stands for the path of the fact compared with, ``{new}`` for
that of the new fact, or of a second known one.
Change a wording only together with its version here and the question's own in ``rules.questions``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engram_graph.rules import questions as ask
from engram_graph.vocabulary import FALLBACK, PREDICATES

Part = Literal["new_fact", "message", "query"]


@dataclass(frozen=True, slots=True)
class Wording:
    """The text of one question.

    Attributes:
        reads: the parts of the state it points at, besides the fact compared with.
        criteria: option → when it is the answer; of a noul ``true`` (yes) and ``false`` (no).
    """

    instructions: str
    criteria: dict[str, str]
    reads: tuple[Part, ...] = ("new_fact",)
    version: int = 1

    def filled(self, known: str, new: str = "new_fact") -> tuple[str, dict[str, str]]:
        """Instructions and criteria about the facts at the paths ``known`` and ``new``."""

        def fill(text: str) -> str:
            return text.replace("{known}", f"`{known}`").replace("{new}", f"`{new}`")

        return fill(self.instructions), {key: fill(text) for key, text in self.criteria.items()}


_WORTH_CRITERIA = {
    "true": "It tells something about a person, or about their life, work, tastes, plans, "
    "belongings or surroundings, that can be of use in a later conversation; or the speaker asks "
    "for it to be remembered.",
    "false": "It is a greeting, thanks, small talk, a question, a remark that matters only within "
    "this conversation, or common knowledge.",
}
_RELATION_CRITERIA = {
    "new": "The two are about different subjects or different matters, or both hold side by side "
    "and each tells something of its own.",
    "duplicate": "The two say the same about the same subject, in equal or in other words; "
    "`new_fact` adds no detail.",
    "update": "`new_fact` tells a changed value of the same attribute of the same subject: what "
    "{known} says held before, and what `new_fact` says took its place.",
    "contradiction": "The two are about the same attribute of the same subject and only one of "
    "them can be true; `new_fact` tells of no change, so one of them is a mistake.",
    "refinement": "`new_fact` repeats what {known} says and makes it more exact or adds detail; "
    "both are true together.",
    "negates": "`new_fact` says that what {known} says has ended or is false, and names nothing "
    "in its place.",
}

WORDINGS: dict[str, Wording] = {
    ask.WORTH: Wording(
        "Is `new_fact.text`, taken from `message.text`, worth keeping in the long-term memory of "
        "an assistant?",
        _WORTH_CRITERIA,
        reads=("new_fact", "message"),
    ),
    ask.KIND: Wording(
        "What kind of thing does `new_fact.text` tell?",
        {
            "preference": "What somebody likes, dislikes, prefers or chooses as a rule.",
            "bio": "A lasting trait or circumstance of somebody or something: home, job, origin, "
            "health, belongings, skills, habits.",
            "event": "Something that happens or happened at a certain time.",
            "relationship": "How two people, or a person and a group or animal, belong together.",
            "task": "Something to be done: a plan, goal, duty, appointment or request.",
            "opinion": "A judgement or belief somebody has about a matter.",
        },
    ),
    ask.TEMPORAL: Wording(
        "How does what `new_fact.text` says stand to the moment at which `message.text` was said?",
        {
            "current": "It holds at that moment. A change that is reported as completed belongs "
            "here: its result holds now.",
            "planned": "It is intended, arranged or expected, and still lies ahead.",
            "past": "It held or happened before that moment and is over.",
            "hypothetical": "It is imagined, wished for, conditional or only considered; nobody "
            "says that it happened, holds or is going to be.",
        },
        reads=("new_fact", "message"),
    ),
    ask.EDGE_TYPE: Wording(
        "Which relation of `new_fact.subject` to `new_fact.object` is `new_fact.text` about? A "
        "text saying that a relation ended or is absent is about that relation.",
        {p.name: f"`new_fact.object` is {p.help}" for p in PREDICATES.values()}
        | {
            "born_in": "`new_fact.object` is the place or the time of birth",
            "lives_in": "`new_fact.object` is the place of the home",
            FALLBACK: "`new_fact.object` stands in a relation that all other options leave out",
        },
    ),
    ask.DURABILITY: Wording(
        "For how long is `new_fact.text` likely to stay true and useful?",
        {
            "permanent": "For life: birth, origin, family ties, finished events.",
            "long_term": "For months or years: home, job, relationships, tastes, habits, goals.",
            "short_lived": "For hours, days or a few weeks: moods, weather, errands, colds, "
            "appointments.",
        },
    ),
    ask.SENSITIVITY: Wording(
        "What private matter does `new_fact.text` give away?",
        {
            "none": "Only what people tell acquaintances freely.",
            "health": "An illness, injury, allergy, disability, treatment or state of mind.",
            "financial": "Income, debts, savings, prices paid, or the state of an account.",
            "relationship": "Love, sex, conflict, separation or other intimate matters between "
            "people.",
            "credentials": "A secret that opens something: a password, PIN, access key, token, or "
            "the number of a card, account or identity document.",
        },
    ),
    ask.RELATION: Wording(
        "Memory holds {known}. How does `new_fact`, told in `message.text`, relate to it?",
        _RELATION_CRITERIA,
        reads=("new_fact", "message"),
    ),
    ask.SECOND: Wording(
        "Read {known} first, then `new_fact`, the later statement. Once `new_fact` is taken as "
        "said in `message.text`, what does it make of {known}?",
        _RELATION_CRITERIA,
        reads=("new_fact", "message"),
    ),
    ask.SAME_ATTRIBUTE: Wording(
        "Do `new_fact` and {known} give a value of the same attribute of the same subject, an "
        "attribute that has one value at a time?",
        {
            "true": "Same subject and same attribute, and a new value takes the place of the old "
            "one, as with a home, an employer, an age, a favourite or the name of one thing.",
            "false": "The subjects or the attributes differ, or several values can hold at the "
            "same time, as with hobbies, friends or pets.",
        },
    ),
    ask.PLAN_FULFILLED: Wording(
        "Does `new_fact` tell that the plan or goal in {known} has been carried out?",
        {
            "true": "What {known} intends has happened or holds now, for the same subject, and "
            "`new_fact` says so.",
            "false": "`new_fact` is about something else, or the plan still lies ahead, has only "
            "begun, was changed or was given up.",
        },
    ),
    ask.RELEVANT: Wording(
        "Does {known} help to answer `query`?",
        {
            "true": "It holds the answer, a part of it, or something needed to work it out.",
            "false": "It leaves the answer as open as before, even where it shares words or a "
            "person with the question.",
        },
        reads=("query",),
    ),
    ask.QUERY_RELATION: Wording(
        "Which relation of a person or thing does `query` ask about?",
        {p.name: f"It asks about {p.help}" for p in PREDICATES.values() if p.name != FALLBACK}
        | {"none": "It asks about another relation, about several, or about none in particular."},
        reads=("query",),
    ),
    ask.SAME_FACT: Wording(
        "Do {new} and {known} state one and the same fact?",
        {
            "true": "Same subject, same relation and same content; they differ at most in wording.",
            "false": "The subject, the relation, the value or a detail differs.",
        },
    ),
    ask.SAME_ENTITY: Wording(
        "Are `first` and `second` of {known} two names of one and the same person or thing?",
        {
            "true": "The names can mean one and the same, and what is known of both fits together "
            "as facts about one: shared relatives, places, work or words, and nothing that speaks "
            "against it.",
            "false": "What is known of them differs where one person or thing has one value, or "
            "one stands in a relation to the other; or nothing but the likeness of the names "
            "speaks for it.",
        },
        reads=(),
    ),
    ask.WORTH_SENTENCE: Wording(
        "Is `message.text` worth keeping in the long-term memory of an assistant?",
        _WORTH_CRITERIA,
        reads=("message",),
    ),
}

TURN_RELEVANT = Wording(
    "Does the `text` of {known}, said on its `said_on`, help to answer `query`? Its `before`, if "
    "there is one, is the turn before it and only tells how to read it.",
    {
        "true": "It holds the answer, a part of it, or something needed to work it out, such as "
        "when something happened or what somebody agrees to.",
        "false": "It leaves the answer as open as before, even where it shares words or a person "
        "with the question, or where only `before` says something on it.",
    },
    reads=("query",),
)
"""``relevant_to_query`` about a message instead of a fact."""

"""Names and texts compared: entity keys, first person, exact repetition, names in a sentence.

Source: decision_rules §3 (entity normalisation), house rules 2 and 6.
"""

from __future__ import annotations

import re
import unicodedata

from engram_graph.vocabulary import Role

_EDGES = " .,'\""
_ARTICLES = ("the ", "a ", "an ")
_FIRST_PERSON = frozenset({"i", "me", "my", "myself", "mine", "user"})
USER = "user"
"""The name of the person an assistant speaks to."""

_CHARS = 10_000
_WORDS = 100
_LONGEST = 4  # words of a name
_SEPARATORS = re.compile(r"[\s,;:()\[\]{}\"“”„«»/|—–]+")
_SENTENCE_ENDS = (".", "!", "?", "…")
_PRONOUNS = """
i i'm i've i'd i'll me my myself mine you you're your he he's him his she she's her it it's its
we we're our us they they're their them this that these those who whose somebody someone user
"""
_CALENDAR = """
january february march april may june july august september october november december
monday tuesday wednesday thursday friday saturday sunday
"""
_FIRST_WORDS = """
a an the and but or so if when while since because although after before until once now then
today yesterday tomorrow tonight recently lately soon still also again maybe perhaps actually
in on at by for from to of with without about as there here where what why how which
is are was were do does did has have had can could will would should might must
no not yes never always usually sometimes every each some any all most many please thanks
hello hi hey dear oh well just only last next later first finally
"""
_NOT_NAMES = frozenset((_PRONOUNS + _CALENDAR + _FIRST_WORDS).split())


def entity_key(name: str) -> str:
    """The normalised name two spellings of one entity share; empty only for blank text.

    NFC, lower case, single spaces, no full stop, comma or straight quote at the edges, and one
    leading article dropped (decision_rules §3).
    """
    plain = _plain(name)
    key = plain.strip(_EDGES)
    for article in _ARTICLES:
        if key.startswith(article):
            key = key.removeprefix(article).strip(_EDGES)
            break
    return key or plain


def is_first_person(name: str) -> bool:
    """Whether ``name`` means whoever speaks: I, me, my, myself, mine, user, the user."""
    return entity_key(name) in _FIRST_PERSON


def resolve_person(name: str, speaker: str, role: Role | str) -> str:
    """Whom ``name`` means in a message (house rule 6).

    The first person is the speaker; in an assistant's message it is the user, for an assistant
    does not remember facts about itself.
    """
    if not is_first_person(name):
        return name.strip()
    return USER if role == Role.ASSISTANT else speaker


def normal_text(text: str) -> str:
    """``text`` as compared for exact repetition: NFC, lower case, single spaces, bare edges."""
    plain = _plain(text)
    return plain.strip(_EDGES + "!") or plain


def rare_entity_names(text: str) -> tuple[str, ...]:
    """Capitalised phrases of ``text`` that may name an entity, in order, each key once.

    Months, weekdays, pronouns and common first words of a sentence are no names (decision_rules
    §4b). A phrase ends with its sentence and at punctuation.
    """
    found: dict[str, str] = {}
    phrase: list[str] = []

    def end_phrase() -> None:
        if phrase:
            name = " ".join(phrase)
            found.setdefault(entity_key(name), name)
            phrase.clear()

    # Separators are kept so that a comma between two names parts them, and a space does not.
    for piece in re.split(f"({_SEPARATORS.pattern})", unicodedata.normalize("NFC", text)):
        if not piece or piece.isspace():
            continue
        if _SEPARATORS.fullmatch(piece):
            end_phrase()
            continue
        word = piece.strip(".!?…'’").removesuffix("'s").removesuffix("’s")
        if word[:1].isupper() and word.lower().replace("’", "'") not in _NOT_NAMES:
            phrase.append(word)
            if word != piece.rstrip("'’") or piece.endswith(_SENTENCE_ENDS):
                end_phrase()  # a possessive or a full stop ends the name
        else:
            end_phrase()
    end_phrase()
    return tuple(found.values())


def possible_keys(text: str) -> tuple[str, ...]:
    """Keys of all that may be an entity's name in ``text``: every run of up to four of its first
    hundred words, in whatever case and script."""
    words = [word for word in _SEPARATORS.split(text[:_CHARS]) if word][:_WORDS]
    runs = (
        " ".join(words[begin : begin + length]).strip(".!?…'’")
        for length in range(1, _LONGEST + 1)
        for begin in range(len(words) - length + 1)
    )
    bare = (run.removesuffix("'s").removesuffix("’s") for run in runs)
    return tuple(dict.fromkeys(key for run in bare if (key := entity_key(run))))


def _plain(text: str) -> str:
    lowered = unicodedata.normalize("NFC", text).lower()
    return " ".join(unicodedata.normalize("NFC", lowered).split())

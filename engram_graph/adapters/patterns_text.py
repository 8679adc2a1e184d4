"""From a message to clauses, and from the rest of a clause to a clean object. Pure."""

from __future__ import annotations

import re

from engram_graph.adapters import patterns_words as words
from engram_graph.adapters.patterns_dates import join_date
from engram_graph.adapters.patterns_rules import NAME

_LONG = 600  # characters of a sentence: longer ones are not plain sentences
_SENTENCE = re.compile(r"[^.!?…\n]{1,2000}(?:\.(?=\w)[^.!?…\n]{0,2000}){0,20}[.!?…]{0,6}")
_CONTRACTIONS = tuple(
    (re.compile(rf"\b{short}\b", re.I), long)
    for short, long in (
        ("i'm", "I am"), ("i've", "I have"), ("i'll", "I will"), ("i'd", "I would"),
        ("im", "I am"), ("ive", "I have"), ("we're", "we are"), ("we've", "we have"),
        ("we'll", "we will"), ("can't", "cannot"), ("can not", "cannot"), ("won't", "will not"),
        ("gonna", "going to"), ("wanna", "want to"),
        ("(he|she)'s (?=been|moved|joined)", r"\1 has "),
        ("dont", "do not"), (r"(\w+)n't", r"\1 not"), ("any more", "anymore"),
        ("any longer", "anymore"),
    )
)  # fmt: skip
_LEAD = re.compile(
    r"^(?:(?:and|but|so|well|yes|yeah|yep|no|nope|oh|wow|ah|hmm|ok|okay|anyway|also|plus|actually"
    r"|honestly|luckily|fortunately|unfortunately|sadly|finally|apparently|frankly|besides|now"
    r"|by the way|btw|fyi|good news|big news|great news|bad news|guess what|fun fact|update|news"
    r"|to be honest|in fact|as you know|for the record|thankfully|at last|long story short"
    r"|these days|right now|at the moment|nowadays|currently|recently|lately|then|since then"
    r"|thanks|thank you|hey|hi|hello|sorry|believe it or not|after all that|haha|lol|same here"
    r"|me too|quick update|today|tonight)\b[ ,:!–—-]*|[-*•–—>\s]+)+",
    re.IGNORECASE,
)
_VERBS = (
    r"(?:moved|started|joined|bought|adopted|quit|left|took up|gave up|stopped|work|works|live"
    r"|lives|love|loves|hate|hates|like|prefer|have|has|got|went|attended|am|use|play|plays|speak"
    r"|want|plan|switched|sold|study|own|became|do not|cannot|sing|sings|enjoy|married)"
)
_BREAK = re.compile(
    rf"\s*;\s*|,?\s+(?:and|but|so|because|then|though|although|while)\s+(?=(?:I|we|my"
    rf"|{NAME} is my)\b)"
    r"|,\s+(?=(?:I|we|my|it|they|he|she|you|so|which|and|plus|the)\s|it's|they're|that's)"
    r"|\s+[–—-]+\s+|,?\s+(?:and|but|so|because|as|since|'cause|cause|when|where)\s+"
    r"(?=(?:it|they|he|she|you|that|this|there|everyone|everything|it's|that's|they're)\b)"
)
_SHARED = re.compile(rf",?\s+(?:and|but)(?:\s+(?:now|then|also|just|finally))?\s+(?={_VERBS}\b)")
_ADVERBS = re.compile(
    r"\b(?:now|just|also|still|actually|really|recently|finally|currently|absolutely|totally"
    r"|definitely|already|truly|simply|officially|eventually|happily|proudly|secretly|generally"
    r"|even|mostly|mainly|both|permanently|originally|sort of|kind of|ever so|so much)\s+",
    re.IGNORECASE,
)
_CUT = re.compile(
    r"\s*(?:[,;:!?(—–\"“”]|\.(?:\s|$)|\s-\s|\b(?:now|these days|at the moment|right now"
    r"|anymore|too|as well"
    r"|again|lately|though|actually|because|since|but|which|who|whose|where|when|so|after"
    r"|before|while|if|whenever|until|or something|and stuff|and I|and we|and it|and my|and the"
    r"|and that|anyway|by the way|I think|I guess|I suppose|recently|currently|for good"
    r"|full[- ]time|part[- ]time|together|so much|a lot"
    r"|very much|at all|already|instead|more than|ever since|this year|every|for now|of course"
    r"|in case|thanks|haha|lol|tbh|btw|either|most$)\b).*$",
    re.IGNORECASE | re.DOTALL,
)
_FILLER = {
    "place": r"\s+(?:with|for|as|from|near|by|to|and|on|on my own|alone|due)\b.*$",
    "org": r"\s+(?:with|as|from|to|doing|where|on|near|in a|in the|and (?![A-Z])|part)\b.*$",
    "role": r"\s+(?:with|to|from|on|by|and|doing|in (?![A-Z]))\b.*$",
    "tool": r"\s+(?:for|to|as|at|on|in|with|and|every)\b.*$",
    "taste": r"\s+(?:with|for|as|from|that|than|on|at|to|myself|in the)\b.*$",
    "hobby": r"\s+(?:with|for|as|from|that|than|at|to|in|on|and then)\b.*$",
    "thing": r"\s+(?:with|for|as|from|that|than|to|at)\b.*$",
    "act": r"\s+(?:so|because|and see)\b.*$",
}
_NOTHING = frozenset(
    """it that this them him her you me us there here what how when where who why one ones so such
    everything something anything nothing all your his their its these those myself yourself
    everyone someone people things stuff being seeing hearing having knowing getting how's both
    not each another same home""".split()  # noqa: SIM905
)
# Words that point at something said before: an object with one of them says nothing by itself.
_POINTERS = frozenset(
    """it this that these those them they him he she you your yours their his her hers we us our
    here there me myself one ones such its which it's they're i i'm who whom""".split()  # noqa: SIM905
)
_THE = frozenset(
    ["the sea", "the mountains", "the ocean", "the outdoors", "the countryside", "the beach"]
)
_VAGUE = frozenset(
    """spending talking helping making watching being seeing coming taking finding holding trying
    looking thinking working doing giving sharing knowing letting having getting feeling hearing
    listening using keeping learning meeting going capturing expressing connecting creating chatting
    take get think see keep know have be share give look talk hear feel try make spend believe find
    experimenting escaping sinking
    everywhere everything stories moments time times energy color texture mindset""".split()  # noqa: SIM905
)


_OPENING = re.compile(
    rf"^(?:(?:hey|hi|hello|oh|well),? )?{NAME}[,!] (?=(?:I|my|we|My|We)\b)"
    r"|^[^,.;]{0,60}?\b(?:let you know|tell you|found out|happy to report)"
    r"(?: recently)?(?: that)?,? (?=I\b)",
)


def _opened(clause: str) -> str:
    """A clause without opening words, an address ("Hey Tom, …") or an announcement."""
    return _LEAD.sub("", _OPENING.sub("", _LEAD.sub("", clause).strip())).strip()


def sentences(text: str) -> list[tuple[str, bool]]:
    """Sentences as written, each with whether it is a plain statement (no question, no quote)."""
    found = []
    for match in _SENTENCE.finditer(text):
        sentence = match[0].strip()
        if not sentence:
            continue
        quoted = sum(sentence.count(mark) for mark in '"“”«»') > 0
        asked = "?" in sentence[-6:]
        found.append((sentence, not quoted and not asked and len(sentence) <= _LONG))
    return found


def plain(sentence: str) -> str:
    """A whole sentence with spelled out contractions and without its opening words."""
    text = sentence.replace("’", "'").strip(" .!…")
    for pattern, long in _CONTRACTIONS:
        text = pattern.sub(long, text)
    return _opened(text)


def clauses(sentence: str) -> list[str]:
    """Clauses with spelled out contractions; one without a subject gets that of the one before."""
    text = sentence.replace("’", "'").strip(" .!…")
    for pattern, long in _CONTRACTIONS:
        text = pattern.sub(long, text)
    found: list[str] = []
    text = _opened(join_date(_LEAD.sub("", text)))
    for part in _BREAK.split(text):
        clause = _opened(part)
        subject = re.match(rf"(?:I|we|My [\w-]+ {NAME}|{NAME})(?= )", clause)
        shared = _SHARED.split(clause)
        found.append(shared[0])
        if subject:
            found.extend(f"{subject[0].split()[-1]} {rest}" for rest in shared[1:])
        elif shared[1:] and re.match(r"i ", clause):
            found.extend(f"I {rest}" for rest in shared[1:])
    return [clause.strip(" ,") for clause in found if clause.strip(" ,")]


def without_adverbs(phrase: str) -> str:
    """A verb phrase without adverbs among its first words."""
    head, tail = phrase[:60], phrase[60:]
    return " ".join((_ADVERBS.sub("", head) + tail).split())


def trim(raw: str, shape: str) -> str | None:
    """The object as a short name, or None if it is none."""
    text = _CUT.sub("", " " + raw.strip()).strip(" ,.!'")
    if pattern := _FILLER.get(shape):
        text = re.sub(pattern, "", text).strip(" ,.!")
    if shape in ("thing", "event", "tool", "taste", "hobby", "org", "word"):
        text = re.sub(r"^(?:most|all|some of)\s+", "", text)
        text = re.sub(
            r"^(?:an?|the(?! (?-i:[A-Z]))|my own|my first|my|our)\s+", "", text, flags=re.I
        )
    if shape == "thing":
        text = re.sub(r"^(?:brand[- ]new|new|used|second-hand)\s+", "", text)
        text = re.sub(
            r",? (?:is called|is named|called|named|'s name is|'s called) (?=[A-Z])", " ", text
        )
        text = re.sub(r"'s name is ", " ", text)
    if shape == "hobby":
        text = re.sub(
            r"^(?:(?:playing|doing|practi[sc]ing|learning|to play|the|some)\s+)+", "", text
        )
    if shape == "taste":
        text = re.sub(r"^(?:to|some)\s+", "", text)
    first = text.lower().split(" ", 1)[0] if text else ""
    if not text or first in _NOTHING or len(text) > 120:
        return None
    if shape not in ("place", "org", "name") and _POINTERS.intersection(text.lower().split()):
        return None
    if shape in ("taste", "hobby") and (first in _VAGUE or text in ("playing", "play", "to")):
        return None
    if shape == "hobby" and re.match(r"\w+ (?:up|in|out|down|off|back)\b", text):
        return None
    taste_of = re.match(r"(?:the|my|our|all)\b", raw.strip(), re.I)
    if shape in ("taste", "tool") and taste_of:
        whole = raw.strip().lower()
        if not (whole in _THE or re.match(r"the [A-Z]", raw.strip())):
            return None
    return text


def is_place(text: str, sentence: str) -> bool:
    """A proper name; in a message without capitals, one or two plain words."""
    words_ = text.split()
    if re.match(r"(?:the )?[A-ZÀ-ÖØ-Þ0-9]", text) or (words_ and words_[-1][0].isupper()):
        return True
    lower = sentence == sentence.lower()
    return lower and len(words_) <= 2 and words_[0] not in {"a", "an", "the", "my", "our", "this"}


def is_name(text: str) -> bool:
    """A capitalised name that is no ordinary word at the start of a sentence."""
    first = text.split()[0]
    return (
        text[0].isupper()
        and first.lower().split("'")[0] not in words.NO_NAME
        and not first.lower().endswith(("'s", "'t", "ing", "'re"))
    )


def base_form(act: str) -> str:
    """ "buying a boat" as "buy a boat": the plain verb of a gerund, by the spelling rules."""
    verb, _, rest = act.partition(" ")
    stem = verb[:-3]
    if not verb.lower().endswith("ing") or len(stem) < 2:
        return act
    if re.search(r"([bdgkmnprt])\1$", stem):
        stem = stem[:-1]
    elif re.search(r"(?:[vcuz]|[^s]s|at|rg|ng|dg|uir|ploar|plor|oduc|epar|otograph)$", stem):
        stem += "" if re.search(r"(?:[aeiou][aeiou]s|[eu]at|br[i]ng|s[i]ng|ph)$", stem) else "e"
    elif re.fullmatch(r"[^aeiou]{1,3}[aeiou][bdgklmnprst]", stem):
        stem += "e"
    return f"{stem} {rest}".strip()

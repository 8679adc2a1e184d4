"""Finding and removing credentials: passwords, keys, tokens, cards, private keys. Pure.

Only credentials are removed, never health or money matters. Every pattern has a bounded width, so
the work grows with the length of a text and not with its square. Removal repeats until nothing is
found, which makes it idempotent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from engram_graph.models.facts import Draft
from engram_graph.rules import secret_patterns as table

PLACEHOLDER = "(redacted)"
_ROUNDS = 12
_SHORT = 8  # values below this length are replaced as whole words only


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """``text`` without its credentials, and the values found, longest first."""
    found: dict[str, None] = {}
    for _ in range(_ROUNDS):
        values = _once(text)
        if not values:
            break
        found.update(dict.fromkeys(values))
        changed = redact_values(text, values)
        if changed == text:
            break
        text = changed
    return text, _longest_first(found)


def redact_values(text: str, values: Iterable[str]) -> str:
    """``text`` with each of ``values`` replaced; cards are also found with other separators."""
    for value in _longest_first(values):
        if not value.strip() or value in PLACEHOLDER:
            continue
        digits = re.sub(r"[ \u00a0.\u2010\u2011-]", "", value)
        if len(digits) >= 12 and digits.isdecimal():
            spaced = r"[ \u00a0.\u2010\u2011-]?".join(map(re.escape, digits))
            text = re.sub(rf"(?<!\d){spaced}(?!\d)", PLACEHOLDER, text)
        elif value in text:
            if len(value) >= _SHORT:
                text = text.replace(value, PLACEHOLDER)
            else:  # a short value may be part of many words
                text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", PLACEHOLDER, text)
    return text


def redacted_draft(draft: Draft, values: Iterable[str]) -> Draft:
    """``draft`` without ``values`` in its text, its object and its quote."""
    known = tuple(values)
    quote = redact_values(draft.quote, known) if draft.quote else None
    return draft.model_copy(
        update={
            "text": redact_values(draft.text, known),
            "object": redact_values(draft.object, known),
            "quote": quote,
        }
    )


def redact_json(obj: Any, values: Iterable[str] = ()) -> Any:
    """A copy of a JSON value without ``values`` and without credentials of its own, keys too."""
    known = tuple(values)
    if isinstance(obj, str):
        return redact(redact_values(obj, known))[0]
    if isinstance(obj, list | tuple):
        return [redact_json(item, known) for item in obj]
    if isinstance(obj, dict):
        return {
            redact(redact_values(str(key), known))[0]: (
                PLACEHOLDER if _names_secret(str(key), item) else redact_json(item, known)
            )
            for key, item in obj.items()
        }
    if isinstance(obj, int | float) and not isinstance(obj, bool):
        plain = str(obj)
        return PLACEHOLDER if plain in known or redact(plain)[1] else obj
    return obj


def find_in_json(obj: Any) -> tuple[str, ...]:
    """The credentials anywhere in a JSON value, longest first."""
    found: dict[str, None] = {}
    rest = [obj]
    while rest:
        item = rest.pop()
        if isinstance(item, str):
            found.update(dict.fromkeys(redact(item)[1]))
        elif isinstance(item, list | tuple):
            rest.extend(item)
        elif isinstance(item, dict):
            for key, inner in item.items():
                if _names_secret(str(key), inner):
                    found[str(inner)] = None
                rest.extend((str(key), inner))
    return _longest_first(found)


def find(text: str) -> tuple[str, ...]:
    """The credentials in ``text``, longest first; those that ``redact`` removes."""
    return redact(text)[1]


def _once(text: str) -> tuple[str, ...]:
    return _longest_first(_values(text))


def _longest_first(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(values), key=lambda value: (-len(value), value)))


def _values(text: str) -> Iterator[str]:
    yield from _private_keys(text)
    yield from _cards(text)
    for pattern in (table.PREFIXED, table.JWT, table.URL):
        for match in pattern.finditer(text):
            yield from _pieces(match["value"])
    for match in table.HEADER.finditer(text):
        if len(match["value"]) >= 24 or _looks_secret(match["value"]):
            yield from _pieces(match["value"])
    for pattern in (table.ASSIGNED, table.FLAG):
        for match in pattern.finditer(text):
            yield from _assigned(match)
    for match in table.CJK.finditer(text):
        yield from _pieces(match["value"])
    lower = text.lower()
    if not any(stem in lower for stem in table.STEMS):
        return
    for pattern in (table.CHANGED, table.BEFORE):
        for match in pattern.finditer(text):
            yield from _judged("strong" if pattern is table.CHANGED else "look", match, text)
    for grade, pattern in (*table.SPOKEN, *table.BESIDE):
        yield from _spoken(grade, pattern, text)


def _spoken(grade: str, pattern: re.Pattern[str], text: str) -> Iterator[str]:
    """Matches of a hint word; the search goes on right behind the word, as hints can nest."""
    position = 0
    while match := pattern.search(text, position):
        yield from _judged(grade, match, text)
        position = min(match.start("value"), match.start() + 3)


def _judged(grade: str, match: re.Match[str], text: str) -> Iterator[str]:
    raw = match["value"]
    if raw[0] in "\"“„«「`'‘" and len(raw) > 2 and raw[-1] in "\"”“»」`'’":
        inner = raw[1:-1]
        if grade in ("strong", "pin") or _looks_secret(inner):
            yield from _pieces(inner)
        return
    for token in _pieces(raw):
        if grade == "pin":
            good = bool(re.fullmatch(r"[0-9][0-9 #*-]{2,11}", token)) or _looks_secret(token)
        elif grade == "strong":
            good = _looks_secret(token) or _is_digits(token) or _plain(match, token, text)
        elif grade == "look":
            good = _looks_secret(token) or (len(token) >= 4 and token.isdecimal())
        else:
            good = len(token) >= 8 and _looks_secret(token)
        if good:
            yield token
    if grade == "strong" and "phrase" in match[0][:20].lower():
        yield from _phrase(match, text)


def _phrase(match: re.Match[str], text: str) -> Iterator[str]:
    """A passphrase of several words, none of which is everyday glue."""
    rest = re.match(r"[^.,;!?\n]{1,400}", text[match.start("value") :][:400])
    words = rest[0].split() if rest else []
    if 3 <= len(words) <= 24 and not table.GLUE.intersection(map(str.lower, words)):
        yield " ".join(words) if " ".join(words) in text else (rest[0].strip() if rest else "")


def _plain(match: re.Match[str], token: str, text: str) -> bool:
    """A plain word counts when it is no everyday word and the clause ends right behind it."""
    if token.lower() in table.ORDINARY or token.lower() in table.HINTS or len(token) < 3:
        return False
    if match[0][:9].lower() == "passwords":  # a remark about passwords
        return False
    end = match.start("value") + match["value"].find(token) + len(token)
    return bool(table.CLAUSE_END.match(text, end))


def _assigned(match: re.Match[str]) -> Iterator[str]:
    for token in _pieces(match["value"]):
        spaced = match[0][: -len(match["value"])].rstrip("\"'").endswith((": ", ":\t"))
        if table.CODE.match(token) or token.lower() in table.HINTS | table.ORDINARY or "(" in token:
            continue
        if _looks_secret(token) or not spaced:
            yield token


def _pieces(raw: str) -> Iterator[str]:
    """A token without punctuation round it, and without placeholders already in it."""
    for piece in raw.split(PLACEHOLDER):
        token = piece.strip().lstrip(table.HEAD).rstrip(table.TAIL).strip()
        if token and token not in PLACEHOLDER:
            yield token


def _is_digits(token: str) -> bool:
    return len(token) >= 3 and token.isdecimal()


def _looks_secret(token: str) -> bool:
    """Whether a token is shaped like a credential: letters mixed with digits or signs."""
    if len(token) < 4 or table.CODE.match(token) or "://" in token or token.lower() in table.HINTS:
        return False
    letters = any(c.isalpha() for c in token)
    digits = any(c.isdecimal() for c in token)
    signs = any(c in "!@#$%^&*_+=~|\\/?<>" for c in token)
    if letters and digits:
        return not re.fullmatch(r"(?i)\d+(?:st|nd|rd|th|[ap]m|[kmg]b?|x|h|min|s)?", token)
    if letters and signs and len(token) >= 6:
        return not re.fullmatch(r"[\w.-]+(?:/[\w.-]+)+|[\w.+-]+@[\w.-]+", token)
    humps = len(re.findall(r"[a-z][A-Z]", token))
    return len(token) >= 20 and letters and (humps >= 3 or (digits and signs))


def _cards(text: str) -> Iterator[str]:
    for match in table.DIGITS.finditer(table.NO_CARD.sub("id", text)):
        groups = list(re.finditer(r"[0-9]+", match[0]))
        for first in range(len(groups)):
            for last in range(first, min(first + 8, len(groups))):
                if not 13 <= sum(len(group[0]) for group in groups[first : last + 1]) <= 19:
                    continue
                run = match[0][groups[first].start() : groups[last].end()]
                if _is_card(re.sub(r"[^0-9]", "", run)):
                    yield run


def _is_card(digits: str) -> bool:
    lengths = {"4": (13, 16, 19), "5": (16,), "2": (16,), "3": (14, 15, 16), "6": (16, 17, 18, 19)}
    if len(digits) not in lengths.get(digits[0], ()):
        return False
    total = 0
    for place, digit in enumerate(reversed(digits)):
        step = int(digit) * (1 + place % 2)
        total += step - 9 if step > 9 else step
    return total % 10 == 0


def _private_keys(text: str) -> Iterator[str]:
    position = 0
    while begin := table.KEY_BEGIN.search(text, position):
        end = table.KEY_END.search(text, begin.end())
        yield text[begin.start() : end.end() if end else len(text)]  # cut off: all that is left
        position = end.end() if end else len(text)


def _names_secret(key: str, value: object) -> bool:
    """Whether a JSON member is a credential by its name."""
    if isinstance(value, bool) or not isinstance(value, str | int) or str(value) in PLACEHOLDER:
        return False
    name = re.sub(r"[^a-zа-яß-ÿ]+", "", re.sub(r"[^\w]+", "", key.lower()[:80]))
    ends = ("password", "passwd", "passphrase", "passcode", "pwd", "apikey", "secret", "token",
            "secretkey", "privatekey", "accesskey", "passwort", "kennwort", "contraseña", "senha",
            "wachtwoord", "pincode", "cvv", "cvc", "cardnumber")  # fmt: skip
    plain = str(value).lower()
    return (
        (name.endswith(ends) or name == "pin") and len(plain) >= 3 and plain not in table.ORDINARY
    )

"""Facts to load and questions to ask: varied sentences, the same in every run."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any


def _split(words: str) -> list[str]:
    return words.split()


_FIRST = _split("""
Ana Bruno Carla Dinis Elsa Fabio Gita Hugo Ines Jonas Kira Luis Mina Nuno Olga Paulo Rita Samir
Tessa Ugo Vera Wanda Yara Zeno Amara Boris Chen Dilan Emre Freya
""")
_LAST = _split("""
Abreu Basto Costa Duarte Esteves Faria Gomes Horta Ivanov Jensen Kaya Lopes Moreau Nunes Okafor
Pires Quiroga Rossi Sato Tavares Ueda Vidal Weber Xavier Yilmaz Zeller Amsel Brandt Cohen Dahl
""")
_PLACES = _split("""
Porto Lisbon Braga Faro Evora Coimbra Aveiro Leiria Tomar Sintra Geneva Basel Bern Lyon Nantes
Ghent Bruges Turin Parma Lecce Malaga Toledo Oslo Bergen Turku Tartu Riga Lodz Brno Graz
""")
_THINGS = _split("""
bicycle piano telescope canoe greenhouse loom camera typewriter scooter kayak accordion sailboat
printer tent violin kiln workbench hammock drone guitar record-player espresso-machine bookshelf
""")
_COLOURS = _split("red green blue old second-hand small borrowed rebuilt yellow wooden folding new")
_FIELDS = _split("""
chemistry botany history robotics music geology statistics astronomy linguistics medicine
architecture philosophy economics ceramics forestry acoustics oceanography optics
""")
_WHEN = (
    "in spring",
    "last autumn",
    "on Sunday mornings",
    "after work",
    "with two friends",
    "for the first time",
    "since the move",
    "during the holidays",
    "against all advice",
    "before the wedding",
    "with a neighbour",
    "on rainy days",
)
_KINDS = (
    ("lives_in", "{place}", "{who} lives in {place} {when}, close to the {thing} shop"),
    ("works_at", "{place} Institute of {field}", "{who} works at the {place} Institute of {field}"),
    ("owns", "{colour} {thing}", "{who} owns a {colour} {thing} bought in {place} {when}"),
    ("prefers", "{place} coffee", "{who} prefers coffee from {place} {when}"),
    ("hobby", "{thing} repair", "{who} repairs a {colour} {thing} {when}"),
    ("attended", "{field} congress", "{who} attended the {field} congress in {place} {when}"),
    ("goal", "degree in {field}", "{who} wants a degree in {field} from a school in {place}"),
    ("friend_of", "{other}", "{who} met {other} in {place} {when} at a talk on {field}"),
    ("uses", "{colour} {thing}", "{who} uses a {colour} {thing} for work on {field} {when}"),
    ("habit", "walks in {place}", "{who} walks through {place} {when} and thinks about {field}"),
)
_HUB = ("attended", "{field} evening {number}", "{who} went to {field} evening {number} in {place}")
HUB = "Hana Bench"


def facts(seed: int, count: int, *, people: int | None = None) -> list[dict[str, Any]]:
    """``count`` different facts as arguments of ``remember``, on about one person for each five."""
    chance = random.Random(seed)
    names = [_name(number) for number in range(people or max(2, count // 5))]
    return [_fact(chance, chance.choice(names), number) for number in range(count)]


def stream(seed: int) -> Iterator[dict[str, Any]]:
    """Different facts without end, about ever more people: one for each five facts."""
    chance = random.Random(seed)
    for number in itertools.count():
        yield _fact(chance, _name(chance.randrange(2 + number // 5)), number)


def newcomers(seed: int) -> Iterator[dict[str, Any]]:
    """Facts without end, each about a person nobody mentioned before."""
    chance = random.Random(seed)
    number = 0
    while True:
        number += 1
        yield _fact(chance, f"{_name(number)} the {seed}th", number)


def messages(seed: int, size: int) -> Iterator[list[dict[str, Any]]]:
    """Messages without end, each of ``size`` facts about a person nobody mentioned before."""
    chance = random.Random(seed)
    number = 0
    while True:
        number += 1
        who = f"{_name(number)} the {seed}th"
        yield [_fact(chance, who, number * size + place) for place in range(size)]


def about_one(seed: int) -> Iterator[dict[str, Any]]:
    """Facts without end about the same person and predicate, always another object."""
    chance = random.Random(seed)
    number = 0
    while True:
        number += 1
        words = _words(chance) | {"who": HUB, "number": f"{seed}-{number}"}
        predicate, thing, text = _HUB
        yield {
            "subject": HUB,
            "predicate": predicate,
            "object": thing.format(**words),
            "text": text.format(**words),
        }


def questions(seed: int) -> Iterator[str]:
    """Questions without end whose words are those of the facts."""
    chance = random.Random(seed)
    forms = (
        "Where does {who} live?",
        "Who owns a {colour} {thing} from {place}?",
        "What did {who} attend in {place} about {field}?",
        "Which friend did {who} meet {when}?",
        "Who studies {field} in {place}?",
    )
    while True:
        yield chance.choice(forms).format(**_words(chance), who=_name(chance.randrange(900)))


def _fact(chance: random.Random, who: str, number: int) -> dict[str, Any]:
    predicate, thing, text = chance.choice(_KINDS)
    words = _words(chance) | {"who": who, "other": _name(chance.randrange(900))}
    return {
        "subject": who,
        "predicate": predicate,
        "object": thing.format(**words),
        "text": f"{text.format(**words)}, note {number}",
    }


def _words(chance: random.Random) -> dict[str, str]:
    return {
        "place": chance.choice(_PLACES),
        "thing": chance.choice(_THINGS),
        "colour": chance.choice(_COLOURS),
        "field": chance.choice(_FIELDS),
        "when": chance.choice(_WHEN),
    }


def _name(number: int) -> str:
    first, last = _FIRST[number % len(_FIRST)], _LAST[number // len(_FIRST) % len(_LAST)]
    rest = number // (len(_FIRST) * len(_LAST))
    return f"{first} {last}" + (f" {rest + 1}" if rest else "")

"""Finding the JSON answer in what a language model wrote: fences, prose and thoughts are skipped.

Nothing is mended: an answer that is cut short or broken is no answer, and no part of it is one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

_THOUGHT = re.compile(r"<(think|thinking|thought|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(r"\A.*</(?:think|thinking|thought|reasoning)>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[a-zA-Z]{0,10}[ \t]*\r?\n(.*?)\r?\n?[ \t]*```", re.DOTALL)
_STARTS = 200  # places in a reply where an answer may begin, at most
_OPENING = 200  # characters that tell whether it is ours
_T = TypeVar("_T")


def find_json(
    reply: str, accept: Callable[[Any], _T | None], opening: re.Pattern[str]
) -> _T | None:
    """The one JSON value in ``reply`` that ``accept`` makes something of; None without one.

    Two that differ are none: one of them may be quoted from the material.

    Args:
        accept: gives None for a value that is not the answer.
        opening: how an answer begins. One that begins so and does not end well ends the search:
            what else stands in it are its parts.
    """
    # Where a template opens the thought, a reply holds its end alone.
    text = _THOUGHT_END.sub("", _THOUGHT.sub("", reply)).replace("\ufeff", "")
    for candidates in ([text], [found[1] for found in _FENCE.finditer(text)]):
        answers = [each for each in map(_whole, candidates) if accept(each) is not None]
        if answers:
            return _only(answers, accept)
    return _only(_in_prose(text, accept, opening), accept)


def _only(values: list[Any], accept: Callable[[Any], _T | None]) -> _T | None:
    if not values or any(value != values[0] for value in values):
        return None
    return accept(values[0])


def _whole(text: str) -> Any:
    try:
        return json.loads(text.strip())
    except (ValueError, RecursionError):
        return None


def _in_prose(text: str, accept: Callable[[Any], _T | None], opening: re.Pattern[str]) -> list[Any]:
    """The values between other words that are answers; none at all when one is broken."""
    decoder, answers, after = json.JSONDecoder(), [], 0
    for start in _starts(text):
        if start < after:
            continue
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            if opening.match(text[start : start + _OPENING]):
                return []
            continue
        if value != [] and accept(value) is not None:  # "[]" in prose is no answer
            answers.append(value)
            after = end
    return answers


def _starts(text: str) -> Iterator[int]:
    for count, found in enumerate(re.finditer(r"[{\[]", text)):
        if count >= _STARTS:
            return
        if found[0] == "[" and "{" in text[: found.start()]:
            continue  # perhaps the inside of an answer that is broken elsewhere
        yield found.start()

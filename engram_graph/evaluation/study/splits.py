"""Which conversations are for what: parts of LoCoMo and LongMemEval, as the study defines them.

Rules and thresholds are made on ``development``; ``primary`` is held out for the final test.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Final

from engram_graph.errors import InputError

ALL: Final = "all"
SAMPLE: Final = "sample"
DEVELOPMENT: Final = "development"
HELD_OUT: Final = "primary"
LOCOMO: Mapping[str, tuple[str, ...]] = {
    DEVELOPMENT: ("conv-26",),
    "exploratory": ("conv-30", "conv-41", "conv-42", "conv-43"),
    HELD_OUT: ("conv-44", "conv-47", "conv-48", "conv-49", "conv-50"),
}
LONGMEMEVAL_SAMPLE: Mapping[str, int] = {
    "knowledge-update": 30,
    "multi-session": 20,
    "temporal-reasoning": 20,
}
"""Questions of each kind in the sample, abstentions left out."""
_SHOWN = 12  # ids that an error lists


def locomo_ids(there: Sequence[str], split: str, only: Sequence[str] = ()) -> tuple[str, ...]:
    """The conversations to run, in the file's order.

    Args:
        there: ids in the file. split: a name of ``LOCOMO``, or ``all``.
        only: these of the split; all of them if empty.

    Raises:
        InputError: no such split; one of its conversations, or of ``only``, is not in the file.
    """
    if split != ALL and split not in LOCOMO:
        raise _no_split(split, (*LOCOMO, ALL))
    return _picked(there, there if split == ALL else LOCOMO[split], split, only)


def longmemeval_ids(
    kinds: Mapping[str, str], split: str, only: Sequence[str] = ()
) -> tuple[str, ...]:
    """The questions to run, in the file's order.

    Args:
        kinds: question id → its kind; empty for an abstention, which no sample holds.
        split: ``all`` or ``sample``. only: these of the split; all of them if empty.

    Raises:
        InputError: no such split; the file has too few questions for the sample; no such id.
    """
    if split not in (ALL, SAMPLE):
        raise _no_split(split, (ALL, SAMPLE))
    return _picked(tuple(kinds), tuple(kinds) if split == ALL else _sample(kinds), split, only)


def _sample(kinds: Mapping[str, str]) -> tuple[str, ...]:
    draw = random.Random(0)  # the study's seed
    chosen: list[str] = []
    for kind, count in LONGMEMEVAL_SAMPLE.items():
        of_kind = sorted(each for each, other in kinds.items() if other == kind)
        if len(of_kind) < count:
            raise InputError(
                f"the sample needs {count} questions of {kind}, the file has {len(of_kind)}",
                hint="Run the whole file with --split all.",
                field="split",
            )
        chosen += draw.sample(of_kind, count)
    return tuple(chosen)


def _picked(
    there: Sequence[str], wanted: Sequence[str], split: str, only: Sequence[str]
) -> tuple[str, ...]:
    gone = [each for each in wanted if each not in there]
    if gone and not only:
        raise InputError(
            f"split {split} needs {_list(gone)}, which the file does not have",
            hint=f"It has {_list(there)}.",
            field="split",
        )
    for each in only:
        if each not in there or each not in wanted:
            of = "the file" if each not in there else f"split {split}"
            raise InputError(
                f"{each!r} is not in {of}",
                hint=f"There is {_list([one for one in wanted if one in there])}.",
                field="conversation",
            )
    return tuple(each for each in there if each in set(only or wanted))


def _list(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    shown = ", ".join(names[:_SHOWN]) or "none"
    return shown + (f" and {more} more" if more > 0 else "")


def _no_split(name: str, known: Sequence[str]) -> InputError:
    return InputError(f"no split {name!r}", hint="There is " + ", ".join(known), field="split")

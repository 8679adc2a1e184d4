"""Arms against each other from result files: the study's tests, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from engram_graph.errors import InputError
from engram_graph.evaluation import statistics
from engram_graph.evaluation.compare import Side, compare, gain
from engram_graph.evaluation.study.result import Label, Result, Row


def row(task: int, k: int, label: Label | None, **changes: Any) -> Row:
    given: dict[str, Any] = {
        "task": f"q{task:03}",
        "conversation": f"c{task % 5}",
        "category": "single-hop",
        "k": k,
        "question": "?",
        "gold": "!",
        "label": label,
        "tokens": 10 * k,
    }
    return Row(**given | changes)


def result(arm: str, right: dict[int, Sequence[bool | None]], **changes: Any) -> Result:
    """``right``: k → whether each question is answered rightly; None: not judged."""
    label: dict[bool | None, Label | None] = {True: "CORRECT", False: "WRONG", None: None}
    given: dict[str, Any] = {
        "dataset": "locomo",
        "split": "primary",
        "digest": "d1",
        "arm": arm,
        "about": "",
        "rows": tuple(
            row(at, k, label[r]) for k, each in right.items() for at, r in enumerate(each)
        ),
    }
    return Result(**given | changes)


def discordant(b: int, c: int, n: int) -> tuple[list[bool], list[bool]]:
    """Answers of two arms: ``b`` only the first has right, ``c`` only the second, half the rest."""
    rest = [at % 2 == 0 for at in range(n - b - c)]
    return [True] * b + [False] * c + rest, [False] * b + [True] * c + rest


def test_h1_as_the_study_has_it() -> None:
    jev, engram = discordant(69, 73, 778)
    made = compare(
        [result("facts_v2", {3: engram}), result("turns_jev", {3: engram, 6: jev})],
        Side("turns_jev", 6),
        Side("facts_v2", 3),
    )
    (found,) = made
    assert (found.first, found.first_k, found.second, found.second_k) == (
        *("turns_jev", 6),
        *("facts_v2", 3),
    )
    assert (found.n, found.only_first, found.only_second) == (778, 69, 73)
    assert f"{100 * found.difference:.2f}" == "-0.51"
    assert f"{100 * found.non_inferiority.lower:.2f}" == "-3.04"
    assert f"{found.non_inferiority.p:.5f}" == "0.00171"
    assert found.non_inferiority_holm == found.non_inferiority.p  # one test alone
    assert found.difference == pytest.approx(found.first_accuracy - found.second_accuracy)
    assert (found.first_tokens, found.second_tokens) == (60, 30)


def test_pairs_go_by_id_and_not_by_place() -> None:
    first, second = discordant(30, 10, 100)
    turned = result("b", {3: second})
    turned = turned.model_copy(update={"rows": tuple(reversed(turned.rows))})
    straight = compare([result("a", {3: first}), result("b", {3: second})])
    assert compare([result("a", {3: first}), turned]) == straight
    assert (straight[0].only_first, straight[0].only_second) == (30, 10)


def test_whole_conversations_are_resampled() -> None:
    first, second = discordant(40, 20, 120)
    a, b = result("a", {3: first}), result("b", {3: second})
    (found,) = compare([a, b])
    clusters = {
        f"c{name}": [int(first[at]) - int(second[at]) for at in range(name, 120, 5)]
        for name in range(5)
    }
    assert found.conversations == 5
    assert found.cluster_bound == statistics.cluster_bound(clusters)
    assert found.nested_interval == statistics.nested_interval(clusters)
    alone = [
        each.model_copy(
            update={"rows": tuple(r.model_copy(update={"conversation": "c"}) for r in each.rows)}
        )
        for each in (a, b)
    ]
    (single,) = compare(alone)
    assert (single.cluster_bound, single.nested_interval) == (None, None)


def test_holm_goes_over_all_pairs() -> None:
    """Three arms at two sizes: six comparisons."""
    best, middle = discordant(40, 10, 200)
    worst = [right and at % 3 > 0 for at, right in enumerate(middle)]
    arms = [
        result("best", {3: best, 20: best}),
        result("middle", {3: middle, 20: best}),
        result("worst", {3: worst, 20: worst}),
    ]
    found = compare(arms)
    assert [(each.first, each.second, each.first_k, each.second_k) for each in found] == [
        (first, second, k, k)
        for first, second in (("best", "middle"), ("best", "worst"), ("middle", "worst"))
        for k in (3, 20)
    ]
    for plain, adjusted in (
        ([each.p for each in found], [each.p_holm for each in found]),
        (
            [each.non_inferiority.p for each in found],
            [each.non_inferiority_holm for each in found],
        ),
    ):
        wanted = statistics.holm({str(at): p for at, p in enumerate(plain)})
        assert adjusted == list(wanted.values())
        assert adjusted != plain
    assert [each.p for each in compare(arms, k=20)] == [each.p for each in found[1::2]]


def test_only_what_counts_and_was_judged_of_both_is_compared() -> None:
    a = result("a", {3: [True, False, True, None, True]})
    b = result("b", {3: [False, None, True, None, True]})
    extra = (
        row(90, 3, "CORRECT", abstention=True),
        row(91, 3, "CORRECT", scored=False),
    )
    more = a.model_copy(update={"rows": a.rows + extra})
    (found,) = compare([more, b])
    assert (found.n, found.unjudged, found.only_first, found.only_second) == (3, 2, 1, 0)


def test_tokens_are_matched() -> None:
    right = discordant(9, 3, 40)[0]
    jev = result(
        "turns_jev",
        dict.fromkeys((3, 4, 6), right),
        tokens_at=(50.9, 95.5, 138.7, 181.4, 223.1, 265.0),
    )
    engram = result("facts_v2", {3: right, 20: right}, tokens_at=(80.0, 170.0, 251.0))
    sides = Side("turns_jev"), Side("facts_v2")
    (found,) = compare([jev, engram], *sides, match_tokens=True)
    assert (found.first_k, found.second_k) == (6, 3)
    near = engram.model_copy(update={"tokens_at": (80.0, 120.0, 140.0)})
    (found,) = compare([jev, near], *sides, match_tokens=True)
    assert (found.first_k, found.second_k) == (3, 3)
    (found,) = compare([jev, engram], *sides, k=20, match_tokens=True)  # beyond what was measured
    assert (found.first_k, found.second_k) == (4, 20)  # 200 tokens of the rows: 181.4, not 223.1
    short = result("turns_jev", {3: right}, tokens_at=jev.tokens_at)
    with pytest.raises(InputError, match="at k = 6, and was not answered there") as caught:
        compare([short, engram], *sides, match_tokens=True)
    assert "--k 6" in caught.value.hint


def test_an_arm_with_one_size_meets_every_size_of_others() -> None:
    right = discordant(5, 3, 40)[0]
    whole, some = result("full_context", {1_000_000: right}), result("turns", {3: right, 20: right})
    assert [each.second_k for each in compare([whole, some])] == [3, 20]
    (found,) = compare([whole, some], k=20)
    assert (found.first_k, found.second_k) == (1_000_000, 20)


def test_an_arm_against_itself_at_another_size() -> None:
    first, second = discordant(12, 2, 40)
    arm = result("turns", {3: first, 20: second})
    (found,) = compare([arm], Side("turns", 3), Side("turns", 20))
    assert (found.only_first, found.only_second) == (12, 2)


def test_one_side_alone_meets_all_others() -> None:
    right = discordant(5, 3, 40)[0]
    arms = [result(name, {3: right}) for name in ("a", "b", "c")]
    assert [(x.first, x.second) for x in compare(arms, Side("b"))] == [("b", "a"), ("b", "c")]
    assert [(x.first, x.second) for x in compare(arms, None, Side("b"))] == [("a", "b"), ("c", "b")]


def test_datasets_are_kept_apart() -> None:
    right = discordant(5, 3, 40)[0]
    arms = [
        result(arm, {3: right}, dataset=dataset, digest=dataset)
        for dataset in ("locomo", "longmemeval")
        for arm in ("a", "b")
    ]
    assert [each.dataset for each in compare(arms)] == ["locomo", "longmemeval"]


def counts(right: int) -> list[bool]:
    return [at < right for at in range(778)]


def test_the_share_of_the_gain() -> None:
    arms = [
        result("turns_cosine", {6: counts(534)}, tokens_at=(42, 85, 130, 171, 213, 253.9)),
        result("turns_jev", {6: counts(599)}),
        result("facts_v2", {3: counts(603)}, tokens_at=(80, 170, 251)),
    ]
    (found,) = compare(arms, Side("turns_jev", 6), Side("facts_v2", 3))
    assert f"{gain(arms, Side('turns_cosine', 6), found):.3f}" == "0.942"
    assert gain(arms, Side("turns_cosine"), found, match_tokens=True) == pytest.approx(65 / 69)
    with pytest.raises(InputError, match="no result of the arm 'mem0'"):
        gain(arms, Side("mem0"), found)
    unjudged = result("turns_cosine", {6: [None, *counts(534)[1:]]})
    with pytest.raises(InputError, match="not judged on the questions"):
        gain([unjudged, *arms[1:]], Side("turns_cosine", 6), found)


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ({"digest": "d2"}, "different conversations or questions"),
        ({"rows": tuple(row(at, 3, "WRONG") for at in range(39))}, "1 of one only, such as q039"),
        ({"rows": tuple(row(at, 3, None) for at in range(40))}, "share 0 judged questions"),
        ({"rows": tuple(row(at, 5, "WRONG") for at in range(40))}, "not answered at k = 3"),
        ({"split": "other"}, "two arms over one dataset and split"),
        ({"arm": "a"}, "two results of a"),
        ({"arm": "c"}, "no result of the arm 'b'"),
    ],
)
def test_what_cannot_be_compared_is_refused(second: dict[str, Any], said: str) -> None:
    right, other = discordant(5, 3, 40)
    arms = [result("a", {3: right}), result("b", {3: other}).model_copy(update=second)]
    with pytest.raises(InputError, match=said) as caught:
        compare(arms, Side("a", 3), Side("b", 3))
    assert caught.value.hint


def test_sizes_that_nobody_shares_are_refused() -> None:
    right = discordant(5, 3, 40)[0]
    with pytest.raises(InputError, match="no arm was answered at a k at which another was"):
        compare([result("a", {3: right, 4: right}), result("b", {5: right, 6: right})])


def test_one_arm_alone_is_refused() -> None:
    with pytest.raises(InputError, match="takes two arms"):
        compare([result("a", {3: [True, False]})])


@pytest.mark.parametrize(
    ("text", "side"), [("turns_jev", Side("turns_jev")), ("turns_jev@6", Side("turns_jev", 6))]
)
def test_an_arm_may_name_its_size(text: str, side: Side) -> None:
    assert Side.parse(text) == side


@pytest.mark.parametrize("text", ["a@", "a@0", "a@-3", "a@six", "a@3@4", "a@²"])
def test_a_size_is_a_number_from_1_on(text: str) -> None:
    with pytest.raises(InputError, match="neither ARM nor ARM@K"):
        Side.parse(text)

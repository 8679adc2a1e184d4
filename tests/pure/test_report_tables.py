"""The tables of a study's report, their numbers, and how they are told."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from engram_graph.errors import InputError
from engram_graph.evaluation import statistics
from engram_graph.evaluation.compare import Side
from engram_graph.evaluation.markdown import plain, table
from engram_graph.evaluation.report import comparisons, listings, plots, svg, tables
from engram_graph.evaluation.report.parts import Table, points, usd
from engram_graph.evaluation.report.recorded import RECORDED, recorded
from engram_graph.evaluation.study.labels import Labels
from engram_graph.evaluation.study.result import Result, Store
from tests.study_results import result, rows


def group(*results: Result) -> tables.Group:
    [found] = tables.groups(results)
    return found


def cells(found: Table, *first: str) -> dict[str, str]:
    """The one row that begins so, by heading; of a repeated heading the first."""
    [row] = [each for each in found.rows if each[: len(first)] == first]
    named: dict[str, str] = {}
    for name, cell in zip(found.head, row, strict=True):
        named.setdefault(name.removeprefix(">"), cell)
    return named


def test_accuracy_with_its_interval_and_categories() -> None:
    made = [*rows("++-+"), *rows("+-", abstention=True, task="a", category="adversarial")]
    row = cells(tables.accuracy(group(result("one", made))), "one", "3")
    assert row["accuracy"] == "75.0 [30.1, 95.4]"  # Wilson, 3 of 4
    assert (row["judged"], row["multi-hop"], row["single-hop"]) == ("4", "50.0", "100.0")
    assert (row["abstention"], row["of"]) == ("50.0", "2")
    assert row["tokens"] == "31.5"
    assert "adversarial" not in row


def test_what_nobody_judged_is_said_and_no_error() -> None:
    found = tables.accuracy(group(result("one", rows("..")), result("two", rows("+."))))
    assert cells(found, "one")["accuracy"] == "not judged"
    assert cells(found, "two")["accuracy"].startswith("100.0")
    assert "3 questions" in found.note
    nothing = group(result("one", (), tokens_at=(), conversations={}))
    for kind in (tables.accuracy, tables.costs, tables.latency, tables.evidence, listings.closes):
        assert kind(nothing).rows == ()
        assert kind(nothing).empty
    assert plots.against_tokens(nothing, "x").svg == ""


def test_costs_add_up_and_unknown_ones_stay_unknown() -> None:
    known = group(result("one", rows("+-+-")))
    row = cells(tables.costs(known), "one")
    # 8 turns and 4 questions: 2 turns × .008/8 + .001 + .002
    assert (row["write, 1,000 turns"], row["turns per question"]) == ("1.00", "2.000")
    assert row["total per question"] == "0.00500"
    store = {"talk-0": Store(turns=4, cost_usd={"extraction": None})}
    unknown = group(result("one", rows("+-", read_usd=None), conversations=store))
    row = cells(tables.costs(unknown), "one")
    assert row["total per question"] == row["read"] == row["write, 1,000 turns"] == "–"
    assert plots.against_cost(unknown, "x").svg == ""


def test_evidence() -> None:
    row = cells(tables.evidence(group(result("one", rows("++++")))), "one")
    assert (row["all in the shortlist"], row["any in it"]) == ("75.0", "100.0")
    assert row["lost to the cut"] == "50.0"  # kept 0, 1, 2, 0
    assert row["recall at k"] == "37.5"
    silent = rows("+", shortlisted=None, kept=None)
    row = cells(tables.evidence(group(result("one", silent))), "one")
    assert row["all in the shortlist"] == row["recall at k"] == "–"


def test_recorded_values_stand_beside_the_same_questions_only() -> None:
    assert recorded("locomo", "primary", "turns_jev", 3, 778) is not None
    assert recorded("locomo", "primary", "turns_jev", 3, 777) is None
    assert recorded("locomo", "primary", "turns_jev", 5, 778) is None
    assert recorded("locomo", "development", "turns_jev", 3, 778) is None
    whole = recorded("locomo", "primary", "full_context", 1_000_000, 778)
    assert whole is not None
    assert whole.accuracy == 78.3
    assert len({(e.dataset, e.split, e.arm, e.k) for e in RECORDED}) == len(RECORDED)
    ours = group(
        result("turns_cosine", rows("+" * 427 + "-" * 183), dataset="locomo", split="exploratory")
    )
    row = cells(tables.against_recorded(ours), "turns_cosine")
    assert (row["accuracy"], row["difference"]) == ("70.0 / 60.7", "+9.3")
    assert (row["multi-hop"], row["abstention"]) == ("70.2 / –", "– / 65.3")
    assert row["study's read p50 / p90 ms"] == "219 / 263"
    assert "all 76.9, any 87.7, lost to Jev's cut 10.3" in tables.evidence(ours).note
    other = group(result("turns_cosine", rows("+"), dataset="locomo", split="exploratory"))
    assert tables.against_recorded(other).rows == ()


def test_arms_are_paired_with_the_baseline() -> None:
    one = result("one", rows("++++++-+"))
    base = result("base", rows("+--+--+-"))
    lame = result("lame", rows("........"))
    other = result("other", rows("++"))
    found = comparisons.against(group(one, base, lame, other), Side("base"))
    assert len(found.rows) == 1
    told = cells(found, "one")
    assert (told["only arm right"], told["only baseline"]) == ("5", "1")
    assert told["difference"] == "+50.0"
    assert told["McNemar p"] == f"{statistics.mcnemar(5, 1):.4f}" == told["Holm"]
    assert "lame: no answer was judged" in found.note
    assert "other: other questions were put" in found.note
    assert comparisons.against(group(one), Side("base")).rows == ()
    with pytest.raises(InputError, match="no result of the arm 'none'"):
        comparisons.known([one], Side("none"))
    with pytest.raises(InputError, match="not answered at k = 9"):
        comparisons.known([one], Side("one", 9))


def test_closes_and_stale_answers_by_labels() -> None:
    close = {"text": "Ann lives in Bonn", "reason": "belief", "old_sources": ["t1"]}
    stores = {
        "talk-0": Store(
            turns=4, closes=(close | {"new_sources": ["t3"]}, close | {"new_sources": ["t9"]})
        )
    }
    made = group(result("one", rows("-+", answer="In Bonn, I think"), conversations=stores))
    labels = Labels(frozenset({("t1", "t3"), ("t5", "t6")}), {"q0": ("Bonn",), "q1": ("Bonn",)})
    row = cells(listings.audit(made, labels), "one")
    assert (row["closes"], row["right"], row["wrong"]) == ("2", "1", "1")
    assert (row["pairs missed"], row["stale answers"]) == ("1 of 2", "1 of 2")
    assert listings.closes(made).rows[0][2:] == ("Ann lives in Bonn", "belief", "t1", "t3")
    assert cells(listings.stores(made), "one")["closes"] == "belief 2"


def test_scores_by_rule() -> None:
    kinds = {"change": {"right": 0.25}, "trap": {"right": 0.75}}
    at = {"overall": 0.5, "interval": [0.4, 0.6], "kinds": kinds}
    at["all"] = {"reached": 0.9, "stale": 0.1, "first": 0.6}
    scores = {"k": {"3": at}, "tokens": {"60": at}}
    by_kind, by_size, stores = listings.benchmark(group(result("one", rows("+"), scores=scores)))
    assert (by_kind.head[3:], by_kind.rows) == (
        (">change", ">trap"),
        (("one", "50.0", "40–60", "25.0", "75.0"),),
    )
    assert by_size.rows == (("one", "50.0", "50.0", "90.0", "10.0", "60.0"),)
    assert (stores.rows, stores.empty) == ((), "No arm keeps facts.")
    assert listings.benchmark(group(result("one", rows("+")))) == []


def test_questions_that_divide_the_arms() -> None:
    found = listings.divided(group(result("one", rows("++-")), result("two", rows("+--"))))
    [row] = found.rows
    assert row[0] == "Question 1?"
    assert row[3:] == ("right: an answer", "wrong: an answer")


def test_an_arm_comes_once() -> None:
    with pytest.raises(InputError, match="two results of one"):
        tables.groups([result("one", rows("+")), result("one", rows("-"))])
    assert len(tables.groups([result("one", ()), result("one", (), digest="d2")])) == 2


def test_numbers() -> None:
    assert [usd(each) for each in (None, 0, 0.000188, 1.5, 0.0, 12.345)] == [
        *("–", "0", "0.000188", "1.50", "0", "12.35"),
    ]
    assert (points(-0.0123), points(0.5)) == ("−1.2", "+50.0")


def test_markdown_is_text_and_nothing_else() -> None:
    told = table(["a", ">b"], [[plain("<b>|[x](http://y)`*"), plain("1\n2")]])
    assert told.splitlines()[1] == "| --- | ---: |"
    assert told.splitlines()[2] == r"| &lt;b&gt;\|\[x\](http://y)\`\* | 1 2 |"


def test_plots_stand_on_one_page_with_others() -> None:
    made = group(result("$one_", rows("+-+-")), result("<two>", rows("++--", k=20)))
    drawn = plots.against_tokens(made, "first")
    assert "<two>: 50.0" in drawn.alt
    root = ElementTree.fromstring(drawn.svg)
    assert root.get("aria-label") == drawn.alt
    ids = {each.get("id") for each in root.iter() if each.get("id")}
    assert all(name and name.startswith("first-") for name in ids)
    used = set(re.findall(r"#(first-\w+)", drawn.svg))
    assert used
    assert used <= ids
    assert not any(each.get("style") for each in root.iter())
    colours = {each.get(part) for each in root.iter() for part in ("fill", "stroke")}
    assert colours - {None, "none"} <= set(svg.DARK)  # each has one for the dark
    assert "$one_" in drawn.svg
    alone = ElementTree.fromstring(svg.alone(drawn.svg))
    assert alone.tag == "{http://www.w3.org/2000/svg}svg"
    assert plots.against_tokens(made, "first") == drawn

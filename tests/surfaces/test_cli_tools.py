"""``demo``, ``eval shortlist`` and ``bench`` on the real database."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engram_graph.cli import output
from engram_graph.evaluation import shortlist
from engram_graph.rules.turns import WEIGHTS

Engram = Callable[..., Any]
ABOUT = (
    *("Maya lives in Lisbon", "Maya lives in Porto", "Maya plans to move to Porto"),
    *("not allergic to walnuts", "Maya has the cello as a hobby  (said 2025-01-11", "(redacted)"),
)


def test_demo_twice(maya: Engram, namespace: str) -> None:
    first = maya("demo", "--json")
    assert first.code == 0
    found = first.json
    assert found["namespace"] == namespace
    assert found["new"] == found["messages"] >= 35
    assert len(found["answers"]) == 6
    assert len(found["cypher"]) == 3
    assert all(repr(namespace) in each["query"] for each in found["cypher"])
    home = next(each for each in found["answers"] if each["question"] == "Where does Maya live?")
    assert home["facts"][0]["object"] == "Lisbon"
    assert [fact["object"] for fact in home["history"]] == ["Lisbon", "Porto", "Lisbon"]
    walnuts = found["answers"][3]
    assert walnuts["found"] == (
        "Maya is not allergic to walnuts  [negated]  "
        '(said 2024-06-11 by Maya: "I\'m not allergic to walnuts, I just find them bitter.")'
    )
    again = maya("demo")
    assert again.code == 0
    assert "0 of them new" in again.out
    lines = again.out.splitlines()
    for answer, about in zip(found["answers"], ABOUT, strict=True):
        asked = next(n for n, line in enumerate(lines) if line.startswith(answer["question"]))
        assert lines[asked + 1] == f"→ {answer['found']}"
        assert about in answer["found"]
        assert lines[asked + 2] == answer["shows"]
        told = lines[asked + 3 : lines.index("", asked)]
        if len(answer["history"]) < 2:
            assert told == []
            continue
        subject, predicate = (answer["facts"][0][name] for name in ("subject", "predicate"))
        assert told[0] == f"  history of {subject}, {predicate}:"
        assert len(told) == 1 + len(answer["history"])
        assert all(fact["predicate"] == predicate for fact in answer["history"])
        assert all("  told by " in line for line in told[1:])
    assert [len(answer["history"]) for answer in found["answers"]] == [3, 3, 2, 2, 3, 0]
    assert (
        "→ Maya lives in Lisbon  (since 2024-12-08, said by Maya: "
        '"I moved back to Lisbon yesterday.")'
    ) in lines
    assert "told by Jonas" in again.out
    assert "engram down" not in again.out  # the server is not ours to stop
    assert "/browser/" in again.out
    assert again.out.count("MATCH (") >= 3
    assert "→" in again.out
    assert maya("stats", "--json").json["messages"] == found["messages"]


def test_the_demo_shows_how_far_it_is(maya: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "_EVERY", 0.0)
    shown = maya("demo").err.splitlines()
    assert shown[0] == "Adding the messages …"
    assert shown[1:] == [f"Adding the messages: {n}/42" for n in range(1, 43)]


def test_the_demos_queries_show_what_they_say(maya: Engram, namespace: str, migrated: Any) -> None:
    queries = maya("demo", "--json").json["cypher"]

    async def rows(query: str) -> list[dict[str, Any]]:
        return [dict(row) for row in await migrated.graph.statement(query)]

    homes, replaced, moved = (migrated.portal.call(rows, each["query"]) for each in queries)
    assert len(homes) == 3
    assert ("Maya lives in Porto", "Maya lives in Lisbon") in [
        (row["before"], row["after"]) for row in replaced
    ]
    assert len(moved) == 10
    assert all(row["before"] > 0.9 > 0.1 > row["after"] for row in moved)


def locomo(name: str) -> dict[str, Any]:
    texts = [
        "I started pottery lessons on Tuesday.",
        "How lovely! My brother Tom moved to Oslo.",
        "I adopted a black cat called Mitsy.",
        "We should go hiking near the lake.",
    ]
    turns = [
        {"speaker": "AB"[n % 2], "dia_id": f"D1:{n + 1}", "text": text}
        for n, text in enumerate(texts)
    ]
    questions = [
        ("What is the cat called?", ["D1:3"], 4),
        ("Who moved to Oslo, and when did the pottery lessons start?", ["D1:1; D1:2"], 1),
        ("Where is the treasure?", ["D1:4"], 5),
        ("Unanswerable?", ["D9:9"], 1),
    ]
    return {
        "sample_id": name,
        "conversation": {
            "speaker_a": "A",
            "speaker_b": "B",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": turns,
        },
        "qa": [
            {"question": text, "answer": "", "evidence": evidence, "category": category}
            for text, evidence, category in questions
        ],
    }


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([locomo("conv-1"), locomo("conv-2")]))
    return path


def test_shortlist(
    on_server: Engram, namespace: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shortlist, "NAMESPACE", namespace + ":")
    command = ("eval", "shortlist", str(file), "--json")
    one = on_server(*command, "--conversation", "conv-1", "--k", "4")
    assert one.code == 0
    assert one.json == {"questions": 2, "all": 1.0, "any": 1.0, "k": 4}
    short = on_server(*command, "--conversation", "conv-1", "--k", "1").json
    assert short == {"questions": 2, "all": 0.5, "any": 1.0, "k": 1}
    kept = shortlist.namespace_of(shortlist.chosen(file, "conv-1")[0])
    stats = on_server("stats", "-n", kept, "--json").json
    assert (stats["messages"], stats["facts"], stats["unfinished"]) == (4, 0, 0)

    both = on_server(*command).json
    assert (both["questions"], both["k"]) == (4, 30)
    assert [row["conversation"] for row in both["conversations"]] == ["conv-1", "conv-2"]
    plain = on_server("eval", "shortlist", str(file), "--k", "4").out
    assert "together" in plain
    other = locomo("conv-1")  # the same name and as many turns, of which none answers any more
    for turn in other["conversation"]["session_1"]:
        turn["text"] = "Ludo?"
    file.write_text(json.dumps(other))
    assert on_server(*command, "--k", "1").json["all"] < 0.5
    assert "100.0%" in plain


def test_a_shortlist_with_each_part_off_and_along_its_length(
    on_server: Engram, namespace: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shortlist, "NAMESPACE", namespace + ":")
    command = ("eval", "shortlist", str(file), "--k", "1", "--ablation", "--curve")
    found = on_server(*command, "--json").json
    assert [row["without"] for row in found["ablation"]] == [*WEIGHTS, *shortlist.GROUPS]
    assert {row["questions"] for row in found["ablation"]} == {4}
    assert [row["k"] for row in found["curve"]] == [5, 10, 20, 30, 50]
    assert found["all"] < found["curve"][0]["all"] == 1.0  # four turns in all
    lines = on_server(*command).out.splitlines()
    assert any(line.split()[:1] == ["words_near"] for line in lines)
    assert any(line.split() == ["50", "100.0%", "100.0%"] for line in lines)


def test_weights_are_fitted_again(
    on_server: Engram, namespace: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shortlist, "NAMESPACE", namespace + ":")
    found = on_server("eval", "fit-shortlist", str(file), "--json").json
    assert list(found["weights"]) == list(WEIGHTS)
    assert found["weights"]["date"]["weight"] == WEIGHTS["date"]  # held
    assert found["weights"]["words"]["weight"] > 0
    for row in found["weights"].values():
        assert row["least"] <= row["most"]
    assert [row["k"] for row in found["left_out"]] == [row["k"] for row in found["fitted"]]
    assert found["left_out"][0]["all"] == 1.0
    plain = on_server("eval", "fit-shortlist", str(file)).out
    assert "left out" in plain
    assert "words_near" in plain
    alone = file.with_name("one.json")
    alone.write_text(json.dumps(locomo("conv-1")))
    refused = on_server("eval", "fit-shortlist", str(alone), "--json")
    assert (refused.code, refused.error["field"]) == (2, "file")


@pytest.mark.parametrize(
    "arguments",
    [["missing.json"], ["--conversation", "conv-9"], ["--k", "0"], ["--k", "151"]],
)
def test_shortlist_of_bad_input(engram: Engram, file: Path, arguments: list[str]) -> None:
    given = arguments if arguments[0] == "missing.json" else [str(file), *arguments]
    done = engram("eval", "shortlist", *given, "--json")
    assert done.code == 2
    assert done.error["message"]


def test_bench(on_server: Engram, migrated: Any) -> None:
    done = on_server("bench", "--facts", "200", "--rounds", "3", "--json")
    assert done.code == 0
    assert {"work", "p50_ms", "bare_p50_ms", "ratio"} <= set(done.json[0])
    left = on_server("namespaces", "--json").json
    assert not [row for row in left if row["namespace"].startswith("bench-")]


def test_bench_of_growth(on_server: Engram, migrated: Any) -> None:
    done = on_server("bench", "--growth", "100,200", "--rounds", "2", "--json")
    assert done.code == 0
    assert {row["facts"] for row in done.json} == {100, 200}
    assert all(row["met"] for row in done.json if "found" in row)


@pytest.mark.parametrize("sizes", ["", "many", "1000,100", "50", "-1000"])
def test_bench_of_no_growth(engram: Engram, sizes: str) -> None:
    done = engram("bench", f"--growth={sizes}", "--json")
    assert (done.code, done.error["field"]) == (2, "growth")

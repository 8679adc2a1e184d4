"""``eval locomo`` and ``eval longmemeval`` with scripted models on the real database."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Engram = Callable[..., Any]
ARMS = ("turns_hybrid_jev", "facts")
SAID = (
    ("Ann", "I live in Lisbon."),
    ("Ben", "How is the weather there?"),
    ("Ann", "Sunny, and I work at the Harbour Museum."),
    ("Ben", "I have a dog called Rufus."),
    ("Ann", "I play the cello on Sundays."),
    ("Ben", "I am allergic to walnuts."),
    ("Ann", "I moved: I live in Porto now."),
    ("Ben", "Porto has good coffee."),
    ("Ann", "I plan to visit Norway in June."),
    ("Ben", "I work at a bakery."),
    ("Ann", "My sister Ida likes chess."),
    ("Ben", "Rufus sleeps all day."),
)
ASKED: tuple[tuple[str, str, list[str], int], ...] = (
    ("Where does Ann live?", "Porto", ["D1:7"], 4),
    ("What is Ben allergic to?", "walnuts", ["D1:6"], 4),
    ("When does Ann want to visit Norway?", "June", ["D2:1"], 2),
    ("Who of Ann's family likes chess?", "Ida", ["D2:3"], 1),
    ("What is the name of Ben's cat?", "", ["D1:4"], 5),
)


def written(path: Path, name: str) -> Path:
    """``path`` with a conversation of twelve turns in LoCoMo's format."""

    def session(number: int, turns: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
        return [
            {"speaker": speaker, "dia_id": f"D{number}:{n}", "text": text}
            for n, (speaker, text) in enumerate(turns, 1)
        ]

    talk = {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": session(1, SAID[:8]),
        "session_2_date_time": "9:30 am on 12 May, 2023",
        "session_2": session(2, SAID[8:]),
    }
    qa = [
        {"question": question, "answer": answer, "evidence": evidence, "category": category}
        for question, answer, evidence, category in ASKED
    ]
    path.write_text(json.dumps({"sample_id": name, "conversation": talk, "qa": qa}))
    return path


@pytest.fixture
def file(namespace: str, on_server: Engram, tmp_path: Path) -> Iterator[Path]:
    """A conversation called as the test's namespace; what is stored of it is forgotten."""
    yield written(tmp_path / "locomo.json", namespace)
    for row in on_server("namespaces", "--json").json:
        if namespace in row["namespace"]:
            on_server("-n", row["namespace"], "forget", "--all", "--yes")


@pytest.fixture
def unstored(tmp_path: Path) -> Path:
    """A conversation that no test stores."""
    return written(tmp_path / "locomo.json", "talk")


def test_a_run_stops_at_a_cap_goes_on_and_is_replayed(
    on_server: Engram, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Full text weighs words by all that is on a server, which other tests share.
    monkeypatch.setenv("ENGRAM_SEARCH_WITHOUT", "text")
    first, again = tmp_path / "first", tmp_path / "again"
    arms = [word for arm in ARMS for word in ("--arm", arm)]
    common = ("eval", "locomo", str(file), "--split", "all", "--models", "scripted", *arms)

    stopped = on_server(*common, "--out", str(first), "--budget", "0.005", "--json")
    assert stopped.code == 1
    assert stopped.error["code"] == "budget"
    assert "goes on" in stopped.error["hint"]
    assert not list(first.glob("*facts.result.json"))

    whole = on_server(*common, "--out", str(first), "--json")
    assert whole.code == 0
    replayed = on_server(
        *common, "--out", str(again), "--recording", str(first / "recording.sqlite"),
        "--budget", "0", "--json",
    )  # fmt: skip
    assert replayed.code == 0
    for arm in ARMS:
        name = f"locomo.{arm}.result.json"
        assert (again / name).read_bytes() == (first / name).read_bytes()
    calls = [json.loads(line) for line in (again / "ledger.jsonl").read_text().splitlines()]
    usage = [row for row in calls if row["row"] == "usage"]
    assert usage
    assert all(row["cached"] for row in usage)

    turns, facts = whole.json["arms"]
    assert [each["arm"] for each in (turns, facts)] == list(ARMS)
    assert (turns["state"], turns["unfinished"]) == ("done", [])
    told = turns["at"][0]
    assert (told["questions"], told["store"]["turns"], told["unanswered"]) == (4, 12, 0)
    assert set(told["by_category"]) == {"single-hop", "temporal", "multi-hop"}
    assert told["abstention"] in (0.0, 1.0)
    assert told["recall"]["any"] == 4  # twelve turns are all in a shortlist of thirty
    assert facts["at"][0]["store"]["facts"] > 0

    # Another k is another question to the answering model, and none may be asked.
    lost = on_server(
        *common, "--out", str(tmp_path / "lost"), "--k", "2",
        "--recording", str(first / "recording.sqlite"), "--budget", "0", "--json",
    )  # fmt: skip
    assert (lost.code, lost.error["code"]) == (1, "budget")
    other = on_server(*common, "--out", str(first), "--questions", "2", "--json")
    assert (other.code, other.error["differs"]) == (2, ["digest"])


def test_the_table_and_what_could_not_run(on_server: Engram, file: Path, tmp_path: Path) -> None:
    out = ("--out", str(tmp_path / "run"))
    done = on_server(
        "eval", "locomo", str(file), "--split", "all", *out, "--no-answers",
        "--arm", "turns_cosine", "--arm", "turns_jev", "--k", "2",
    )  # fmt: skip
    assert done.code == 1  # one that was named did not run
    head, row, why = done.out.splitlines()
    assert head.split()[:4] == ["arm", "k", "questions", "accuracy"]
    assert row.split()[:3] == ["turns_cosine", "2", "4"]
    assert why.startswith("turns_jev: cannot run: TYPESAFE_API_KEY is not set")


def test_what_is_refused_before_anything_runs(
    engram: Engram, unstored: Path, tmp_path: Path
) -> None:
    def refused(*options: str) -> str:
        done = engram("eval", "locomo", str(unstored), *options, "--json")
        assert done.code == 2
        return str(done.error["message"])

    assert "needs conv-26" in refused("--arm", "facts")
    assert refused("--split", "all") == "no arm is named"
    assert refused("--split", "all", "--arm", "fax") == "no arm is called 'fax'"
    assert refused("--split", "all", "--arm", "facts") == "--out is missing"
    assert not list(tmp_path.glob("*/"))


def test_an_estimate_runs_nothing(engram: Engram, unstored: Path) -> None:
    done = engram(
        "eval", "locomo", str(unstored), "--split", "all", "--arm", "facts", "--k", "3",
        "--estimate", "--json",
    )  # fmt: skip
    (told,) = done.json
    assert told["write"] == pytest.approx(12 * 1.865e-3)
    assert told["total"] == pytest.approx(
        sum(told[each] for each in ("write", "read", "answer", "judge"))
    )


def test_a_held_out_run_says_so(engram: Engram, unstored: Path) -> None:
    written(unstored, "conv-44")
    common = ("eval", "locomo", str(unstored), "--arm", "turns_cosine", "--estimate")
    assert "HELD-OUT" in engram(*common, "--conversation", "conv-44").err
    written(unstored, "conv-26")
    assert "HELD-OUT" not in engram(*common).err


def test_longmemeval(on_server: Engram, namespace: str, tmp_path: Path) -> None:
    row = {
        "question_id": f"{namespace}_abs",
        "question_type": "single-session-user",
        "question": "Where is the canoe?",
        "answer": "It was not said.",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_dates": ["2023/05/20 (Sat) 02:21"],
        "haystack_session_ids": ["one"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "The kayak is at the boathouse."},
                {"role": "assistant", "content": "Noted."},
            ]
        ],
        "answer_session_ids": ["one"],
    }
    file = tmp_path / "longmemeval.json"
    file.write_text(json.dumps([row]))
    out = tmp_path / "run"
    done = on_server(
        "eval", "longmemeval", str(file), "--split", "all", "--models", "scripted",
        "--arm", "full_context", "--out", str(out), "--json",
    )  # fmt: skip
    assert done.code == 0
    told = done.json["arms"][0]["at"][0]
    assert (told["questions"], told["accuracy"]) == (0, None)
    assert told["abstention"] is not None
    (result,) = out.glob("longmemeval.full_context.result.json")
    (answered,) = json.loads(result.read_text())["rows"]
    assert answered["question"] == "Where is the canoe? (Asked on 2023/05/30 (Tue) 23:40.)"
    assert len(answered["lines"]) == 2

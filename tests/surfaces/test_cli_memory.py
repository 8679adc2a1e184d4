"""Commands that write and read a memory, on the real database."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Engram = Callable[..., Any]


@pytest.fixture
def moved(maya: Engram) -> tuple[str, str]:
    """Ids of two facts: Maya in Berlin, closed when she moved to Lisbon."""
    first = maya("remember", "Maya", "lives_in", "Berlin", "--valid-from", "2024-01-01", "--json")
    second = maya("remember", "Maya", "lives_in", "Lisbon", "--valid-from", "2024-06-01", "--json")
    assert [each["id"] for each in second.json["closed"]] == [first.json["facts"][0]["id"]]
    return first.json["facts"][0]["id"], second.json["facts"][0]["id"]


def test_add(maya: Engram, namespace: str) -> None:
    arguments = (
        *("add", "I live in Porto.", "--speaker", "Maya", "--said-at", "2024-05-02T10:00:00+02:00"),
        *("--conversation", "mail", "--source-id", "m1", "--metadata", '{"a": {"b": [1, null]}}'),
    )
    added = maya(*arguments, "--json").json
    message = added["message"]
    assert message["namespace"] == namespace
    assert message["said_at"] == "2024-05-02T08:00:00Z"
    assert message["metadata"] == {"a": {"b": [1, None]}}
    assert (message["conversation"], message["source_id"]) == ("mail", "m1")
    (fact,) = added["facts"]
    assert (fact["subject"], fact["predicate"], fact["object"]) == ("Maya", "lives_in", "Porto")
    assert maya(*arguments, "--json").json["duplicate"] is True
    again = maya(*arguments)
    assert (again.code, again.err) == (0, "")
    assert "known already" in again.out


def test_add_of_text_that_begins_with_a_dash(maya: Engram) -> None:
    assert maya("add", "--json", "--", "-- I was away").json["message"]["text"] == "-- I was away"


def test_add_without_a_fact_says_so(maya: Engram) -> None:
    done = maya("add", "Good morning!")
    assert done.code == 0
    assert "no fact" in done.out


def test_add_keeps_secrets_out(maya: Engram) -> None:
    done = maya("add", "My password is hunter2-Xy9!", "--speaker", "Maya", "--json")
    assert done.code == 0
    assert "hunter2" not in done.out + done.err


def test_remember_shows_what_it_closed(maya: Engram, moved: tuple[str, str]) -> None:
    done = maya("remember", "Maya", "lives_in", "Porto", "--valid-from", "2025-02-03")
    assert done.code == 0
    assert "closed 2024-06-01 → 2025-02-03  Maya lives in Lisbon" in done.out
    repeated = maya("remember", "Maya", "lives_in", "Porto", "--valid-from", "2025-02-03")
    assert "repeats" in repeated.out


def test_remember_with_an_interval_and_a_sentence(maya: Engram) -> None:
    done = maya(
        *("remember", "Jonas", "lives_in", "Hamburg", "--text", "Jonas lived by the harbour"),
        *("--valid-from", "2019-01-01", "--valid-until", "2022-01-01", "--speaker", "Jonas"),
        *("--source-id", "s", "--said-at", "2024-01-01", "--metadata", '{"page": 3}', "--json"),
    )
    (fact,) = done.json["facts"]
    assert fact["text"] == "Jonas lived by the harbour"
    assert (fact["valid_from"], fact["valid_until"]) == (
        "2019-01-01T00:00:00Z",
        "2022-01-01T00:00:00Z",
    )
    assert not fact["open"]


def test_remember_negated(maya: Engram) -> None:
    maya("remember", "Maya", "allergic_to", "walnuts", "--valid-from", "2024-01-01")
    done = maya(
        *("remember", "Maya", "allergic_to", "walnuts", "--negated"),
        *("--valid-from", "2024-03-01", "--json"),
    )
    assert done.json["facts"][0]["negated"] is True


def test_correct(maya: Engram, moved: tuple[str, str]) -> None:
    done = maya("correct", moved[1], "--object", "Porto", "--reason", "misheard", "--json")
    assert done.json["facts"][0]["object"] == "Porto"
    assert [each["id"] for each in done.json["closed"]] == [moved[1]]
    missing = maya("correct", "no-such-id", "--object", "Porto", "--json")
    assert (missing.code, missing.error["code"]) == (1, "not_found")


def test_facts(maya: Engram, moved: tuple[str, str]) -> None:
    def ids(*filters: str) -> list[str]:
        return [fact["id"] for fact in maya("facts", *filters, "--json").json]

    assert ids() == list(moved)
    assert ids("--open") == [moved[1]]
    assert ids("--closed") == [moved[0]]
    assert ids("--as-of", "2024-03-01") == [moved[0]]
    assert ids("--object", "lisbon", "--subject", "maya", "--predicate", "lives in") == [moved[1]]
    assert ids("--known-at", "2020-01-01") == []
    first = maya("facts", "--limit", "1", "--json")
    assert [fact["id"] for fact in first.json] == [moved[0]]
    cursor = first.err.split("--cursor ")[1].split()[0]
    assert ids("--limit", "1", "--cursor", cursor) == [moved[1]]
    assert ids("--limit", "1", "--all") == list(moved)


def test_facts_for_people(maya: Engram, moved: tuple[str, str]) -> None:
    done = maya("facts")
    berlin, lisbon = done.out.splitlines()
    assert berlin.startswith("2024-01-01 → 2024-06-01  Maya lives in Berlin")
    assert "closed" in berlin
    assert moved[0] in berlin
    assert lisbon.startswith("2024-06-01  Maya lives in Lisbon")
    assert "closed" not in lisbon
    assert done.err == ""


def test_search(maya: Engram, moved: tuple[str, str]) -> None:
    found = maya("search", "Where does Maya live?", "--mode", "both", "--json").json
    assert {"query", "namespace", "mode", "context", "degraded", "sufficient"} < set(found)
    ids = [hit["id"] for hit in found["facts"]]
    assert ids[0] == moved[1]
    assert moved[0] in ids
    assert {"scores", "why", "successor", "line", "predicate"} < set(found["facts"][0])
    then = maya("search", "Where does Maya live?", "--as-of", "2024-03-01", "--json").json
    assert [hit["id"] for hit in then["facts"]] == [moved[0]]
    turns = maya("search", "Maya Lisbon", "--mode", "turns", "--limit", "1", "--json").json
    assert [hit["text"] for hit in turns["turns"]] == ["Maya lives in Lisbon"]
    assert turns["facts"] == []
    plain = maya("search", "Where does Maya live?")
    assert plain.out.splitlines()[0].startswith("2024-06-01  Maya lives in Lisbon")
    assert maya("search", "Maya", "--context").out.startswith("[engram: recalled memory")


def test_search_without_embedder_says_so(
    maya: Engram, moved: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENGRAM_EMBEDDER", "none")
    done = maya("search", "Lisbon")
    assert done.code == 0
    assert "Lisbon" in done.out
    assert "note: embedder" in done.err
    assert maya("search", "Lisbon", "--json").json["degraded"]


def test_history(maya: Engram, moved: tuple[str, str]) -> None:
    found = maya("history", "Maya", "lives_in", "--json").json
    assert [fact["id"] for fact in found["facts"]] == list(moved)
    assert [(link["source"], link["target"]) for link in found["links"]] == [moved[::-1]]
    lines = maya("history", "maya").out.splitlines()
    assert lines[0] == "lives_in"
    assert "superseded by: Lisbon" in lines[1]
    assert "no facts" in maya("history", "Nobody").out


def test_explain(maya: Engram, moved: tuple[str, str]) -> None:
    found = maya("explain", moved[0], "--json").json
    assert found["fact"]["id"] == moved[0]
    assert [fact["id"] for fact in found["newer"]] == [moved[1]]
    assert found["decisions"]
    assert found["messages"]
    shown = maya("explain", moved[0]).out
    assert all(title in shown for title in ("Said in", "Decisions", "Superseded by"))
    assert "belief 0.98 → " in shown
    missing = maya("explain", "no-such-id", "--json")
    assert (missing.code, missing.error["code"]) == (1, "not_found")


def test_get(maya: Engram, moved: tuple[str, str]) -> None:
    assert maya("get", moved[0], "--json").json["object"] == "Berlin"
    message = maya("explain", moved[0], "--json").json["messages"][0]["id"]
    assert maya("get", message, "--json").json["text"] == "Maya lives in Berlin"
    assert "Berlin" in maya("get", moved[0]).out
    assert maya("get", "no-such-id", "--json").error["code"] == "not_found"
    assert maya("get", "no-such-id").code == 1


def test_counts(maya: Engram, namespace: str, moved: tuple[str, str]) -> None:
    rows = maya("namespaces", "--json").json
    (row,) = [each for each in rows if each["namespace"] == namespace]
    assert (row["messages"], row["facts"], row["open"], row["entities"]) == (2, 2, 1, 3)
    assert namespace in maya("namespaces").out
    stats = maya("stats", "--json").json
    assert (stats["facts"], stats["predicates"]) == (2, {"lives_in": 1})
    assert "lives_in" in maya("stats").out


def test_doctor(maya: Engram, moved: tuple[str, str]) -> None:
    report = maya("doctor", "--json")
    assert report.code == 0
    assert (report.json["sound"], report.json["findings"]) == (True, [])
    assert "no findings" in maya("doctor").out


@pytest.mark.damaged
def test_doctor_of_a_broken_graph(
    maya: Engram, on_server: Engram, namespace: str, moved: tuple[str, str], migrated: Any
) -> None:
    async def damage() -> None:
        await migrated._graph.statement(
            "MATCH (f:Fact {namespace: $name}) SET f.belief = 7", name=namespace
        )

    migrated._portal.call(damage)
    report = maya("doctor", "--json")
    assert report.code == 1
    assert "belief_range" in [finding["invariant"] for finding in report.json["findings"]]
    plain = maya("doctor")
    assert plain.code == 1
    assert "belief_range: " in plain.out
    assert on_server("doctor", "--everywhere").code == 1


def test_ingest(maya: Engram, tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    lines = [
        json.dumps({"text": "I live in Porto.", "speaker": "Maya", "said_at": "2024-01-02"}),
        "{not json",
        json.dumps({"subject": "Jonas", "predicate": "owns", "object": "a boat"}),
        json.dumps({"subject": "Jonas", "predicate": "zooms_to", "object": "a boat"}),
        json.dumps({"text": "Hello!", "said_at": "2024-01-02T10:00:00"}),
        json.dumps({"text": "Good night."}),
    ]
    file.write_text("\n".join(lines), encoding="utf-8")
    done = maya("ingest", str(file), "--json")
    assert done.code == 1
    assert (done.json["messages"], done.json["facts"], done.json["skipped"]) == (3, 2, 0)
    assert [each["position"] for each in done.json["failed"]] == [2, 4, 5]
    assert "error: line 2: not JSON" in done.err
    again = maya("ingest", str(file))
    assert again.code == 1
    assert "0 messages, 0 facts, 3 known already, 3 failed" in again.out
    assert len(maya("facts", "--json").json) == 2
    file.write_text("\n".join([lines[0], "", lines[2]]), encoding="utf-8")
    assert maya("ingest", str(file)).code == 0


def test_resume_with_nothing_to_do(maya: Engram, moved: tuple[str, str]) -> None:
    assert maya("resume", "--json").json == []
    assert "0 finished" in maya("resume").out


def test_resume_after_a_failed_extraction(maya: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        broken.setenv("ENGRAM_EXTRACTOR", "llm")
        broken.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        broken.setenv("OPENAI_API_KEY", "sk-hush-hush")
        failed = maya("add", "I live in Porto.", "--speaker", "Maya", "--json")
        assert failed.code == 1
        assert failed.json["message"]["status"] == "failed"
        assert "hush-hush" not in failed.out + failed.err
    done = maya("resume", "--json")
    assert done.code == 0
    assert done.json[0]["facts"][0]["object"] == "Porto"

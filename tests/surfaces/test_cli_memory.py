"""Commands that write and read a memory, on the real database."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from engram_graph.cli import show
from engram_graph.memory import AsyncMemory
from engram_graph.models.facts import Fact, Link
from engram_graph.models.results import QuestionStats, Stats, Timeline

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
    assert "[ended: newer statement]" in berlin
    assert "belief" not in berlin
    assert moved[0] in berlin
    assert lisbon.startswith("2024-06-01  Maya lives in Lisbon")
    assert "ended" not in lisbon
    assert "belief 0.98" in lisbon
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


def test_search_shows_what_was_judged(
    maya: Engram, moved: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENGRAM_RERANK", "decider")
    found = maya("search", "Maya lives in Lisbon", "--json").json
    assert found["sufficient"] is True
    assert found["facts"][0]["scores"]["relevance"] == 1.0
    assert {"cost_usd", "latency_ms"} < set(found)
    first, second = maya("search", "Maya lives in Lisbon").out.splitlines()
    assert f"{moved[1]}  relevance 1.00" in first
    assert f"{moved[0]}  relevance 0.83" in second
    turn = maya("search", "Maya lives in Lisbon", "--mode", "turns").out.splitlines()[0]
    assert turn.endswith("Maya lives in Lisbon  relevance 1.00")
    nothing = maya("search", "harbour").out.splitlines()
    assert nothing[0].startswith("nothing certain")
    assert nothing[1].endswith("relevance 0.50 · floor")
    assert maya("search", "harbour", "--json").json["sufficient"] is False


def test_search_in_other_forms(maya: Engram, moved: tuple[str, str]) -> None:
    lines = maya("search", "Maya", "--context", "--lines", "nodates").out.splitlines()
    assert lines[1:-1] == ["Maya lives in Lisbon"]
    wide = maya("search", "Maya", "--wide", "--json").json
    assert {hit["id"] for hit in wide["facts"]} == set(moved)
    assert maya("search", "Maya", "--lines", "short").code == 2


def test_search_without_embedder_says_so(
    maya: Engram, moved: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENGRAM_EMBEDDER", "none")
    done = maya("search", "Lisbon")
    assert done.code == 0
    assert "Lisbon" in done.out
    assert "note: embedder" in done.err
    assert maya("search", "Lisbon", "--json").json["degraded"]


def test_history(maya: Engram, namespace: str, moved: tuple[str, str]) -> None:
    found = maya("history", "Maya", "lives_in", "--json").json
    assert [fact["id"] for fact in found["facts"]] == list(moved)
    assert [(link["source"], link["target"]) for link in found["links"]] == [moved[::-1]]
    lines = maya("history", "maya").out.splitlines()
    assert lines[0] == "lives_in"
    assert lines[1].startswith(
        "  2024-01-01 → 2024-06-01  Maya lives in Berlin  [ended: newer statement]  "
    )
    assert lines[1].endswith(f"{moved[0]}  superseded by: Maya lives in Lisbon")
    assert lines[2] == f"  2024-06-01  Maya lives in Lisbon  belief 0.98  {moved[1]}"
    nobody = maya("history", "Nobody")
    assert (nobody.code, nobody.out) == (0, f"no facts about Nobody in namespace {namespace}\n")
    assert "about Nobody, owns, in" in maya("history", "Nobody", "owns").out


def test_a_start_that_was_not_stated(maya: Engram) -> None:
    maya("add", "I live in Porto.", "--speaker", "Maya", "--said-at", "2024-05-02T10:00:00Z")
    (line,) = maya("facts").out.splitlines()
    assert line.startswith("said 2024-05-02  Maya lives in Porto  ")
    maya("add", "I moved to Rome.", "--speaker", "Maya", "--said-at", "2024-05-02T11:00:00Z")
    shown = maya("facts", "--closed").out
    assert shown.startswith("said 2024-05-02 10:00Z → 2024-05-02 11:00Z  Maya lives in Porto")


def test_ends_of_every_kind(maya: Engram) -> None:
    def added(*arguments: str) -> str:
        done = maya("remember", *arguments, "--json")
        return str(done.json["facts"][0]["id"])

    def shown(fact: str) -> str:
        return next(line for line in str(maya("facts").out).splitlines() if fact in line)

    wrong = added("Maya", "lives_in", "Berlin", "--valid-from", "2024-01-01")
    maya("correct", wrong, "--object", "Bern")
    assert shown(wrong).startswith("never true  Maya lives in Berlin")
    assert "[corrected by hand]" in shown(wrong)
    past = added(
        "Jo", "owns", "a boat", "--valid-from", "2020-01-01", "--valid-until", "2021-01-01"
    )
    assert shown(past).startswith("2020-01-01 → 2021-01-01  Jo owns a boat")
    assert "[ended as stated]" in shown(past)
    assert "belief" not in shown(past)
    ahead = added(
        "Jo", "owns", "a car", "--valid-from", "2020-01-01", "--valid-until", "2999-01-01"
    )
    assert "[ends as stated]" in shown(ahead)
    short = added(
        *("Jo", "owns", "a kite", "--valid-from", "2020-01-01T10:00:05Z"),
        *("--valid-until", "2020-01-01T10:00:09Z"),
    )
    assert shown(short).startswith("2020-01-01 10:00:05Z → 2020-01-01 10:00:09Z  Jo")
    instant = added(
        *("Jo", "owns", "a ball", "--valid-from", "2020-01-01T10:00:05.25Z"),
        *("--valid-until", "2020-01-01T10:00:05.75Z"),
    )
    assert "10:00:05.250000Z → 2020-01-01 10:00:05.750000Z  " in shown(instant)


def test_a_plan_that_came_true(maya: Engram) -> None:
    for day, text in (("04-06", "I'm planning to move to Porto."), ("05-13", "I moved to Porto.")):
        maya("add", text, "--speaker", "Maya", "--said-at", f"2024-{day}T08:00:00Z")
    plan = next(line for line in maya("history", "Maya").out.splitlines() if "plans to" in line)
    assert "[fulfilled · planned]" in plan
    assert plan.endswith("  fulfilled by: Maya lives in Porto")


def test_a_newer_fact_that_is_not_at_hand() -> None:
    moment = datetime(2024, 1, 1, tzinfo=UTC)
    fact = Fact(
        id="a", namespace="x", subject="Maya", subject_key="maya", predicate="lives_in",
        object="Rome", object_key="rome", text="Maya lives in Rome", valid_from=moment,
        valid_until=moment, recorded_at=moment,
    )  # fmt: skip
    link = Link(type="SUPERSEDES", source="0123456789", target="a")
    among = Timeline(subject="Maya", predicate=None, facts=(fact,), links=(link,))
    assert show.successor(fact, among) == "  superseded by: 01234567"
    assert "[ended]" in str(show.fact_line(fact))


@pytest.mark.parametrize("command", [["get"], ["explain"], ["correct", "--text", "No."]])
def test_an_unknown_id_says_where_ids_are(
    maya: Engram, namespace: str, moved: tuple[str, str], command: list[str]
) -> None:
    done = maya(*command, "no-such-id")
    assert done.code == 1
    assert f"`engram facts -n {namespace}` lists ids." in done.err
    assert maya(*command, "no-such-id", "--json").error["hint"] in done.err


def test_stats_round_what_was_measured(
    maya: Engram, moved: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stats(self: AsyncMemory) -> Stats:
        asked = QuestionStats(requests=3, failed_requests=1, latency_ms_p50=1234.56789)
        return Stats(
            namespace="x",
            latency_ms_p50=1234.56789,
            requests=4,
            failed_requests=1,
            questions={"worth_remembering": asked},
        )

    monkeypatch.setattr(AsyncMemory, "stats", stats)
    shown = maya("stats").out
    assert "latency_ms_p50     1,234.6\n" in shown
    assert "failed_share       25.0%\n" in shown
    assert shown.splitlines()[-1].split() == ["worth_remembering", "3", "1", "1,234.6"]
    assert maya("stats", "--json").json["failed_share"] == 0.25
    assert maya("stats", "--json").json["latency_ms_p50"] == 1234.56789


def test_explain(maya: Engram, moved: tuple[str, str]) -> None:
    found = maya("explain", moved[0], "--json").json
    assert found["fact"]["id"] == moved[0]
    assert [fact["id"] for fact in found["newer"]] == [moved[1]]
    assert found["decisions"]
    assert found["messages"]
    assert [step["kind"] for step in found["story"]][:2] == ["told", "questions"]
    assert found["story"][-1]["agrees"] is True
    change = next(s["change"] for s in found["story"] if s.get("change") and s["change"]["before"])
    assert [piece["p"] for piece in change["pieces"]] == [1.0, 1.0]
    first, *shown = maya("explain", moved[0]).out.splitlines()
    assert first.startswith("2024-01-01 → 2024-06-01  Maya lives in Berlin")
    assert shown[1].startswith("  Said by ")
    story = "\n".join(shown)
    assert "rules rules-1 was asked" in story
    assert (
        "  “Maya lives in Lisbon” is taken as an update of it (1.00): speaks against it." in story
    )
    assert "    belief 0.98 → 0.02: l(0.9800) − l(1.0000) − l(1.0000) = 3.8918" in story
    assert "  It ends 2024-06-01, by “Maya lives in Lisbon”: its belief fell below 0.25" in story
    assert shown[-1] == "  Chain: Maya lives in Berlin → Maya lives in Lisbon"
    for name in (moved[0][:8], "Maya|lives_in|Berlin"):
        assert maya("explain", name, "--json").json["fact"]["id"] == moved[0]
    missing = maya("explain", "no-such-id", "--json")
    assert (missing.code, missing.error["code"]) == (1, "not_found")


def test_explain_of_what_several_facts_say(maya: Engram) -> None:
    ids = [
        maya("remember", "Maya", "owns", "a kite", "--text", text, "--json").json["facts"][0]["id"]
        for text in ("Maya has a kite.", "There is a kite of Maya's.")
    ]
    done = maya("explain", "Maya|owns|a kite", "--json")
    assert (done.code, done.error["code"], done.error["ids"]) == (2, "ambiguous", ids)
    assert all(each in maya("explain", "Maya|owns|a kite").err for each in ids)


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
        await migrated.graph.statement(
            "MATCH (f:Fact {namespace: $name}) SET f.belief = 7", name=namespace
        )

    migrated.portal.call(damage)
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


def test_ingest_of_something_else(maya: Engram, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("Dear diary\n" * 25, encoding="utf-8")
    plain = maya("ingest", str(file))
    assert plain.code == 1
    *errors, last = plain.err.splitlines()
    assert last == "… and 15 more; is this a JSON-lines file?"
    assert [each for each in errors if each.startswith("error: ")] == errors[-10:]
    assert "0 messages, 0 facts, 0 known already, 25 failed" in plain.out
    assert len(maya("ingest", str(file), "--json").json["failed"]) == 25
    file.write_text("Dear diary\n" * 25 + '{"text": "Hello."}', encoding="utf-8")
    assert maya("ingest", str(file)).err.endswith("… and 15 more\n")


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


def test_between(maya: Engram, moved: tuple[str, str]) -> None:
    def ids(*between: str) -> list[str]:
        return [fact["id"] for fact in maya("facts", "--between", *between, "--json").json]

    assert ids("2024-02-01", "2024-03-01") == [moved[0]]
    assert ids("2024-02-01", "2024-06-01") == list(moved)
    found = maya("search", "Where?", "--between", "2024-02-01", "2024-03-01", "--json").json
    assert [hit["id"] for hit in found["facts"]] == [moved[0]]
    wrong = maya("facts", "--between", "2024-03-01", "2024-02-01", "--json")
    assert (wrong.code, wrong.error["field"]) == (2, "between")
    both = maya("facts", "--between", "2024-02-01", "2024-03-01", "--as-of", "2024-02-02")
    assert both.code == 2


def test_diff(maya: Engram, moved: tuple[str, str]) -> None:
    found = maya("diff", "2024-06-01", "2024-06-01", "--json").json
    assert [(each["kind"], each["fact"]["id"]) for each in found["changes"]] == [
        ("ended", moved[0]),
        ("began", moved[1]),
    ]
    assert (found["end"], found["complete"]) == ("2024-06-02T00:00:00Z", True)
    ended, began = maya("diff", "2024-02-01").out.splitlines()
    assert ended.startswith("2024-06-01         ended     Maya lives in Berlin")
    assert "[ended: newer statement]  superseded by: Maya lives in Lisbon" in ended
    assert began.endswith(moved[1])
    done = maya("diff", "2024-06-01", "--clock", "recorded").out.splitlines()
    assert [line.split()[2] for line in done] == ["recorded", "recorded", "closed"]
    assert "[from 2024-01-01]" in done[0]
    assert "[ended: newer statement · true until 2024-06-01]" in done[2]
    some = maya("diff", "2024-01-01", "--limit", "1")
    assert "first 1" in some.err
    nothing = maya("diff", "2024-07-01", "--subject", "Maya", "--predicate", "lives_in")
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "no changes\n")
    assert maya("diff", "2024-01-01", "--clock", "wall").code == 2

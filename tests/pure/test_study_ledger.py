"""The ledger of a study: what is written, what counts as spent, and when a run stops."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_graph import clock
from engram_graph.adapters.recorder_calls import Made, Recorder
from engram_graph.adapters.recording import Asked, Recorded, Recording
from engram_graph.errors import AnsweringError, BudgetError, ConfigurationError, InputError
from engram_graph.evaluation.study.ledger import Caps, Ledger, spent, tally

PAYEES = {"jev": "jev", "llm": "openai", "rules": None}


def ledger(folder: Path, **more: Any) -> Ledger:
    return Ledger(
        folder / "ledger.jsonl", run_id="r1", payee=lambda asked: PAYEES[asked.backend], **more
    )


def call(one: Ledger, usd: float | None, *, backend: str = "llm", cached: bool = False) -> None:
    asked = Asked("answer" if backend == "llm" else "decision", backend, "m", {})
    if not cached:
        one.before(asked)
    recorded = Recorded("x", 20.0, usd, clock.now())
    one.after(asked, recorded, None if cached else (100, 10))


def rows(folder: Path, kind: str) -> list[dict[str, Any]]:
    text = (folder / "ledger.jsonl").read_text(encoding="utf-8")
    return [row for row in map(json.loads, text.splitlines()) if row["row"] == kind]


@pytest.mark.anyio
async def test_a_call_is_counted_before_it_is_kept(tmp_path: Path) -> None:
    """A run may be killed in between: its spending is then known, and nothing is free by mistake.

    The call that crosses a cap is kept all the same.
    """
    recording = Recording(tmp_path / "r.jsonl")
    asked = Asked("answer", "llm", "m", {})
    one = ledger(tmp_path, caps=Caps({"openai": 0.1}))
    seen: list[bool] = []

    class Watcher:
        before = one.before

        def after(self, asked: Asked, call: Recorded, tokens: Any) -> None:
            seen.append(recording.get_now(asked) is None)
            one.after(asked, call, tokens)

    async def make() -> Made:
        return Made("x", 0.5, 1.0)

    recording.watcher = Watcher()
    recorder = Recorder(recording, budget_usd=None, failure=AnsweringError, missing=BudgetError)
    with pytest.raises(BudgetError):
        await recorder.call(asked, make)
    assert seen == [True]
    assert recording.get_now(asked) is not None
    await recorder.aclose()


def test_a_call_is_a_row_of_its_own(tmp_path: Path) -> None:
    one = ledger(tmp_path)
    with one.stage("answer", "turns_jev"):
        call(one, 0.5)
        call(one, 0.5, cached=True)
        call(one, 0.0, backend="rules")
    made, replayed, free = rows(tmp_path, "usage")
    for row in (made, replayed, free):
        clock.instant(row.pop("ts"))
    assert made == {
        "row": "usage", "run_id": "r1", "stage": "answer", "system": "turns_jev",
        "purpose": "answer", "payee": "openai", "model": "llm:m", "tokens_in": 100,
        "tokens_out": 10, "latency_ms": 20.0, "cost_usd": 0.5, "cached": False,
    }  # fmt: skip
    assert replayed == made | {"cached": True, "tokens_in": None, "tokens_out": None}
    assert (free["payee"], free["purpose"]) == (None, "decision")
    [stage] = rows(tmp_path, "spend")
    assert stage["spend"] == {"openai": 0.5, "jev": 0.0, "anthropic": 0.0, "openrouter": 0.0}
    assert (stage["stage"], stage["system"], stage["run_id"]) == ("answer", "turns_jev", "r1")
    assert stage["wall_s"] >= 0


CALLS = st.lists(
    st.tuples(
        st.sampled_from(["jev", "llm", "rules"]),
        st.one_of(st.none(), st.floats(0, 3, allow_nan=False)),
        st.booleans(),
    ),
    max_size=20,
)


@given(CALLS)
def test_only_new_calls_are_spent_and_a_tally_counts_all(calls: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        one = ledger(folder)
        with one.stage("read", "arm"), tally() as counted:
            for backend, usd, cached in calls:
                call(one, usd, backend=backend, cached=cached)
        paid = {"jev": 0.0, "openai": 0.0}
        for backend, usd, cached in calls:
            if not cached and PAYEES[backend]:
                paid[str(PAYEES[backend])] += usd or 0.0
        assert {who: one.spent_run[who] for who in paid} == pytest.approx(paid)
        assert {who: spent(one.path)[who] for who in paid} == pytest.approx(paid)
        [stage] = rows(folder, "spend")
        assert {who: stage["spend"][who] for who in paid} == pytest.approx(paid)
    costs = [usd for _, usd, _ in calls]
    assert counted.calls == len(calls)
    assert counted.latency_ms == pytest.approx(20.0 * len(calls))
    known = None if None in costs else pytest.approx(sum(usd or 0.0 for usd in costs))
    assert counted.usd == known


@given(st.lists(st.floats(0, 1, allow_nan=False), max_size=9), st.randoms())
def test_a_tally_is_the_same_in_any_order(costs: list[float], chance: Any) -> None:
    shuffled = costs.copy()
    chance.shuffle(shuffled)
    sums = []
    with tempfile.TemporaryDirectory() as name:
        one = ledger(Path(name))
        for order in (costs, shuffled):
            with tally() as counted, tally() as inner:
                for usd in order:
                    call(one, usd)
            assert inner == counted
            sums.append(counted)
    assert sums[0] == sums[1]  # to the last bit: a replay writes the same bytes


@given(CALLS, st.floats(0, 5, allow_nan=False))
def test_a_run_stops_at_the_charge_that_crosses_its_cap(calls: list[Any], cap: float) -> None:
    priced = [each for each in calls if each[1] is not None]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        one = ledger(folder, caps=Caps(run={"openai": cap}))
        written, total, stopped = 0, 0.0, False
        for backend, usd, cached in priced:
            new = backend == "llm" and not cached
            try:
                call(one, usd, backend=backend, cached=cached)
                assert cached or not stopped
                assert not new or (total + usd <= cap and not total == cap == 0)
                written += 1
                total += usd if new else 0.0
            except BudgetError:
                if stopped or (new and total == cap == 0):
                    stopped = True
                    continue  # refused before anything was sent
                assert new
                total, written, stopped = total + usd, written + 1, True
                assert total > cap
        there = len(rows(folder, "usage")) if one.path.exists() else 0
        assert there == written  # the charge that crossed it as well
        if stopped:
            with pytest.raises(BudgetError):
                one.check()
        else:
            one.check()


def test_a_stopped_run_goes_on_with_a_higher_cap_and_replays_in_any_case(tmp_path: Path) -> None:
    one = ledger(tmp_path, caps=Caps(run={"total": 1.0}))
    with pytest.raises(BudgetError, match="its cap of") as error, one.stage("write", "arm"):
        call(one, 1.5)
    assert "Raise the cap" in error.value.hint
    assert rows(tmp_path, "spend")[0]["spend"]["openai"] == 1.5
    call(one, 0.1, cached=True)  # what is recorded is still given
    again = ledger(tmp_path, caps=Caps(run={"total": 1.0}))
    with pytest.raises(BudgetError):
        call(again, 0.1, backend="jev")
    raised = ledger(tmp_path, caps=Caps(run={"total": 2.0}))
    call(raised, 0.1, backend="jev")
    assert raised.spent_run == {"openai": 1.5, "jev": 0.1}


def test_the_cap_of_a_study_counts_all_of_its_runs(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        call(ledger(tmp_path / name), 1.0)
    caps = Caps(run={"openai": 2.0}, study={"openai": 2.5})
    for study in (tmp_path, tmp_path / "one" / "ledger.jsonl"):
        here = ledger(tmp_path / "two", caps=caps, study=study)
        assert here.spent_study == {"openai": 2.0}
    call(here, 0.4)
    with pytest.raises(BudgetError, match="this study spent"):
        call(here, 0.4)


def test_one_provider_at_its_cap_leaves_the_others_alone(tmp_path: Path) -> None:
    one = ledger(tmp_path, caps=Caps(run={"openai": 0.0, "jev": 1.0}))
    call(one, 0.5, backend="jev")
    call(one, 0.0, backend="rules")
    with pytest.raises(BudgetError):
        call(one, 0.1)
    assert len(rows(tmp_path, "usage")) == 2


def test_an_unknown_cost_under_a_cap_stops_the_run(tmp_path: Path) -> None:
    call(ledger(tmp_path), None)
    one = ledger(tmp_path, caps=Caps(run={"openai": 1.0}))
    call(one, None, backend="jev")
    with pytest.raises(BudgetError, match="unknown") as error:
        call(one, None)
    assert "ENGRAM_LLM_USD_PER_MILLION_INPUT" in error.value.hint


def test_a_replay_stops_at_what_is_not_recorded(tmp_path: Path) -> None:
    one = ledger(tmp_path, offline=True)
    call(one, 0.5, cached=True)
    one.check()
    for _ in range(2):
        with pytest.raises(BudgetError, match="not recorded"):
            call(one, 0.0, backend="rules")
    with pytest.raises(BudgetError, match="not recorded"):
        one.check()


def test_a_ledger_survives_a_line_that_was_cut_short_and_no_other(tmp_path: Path) -> None:
    one = ledger(tmp_path)
    call(one, 0.5)
    with one.path.open("a", encoding="utf-8") as file:
        file.write('{"row": "usa')
    assert spent(one.path) == {"openai": 0.5}
    call(ledger(tmp_path), 0.25)
    assert spent(one.path) == {"openai": 0.75}
    one.path.write_text("no ledger\n" + one.path.read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(InputError, match="line 1"):
        spent(one.path)


@pytest.mark.parametrize("caps", [{"claude": 1.0}, {"jev": -1.0}, {"jev": float("nan")}])
def test_a_cap_that_means_nothing_is_refused(caps: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError):
        Caps(run=caps)

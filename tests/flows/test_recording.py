"""A whole run recorded in one namespace and replayed in another: the same graph, at no cost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from canonical import canonical
from pydantic import SecretStr

from engram_graph.adapters.jev import JevDecider
from engram_graph.adapters.recorder import RecordingDecider, RecordingExtractor
from engram_graph.adapters.recording import Recording
from engram_graph.errors import ConfigurationError
from engram_graph.flows.write import UNSETTLED
from engram_graph.graph.driver import Graph
from engram_graph.memory import AsyncMemory
from engram_graph.models.results import Added
from engram_graph.settings import Settings
from engram_graph.testing.fake_llm import FakeLLM, answer, decisions
from engram_graph.wiring import make_decider, make_escalation, make_extractor, make_recording
from tests.contract.jev_server import JevServer, Scripted, two_decimals

pytestmark = pytest.mark.anyio
Make = Callable[..., AsyncMemory]
JEV_KEY, LLM_KEY = "ts-very-secret-key", "sk-very-secret-key"
FACTS = {
    "I live in Tarnfold.": [("I", "lives_in", "Tarnfold")],
    "I moved to Ostwick and joined Nordlys.": [
        ("I", "lives_in", "Ostwick"),
        ("I", "works_at", "Nordlys"),
    ],
    "Ilka lives in Velden, I think.": [("Ilka", "lives_in", "Velden")],
    "Thanks!": [],
}


def model(body: dict[str, Any]) -> str:
    """The chat model: facts of the messages above, and some answer to every question."""
    if body["response_format"]["json_schema"]["name"] != "facts":
        return decisions(body)
    text = json.loads(body["messages"][1]["content"])["message"]["text"]
    return answer(
        {"subject": s, "relation": p, "object": o, "text": f"{s} {p} {o}"}
        for s, p, o in FACTS[text]
    )


class Doubting(JevServer):
    """Leans to ``update`` about every pair, too weakly to act on; all else is current and sure."""

    def _usual(self, body: dict[str, Any], raw: bytes) -> Scripted:
        for key, put in body["questions"].items():
            options = list(put.get("criteria") or ())
            if "update" in options:
                p = dict.fromkeys(options, 0.0) | {"update": 0.45, "new": 0.3, "refinement": 0.25}
                self.answers[key] = two_decimals(put, "update") | {"probabilities": p}
            elif "current" in options:
                self.answers[key] = two_decimals(put, "current")
            else:
                self.answers.pop(key, None)
        return super()._usual(body, raw)


async def work(memory: AsyncMemory) -> list[Added]:
    done = []
    for day, text in enumerate(FACTS, 1):
        speaker = "Odo" if text.startswith("Ilka") else "Ilka"
        done.append(
            await memory.add(
                text, speaker=speaker, said_at=f"2025-01-{day:02}", source_id=f"m{day}"
            )
        )
    for day, home in enumerate(("Tarnfold", "Marrowby", "Ostwick"), 1):
        said = f"2025-02-{day:02}"
        done.append(await memory.remember("Ilka", "lives_in", home, said_at=said, source_id=said))
    return done


def told(done: list[Added]) -> list[Any]:
    return [(len(each.facts), len(each.closed), each.degraded) for each in done]


async def test_everything_by_settings_without_servers_and_keys(
    make_memory: Make, graph: Graph, settings: Settings, namespace: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.sqlite"
    server = Doubting()
    with server.listening() as url, FakeLLM() as llm:
        llm.answers = model
        live = settings.model_copy(
            update={
                "recording": str(path),
                "extractor": "auto",
                "openai_api_key": SecretStr(LLM_KEY),
                "openai_base_url": llm.url,
                "typesafe_api_key": SecretStr(JEV_KEY),
                "typesafe_base_url": url,
            }
        )
        async with make_memory(namespace, settings=live) as memory:
            first = await work(memory)
        asked = len(llm.requests), len(server.requests)
        async with make_memory(f"{namespace}-again", settings=live) as memory:
            assert told(await work(memory)) == told(first)
        assert (len(llm.requests), len(server.requests)) == asked
    held = path.read_bytes()
    assert not any(key.encode() in held for key in (JEV_KEY, LLM_KEY))
    kinds = {kind: backend for kind, backend, _ in Recording(path, read_only=True).origins()}
    assert kinds == {"decision": "jev", "escalation": "llm", "extraction": "llm:gpt-4o-mini"}
    replay = settings.model_copy(
        update={"recording": str(path), "recording_budget_usd": 0.0, "extractor": "auto"}
    )
    async with make_memory(f"{namespace}-replay", settings=replay) as memory:
        assert told(await work(memory)) == told(first)
        before = await canonical(graph, namespace)
        assert len(before["decisions"]) > 20
        assert await canonical(graph, f"{namespace}-again") == before
        assert await canonical(graph, f"{namespace}-replay") == before
        unknown = await memory.add("Never said before.", speaker="Ilka")
        assert unknown.message.status == "failed"
        assert "not in the recording" in (unknown.message.error or "")
    assert path.read_bytes() == held
    recorded = Settings.load(decider="recorded")
    escalation = make_escalation(recorded, None, Recording(path, read_only=True))
    assert escalation is not None
    assert (escalation.name, make_escalation(recorded)) == ("llm", None)


async def test_a_ladder_is_recorded_step_by_step(
    make_memory: Make, graph: Graph, settings: Settings, namespace: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.jsonl"
    changes = {"recording": str(path), "decider": "rules>jev", "extractor": "patterns"}
    with Doubting().listening() as url:
        live = {"typesafe_api_key": SecretStr(JEV_KEY), "typesafe_base_url": url}
        recorded = settings.model_copy(update=changes | live)
        async with make_memory(namespace, settings=recorded) as memory:
            first = await work(memory)
    origins = Recording(path, read_only=True).origins()
    assert {origin for origin in origins if origin[0] == "decision"} == {
        ("decision", "rules", "rules-1-sure"),
        ("decision", "jev", "jev-1.13.0"),
    }
    replay = settings.model_copy(update=changes | {"recording_budget_usd": 0.0})
    async with make_memory(f"{namespace}-replay", settings=replay) as memory:
        assert told(await work(memory)) == told(first)
    assert await canonical(graph, f"{namespace}-replay") == await canonical(graph, namespace)
    with pytest.raises(ConfigurationError, match="several"):
        make_decider(replay.model_copy(update={"decider": "recorded"}), None, Recording(path))


async def test_a_miss_is_an_unsure_fact(
    make_memory: Make, settings: Settings, namespace: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.sqlite"
    server = JevServer()
    live = RecordingDecider(
        JevDecider(api_key=JEV_KEY, transport=server.transport), Recording(path)
    )
    async with make_memory(namespace, decider=live) as memory:
        await memory.remember("Ilka", "owns", "a lathe", said_at="2025-01-01")
        spent = (await memory.stats()).cost_usd
    replay = settings.model_copy(update={"recording": str(path), "decider": "recorded"})
    async with make_memory(f"{namespace}-replay", settings=replay) as memory:
        known = await memory.remember("Ilka", "owns", "a lathe", said_at="2025-01-01")
        assert (known.degraded, known.facts[0].tentative) == ((), False)
        assert (await memory.stats()).cost_usd == spent > 0
        missing = await memory.remember("Ilka", "owns", "a boat", said_at="2025-01-02")
        assert missing.degraded == ("decider: decision_budget", UNSETTLED)
        assert missing.facts[0].tentative
        request = (await memory.explain(known.facts[0])).requests[0]
        assert (request["backend"], request["model"]) == ("jev", "jev-1.13.0")
    assert len(server.requests) == 1


async def test_an_argument_is_not_recorded_unless_asked(
    make_memory: Make, settings: Settings, tmp_path: Path
) -> None:
    path = tmp_path / "run.jsonl"
    recorded = settings.model_copy(update={"recording": str(path)})
    server = JevServer()
    own = JevDecider(api_key=JEV_KEY, transport=server.transport)
    async with make_memory(settings=recorded, decider=own) as memory:
        await memory.add("I live in Tarnfold.", speaker="Ilka", said_at="2025-01-01")
    assert {kind for kind, _, _ in Recording(path, read_only=True).origins()} == {"extraction"}


def test_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert make_recording(Settings.load()) is None
    with pytest.raises(ConfigurationError, match="needs a recording"):
        make_recording(Settings.load(decider="recorded"))
    monkeypatch.setenv("ENGRAM_RECORDING", str(tmp_path / "calls.jsonl"))
    monkeypatch.setenv("ENGRAM_RECORDING_BUDGET_USD", "0")
    settings = Settings.load()
    with pytest.raises(ConfigurationError, match="there is no recording"):
        make_recording(settings)
    assert not (tmp_path / "calls.jsonl").exists()
    monkeypatch.setenv("ENGRAM_RECORDING_BUDGET_USD", "1.5")
    recording = make_recording(Settings.load())
    assert recording is not None
    decider = make_decider(Settings.load(), None, recording)
    assert isinstance(decider, RecordingDecider)
    assert (decider.name, decider.model) == ("rules", "rules-1")
    assert isinstance(make_extractor(Settings.load(), recording), RecordingExtractor)
    for wrong in ("recorded>jev", "auto>rules"):
        with pytest.raises(ConfigurationError, match="recorded"):
            Settings.load(decider=wrong)
    for wrong in ("-1", "nan", "inf"):
        monkeypatch.setenv("ENGRAM_RECORDING_BUDGET_USD", wrong)
        with pytest.raises(ConfigurationError, match="ENGRAM_RECORDING_BUDGET_USD"):
            Settings.load()

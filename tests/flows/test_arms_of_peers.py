"""Arms of other memories: why one cannot run, and what it makes of its package's answers."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from engram_graph import clock
from engram_graph.adapters.patterns import PatternExtractor
from engram_graph.adapters.recording import Recording
from engram_graph.errors import PeerError
from engram_graph.evaluation.arms import PEERS, chosen, peers
from engram_graph.evaluation.arms.statements import Statement, Teller
from engram_graph.evaluation.study.records import Talk, Task
from engram_graph.formats.locomo import Turn
from engram_graph.settings import Settings
from engram_graph.testing.scripted import ScriptedDecider
from tests.flows.arm_fakes import FakeModels

pytestmark = pytest.mark.anyio
DAY = datetime(2024, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "pip"),
    [
        ("mem0", "mem0ai"),
        ("jevmem", "jevmem"),
        ("graphiti", "graphiti-core"),
        ("agent_memory", "neo4j-agent-memory"),
    ],
)
def test_a_peer_without_its_package_says_how_to_get_it(
    name: str, pip: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (arm,) = chosen([name])
    assert isinstance(arm, Teller)
    monkeypatch.setattr(peers, "find_spec", lambda _: None)
    monkeypatch.setattr(peers, "sys", SimpleNamespace(version_info=(3, 12)))
    assert arm.missing() == f"{pip} is not installed: pip install {pip}"
    monkeypatch.setattr(peers, "find_spec", lambda _: object())
    assert arm.missing() is None


def test_a_peer_may_need_a_later_python_or_a_database_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(peers, "find_spec", lambda name: None if name == "jgo" else object())
    monkeypatch.setattr(peers, "sys", SimpleNamespace(version_info=(3, 11)))
    reasons = {arm.name: arm.missing() for arm in chosen(PEERS)}
    assert reasons == {
        "mem0": None,
        "jevmem": "jevmem needs Python 3.12 or later",
        "graphiti": 'graphiti-core gets a Neo4j of its own: pip install "engram-graph[embedded]"',
        "agent_memory": "neo4j-agent-memory gets a Neo4j of its own: "
        'pip install "engram-graph[embedded]"',
    }


def test_a_line_says_when_it_ended() -> None:
    now = clock.now()
    assert peers.until("x", None) == ("x", False)
    assert peers.until("x", now + timedelta(days=1)) == ("x", False)
    assert peers.until("x", DAY) == ("x (no longer true since 2024-03-01)", True)


async def test_what_a_peer_raises_is_told_as_its_own_failure() -> None:
    with pytest.raises(PeerError, match="mem0: KeyError: 'memory'"):
        async with peers.at_work("mem0"):
            raise KeyError("memory")


async def test_jevmem_cannot_be_replayed(
    models: FakeModels, namespace: str, tmp_path: Path
) -> None:
    path = str(tmp_path / "recording.sqlite")
    await Recording(path).aclose()
    replay = {"recording": path, "recording_budget_usd": 0.0}
    models.settings = models.settings.model_copy(update=replay)
    (arm,) = chosen(["jevmem"])
    with pytest.raises(PeerError, match="not recorded"):
        await arm.write(models, Talk("c", (), ()), namespace)


class StubMem0:
    """mem0's asynchronous client, as far as the arm calls it: keeps what it is given."""

    made: Mapping[str, Any]

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.embedding_model: Any = None

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> StubMem0:
        cls.made = config
        return cls()

    async def add(self, messages: Any, *, metadata: Any, infer: bool = True, **_: Any) -> None:
        text = messages if isinstance(messages, str) else messages[0]["content"]
        self.rows.append({"memory": f"{'' if infer else 'as told: '}{text}", "metadata": metadata})

    async def get_all(self, **_: Any) -> dict[str, Any]:
        return {"results": self.rows}

    async def search(self, query: str, *, filters: Any, top_k: int) -> dict[str, Any]:
        return {"results": self.rows[::-1][:top_k]}

    def close(self) -> None:
        self.rows = []


@pytest.fixture
def models(settings: Settings) -> FakeModels:
    return FakeModels(settings, ScriptedDecider(), PatternExtractor(), "http://llm/v1")


async def test_mem0_is_given_dated_turns_and_gives_dated_lines(
    models: FakeModels, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("mem0")
    module.AsyncMemory = StubMem0  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mem0", module)
    for name in (*peers.QUIET, *peers.OWN_FOLDERS):
        monkeypatch.setenv(name, "")  # taken back at the end
        monkeypatch.delenv(name)
    turns = (Turn("c:0", "c", "Maya", "I live in Lisbon.", DAY, 1),)
    task = Task("q", "c", "Where does Maya live?", "Lisbon", "single-hop")
    talk = Talk("c", turns, (task,))
    (arm,) = chosen(["mem0"])
    assert isinstance(arm, Teller)

    with pytest.raises(PeerError, match="nothing was written"):
        await arm.read(models, talk, namespace, task)
    written = await arm.write(models, talk, namespace)
    assert (written.turns, written.facts, written.latency_ms) == (1, 1, (7.0,))
    assert written.cost_usd == {"decisions": 0.5, "embeddings": 0.25}  # as the tally says
    assert StubMem0.made["llm"]["config"]["openai_base_url"] == "http://llm/v1"
    assert StubMem0.made["vector_store"]["config"]["embedding_model_dims"] == 384
    read = await arm.read(models, talk, namespace, task)
    (line,) = read.lines
    # The date stands before what it stored; the turn itself was told with its date as well.
    assert line.text == "[2024-03-01] [2024-03-01] Maya: I live in Lisbon."
    assert (line.source_id, line.ended, read.shortlist) == ("c:0", False, ("c:0",))

    told: Sequence[Statement] = [
        Statement("Maya", "lives_in", "Porto", "Maya lives in Porto.", DAY, source_id="s:1")
    ]
    await arm.tell(models, namespace, told)
    (line,) = (await arm.read(models, talk, namespace, task)).lines
    assert line.text == "[2024-03-01] as told: Maya lives in Porto."
    assert line.source_id == "s:1"

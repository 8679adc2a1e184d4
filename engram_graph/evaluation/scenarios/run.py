"""Running scenarios: each in namespaces of its own, which are forgotten afterwards."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from engram_graph.errors import EngramError, InputError
from engram_graph.evaluation.scenarios.check_form import Invariants
from engram_graph.evaluation.scenarios.checks import invariants, look
from engram_graph.evaluation.scenarios.database import Database
from engram_graph.evaluation.scenarios.format import Scenario
from engram_graph.evaluation.scenarios.scripted import ScriptedDecider, ScriptedExtractor
from engram_graph.evaluation.scenarios.steps import perform
from engram_graph.evaluation.scenarios.world import Raised, World, recorded_log
from engram_graph.memory import AsyncMemory
from engram_graph.rules.method import Method, preset

DEFAULT_PRESET = "s2_v3"
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a scenario. ``diff``: what is not as expected, one thing a line."""

    id: str
    passed: bool
    diff: str = ""

    def as_dict(self) -> dict[str, object]:
        """For reports."""
        return {"id": self.id, "passed": self.passed, "diff": self.diff}


def chosen(scenarios: Sequence[Scenario], ids: Sequence[str]) -> list[Scenario]:
    """Those of ``ids``, in the file's order; all when none is named.

    Raises:
        InputError: there is no such scenario.
    """
    known = {one.id for one in scenarios}
    if unknown := [name for name in ids if name not in known]:
        raise InputError(f"no scenario {unknown[0]!r} in the file", field="id")
    return [one for one in scenarios if not ids or one.id in ids]


async def run_all(
    scenarios: Sequence[Scenario],
    database: Database,
    method: Method | None = None,
    progress: Progress | None = None,
) -> list[Result]:
    """Every scenario, one after the other."""
    results = []
    run = uuid.uuid4().hex[:8]
    for number, one in enumerate(scenarios):
        if progress:
            progress(number, len(scenarios))
        results.append(await run_one(one, database, f"scenario-{run}-{number}/", method))
    if progress:
        progress(len(scenarios), len(scenarios))
    return results


async def run_one(
    scenario: Scenario, database: Database, prefix: str, method: Method | None = None
) -> Result:
    """One scenario from its first step to the last check.

    Args:
        prefix: before every namespace; nobody else's namespaces begin with it.
        method: of the decisions; ``s2_v3`` by default. A scenario may ask for the rules decider.
    """
    world = _world(scenario, database, prefix, method or preset(DEFAULT_PRESET))
    with recorded_log(world.log):
        try:
            try:
                await _steps(world, database)
            finally:
                world.problems += [f"doctor: {each}" for each in await invariants(world)]
        except EngramError as error:
            world.problems.append(f"{type(error).__name__}: {error.message}")
        except Exception as error:  # a fault of ours is this scenario's failure, not the run's end
            world.problems.append(f"{type(error).__name__}: {error}")
        finally:
            await _leave(world)
    problems = list(dict.fromkeys(world.problems))
    return Result(scenario.id, not problems, "\n".join(problems))


async def _steps(world: World, database: Database) -> None:
    expected = {one.step for one in world.scenario.errors()}
    for number, step in enumerate(world.scenario.steps, 1):
        world.at = number
        before = await world.everything() if number in expected else None
        try:
            await perform(world, step, world.client, database.reopen)
        except Exception as error:
            if before is None:
                said = error.message if isinstance(error, EngramError) else error
                world.problems.append(
                    f"step {number} ({step.do}) raised {type(error).__name__}: {said}"
                )
                return
            world.raised[number] = Raised(error, await world.everything() == before)
    world.at = 0
    await look(world, [c for c in world.scenario.expect if not isinstance(c, Invariants)])


def _world(scenario: Scenario, database: Database, prefix: str, method: Method) -> World:
    if scenario.preset is not None:
        asked = preset(scenario.preset)
        method = replace(method, decider=asked.decider) if asked.decider else asked
    decider, extractor = ScriptedDecider(), ScriptedExtractor()

    def make() -> AsyncMemory:
        return AsyncMemory(
            settings=database.settings,
            embedder=database.embedder,
            extractor=extractor,
            decider=None if method.decider else decider,
            method=method,
        )

    return World(scenario, prefix, make, decider, extractor, make())


async def _leave(world: World) -> None:
    """Forget the scenario's namespaces and close its client."""
    try:
        for name in world.namespaces():
            await world.client.forget(everything=True, namespace=name)
    except EngramError as error:
        world.problems.append(f"cleaning up: {type(error).__name__}: {error.message}")
    finally:
        await world.client.aclose()

"""The form of a scenario file: one JSON object a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator, model_validator

from engram_graph.errors import InputError
from engram_graph.evaluation.lines import numbered
from engram_graph.evaluation.scenarios.check_form import Check, Equal, Raises
from engram_graph.evaluation.scenarios.step_form import CheckNow, ExportImport, Parallel, Step
from engram_graph.rules.method import PRESETS


class Scenario(BaseModel):
    """One line. What else stands in it (who wrote it, notes) is kept out of the way."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str
    kind: str = ""
    title: str = ""
    steps: tuple[Step, ...]
    expect: tuple[Check, ...]
    why: str = ""
    preset: str | None = None
    source: str | None = None

    @field_validator("preset")
    @classmethod
    def _known(cls, name: str | None) -> str | None:
        if name is not None and name not in PRESETS:
            raise ValueError(f"no such preset: {name}")
        return name

    @model_validator(mode="after")
    def _there(self) -> Self:
        if late := [one.step for one in self.errors() if one.step > len(self.steps)]:
            raise ValueError(f"an error is expected of step {late[0]}, there is none")
        return self

    def errors(self) -> list[Raises]:
        """Every expected error, wherever it is checked."""
        nested = (step.expect for step in self.steps if isinstance(step, CheckNow))
        return [one for part in (*nested, self.expect) for one in part if isinstance(one, Raises)]

    def namespaces(self) -> list[str]:
        """Every namespace a step or check names, in their order."""
        return list(dict.fromkeys(_names([*self.steps, *self.expect])))


def _names(parts: Iterable[Step | Check]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Equal):
            yield from (part.a, part.b)
            continue
        if isinstance(part, Parallel):
            yield from _names(part.steps)
            continue
        if isinstance(part, CheckNow):
            yield from _names(part.expect)
            continue
        yield part.ns
        if isinstance(part, ExportImport):
            yield part.into


def load_scenarios(path: str | Path) -> list[Scenario]:
    """The scenarios of a file, in its order.

    Raises:
        InputError: no such file, a line that is no scenario (with its number), an id used twice.
    """
    found: dict[str, Scenario] = {}
    for number, value in numbered(path):
        try:
            one = Scenario.model_validate(value)
        except ValidationError as error:
            raise _wrong(path, number, value, error) from None
        if one.id in found:
            raise InputError(f"line {number}: the id {one.id!r} is there twice", line=number)
        found[one.id] = one
    return list(found.values())


def _wrong(path: str | Path, number: int, value: Any, error: ValidationError) -> InputError:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    name = value.get("id") if isinstance(value, dict) else None
    who = f" ({name})" if isinstance(name, str) else ""
    return InputError(
        f"{Path(path).name}, line {number}{who}: {where}: {first['msg']}",
        hint="Each line is one scenario: id, steps, expect.",
        line=number,
    )

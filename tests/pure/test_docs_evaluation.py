"""docs/evaluation.md tells the costs that ``--estimate`` tells, and every arm."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from engram_graph.evaluation.arms import ARMS, OWN
from engram_graph.evaluation.study import expected
from engram_graph.evaluation.study.datasets import Dataset
from engram_graph.evaluation.study.records import Talk, Task
from engram_graph.formats.locomo import Turn

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
TURNS, QUESTIONS, WHOLE_TOKENS = 3122, 987, 23_631


def table(heading: str) -> dict[str, list[str]]:
    """First cell → the others, of the first table below a heading."""
    rows: dict[str, list[str]] = {}
    for line in TEXT.split(f"\n## {heading}\n")[1].splitlines():
        if line.startswith("| `"):
            first, *others = (cell.strip() for cell in line.strip("|").split("|"))
            rows.setdefault(first.strip("`"), others)
    return rows


def told(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def test_costs_of_the_held_out_split() -> None:
    turn = Turn("t", "c", "Ada", "Hello.", datetime(2023, 5, 8, tzinfo=UTC), 1)
    talk = Talk("c", (turn,) * TURNS, (Task("q", "c", "Who?", "Ada", "single-hop"),) * QUESTIONS)
    shown = table("What it costs")
    for name, make in ARMS.items():
        arm = make()
        sizes = ", ".join(map(str, arm.ks))
        if name == expected.WHOLE:  # the conversations' tokens are the study's
            block = QUESTIONS * (WHOLE_TOKENS * expected.INPUT_USD + expected.ANSWER_USD)
            judge = QUESTIONS * expected.JUDGE_USD
            costs: list[float | None] = [0.0, 0.0, block, judge, block + judge]
            sizes = "whole"
        else:
            dataset = Dataset("locomo", "primary", (talk,))
            found = expected.expected(dataset, name, arm.ks, len)
            costs = [found.write, found.read, found.answer, found.judge, found.total]
        assert shown[name] == [sizes, *map(told, costs)], name


def test_the_one_command_costs_what_is_said() -> None:
    [command] = [block for block in TEXT.split("```bash\n")[1:] if "--split primary" in block]
    arms = [word for word in command.split("```")[0].split() if word in ARMS]
    shown = table("What it costs")
    assert len(arms) == 6 + 2  # two more of them are compared
    total = sum(float(shown[name][-1]) for name in dict.fromkeys(arms))
    assert f"about {total:.0f} USD" in TEXT
    assert f"about {total:.0f} USD" in README
    every = sum(float(shown[name][-1]) for name in OWN)
    assert f"{every:.0f} for all" in README


def test_every_arm_is_told() -> None:
    arms = TEXT.split("\n## Arms\n")[1].split("\n## ")[0]
    assert [name for name in ARMS if f"`{name}`" not in arms] == []

"""The runner of a study, with arms and models that answer from a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from study_fakes import FakeArm, FakeModels, study, talk

from engram_graph.errors import (
    BudgetError,
    ConfigurationError,
    DecisionUnavailableError,
    InputError,
    StoreUnavailableError,
)
from engram_graph.evaluation.report.tables import kept_share
from engram_graph.evaluation.study.folder import Folder
from engram_graph.evaluation.study.records import Read
from engram_graph.evaluation.study.result import read_result
from engram_graph.evaluation.study.runner import asked_for, ks_of, run_arm, run_study

pytestmark = pytest.mark.anyio
RESULT = "locomo.fake.result.json"


async def whole(folder: Path) -> bytes:
    """The result file of a run that nothing disturbed."""
    await run_study(study(folder), [FakeArm()])
    return (folder / RESULT).read_bytes()


async def test_rows_hold_what_was_read_and_answered(tmp_path: Path) -> None:
    result = await run_arm(study(tmp_path), FakeArm())
    assert [(row.task, row.k) for row in result.rows][:3] == [("a:q0", 1), ("a:q0", 3), ("a:q1", 1)]
    one = result.rows[2]
    assert (one.answer, one.label, one.lines) == ("word1", "CORRECT", ("word1",))
    assert (one.shortlisted, one.kept, one.category) == (1, 1, "odd")
    assert (one.read_usd, one.answer_usd, one.judge_usd) == (0.0002, 0.001, 0.0005)
    assert (one.read_ms, one.answer_ms) == (7.0, 20.0)
    last = result.at(1)[3]
    assert last.abstention
    assert last.label == "WRONG"  # a line was answered where none was right
    assert result.conversations["a"].counters == {"new": 2}
    # A word for each line, and one more: [ and ] stand apart, those of an empty block do not.
    assert [row.tokens for row in result.rows[:2]] == [2, 4]
    assert result.tokens_at == (2.0, 3.0, 4.0)


async def test_lengths_are_saved_before_anything_is_answered(tmp_path: Path) -> None:
    with pytest.raises(BudgetError):
        await run_study(study(tmp_path, FakeModels(cap=0)), [FakeArm()])
    saved = json.loads((tmp_path / "locomo.fake.tokens.json").read_text())
    assert saved == {"arm": "fake", "counted_by": "words", "tokens_at": [2.0, 3.0, 4.0]}


@pytest.mark.parametrize("cap", [0, 1, 7, 8, 9, 15])
async def test_a_run_that_a_cap_stopped_goes_on_to_the_same_bytes(tmp_path: Path, cap: int) -> None:
    expected = await whole(tmp_path / "whole")
    folder = tmp_path / "stopped"
    with pytest.raises(BudgetError):
        await run_study(study(folder, FakeModels(cap=cap)), [FakeArm()])
    assert not (folder / RESULT).exists()
    assert json.loads((folder / "study.json").read_text())["arms"]["fake"]["state"] == "stopped"
    arm, models = FakeArm(), FakeModels()
    await run_study(study(folder, models), [arm])
    assert (folder / RESULT).read_bytes() == expected
    assert (arm.written, arm.read_) == ([], [])  # both were finished when the cap came
    assert models.asked == (8 if cap >= 8 else 16)  # a conversation has eight


async def test_a_run_interrupted_while_reading_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    expected = await whole(tmp_path / "whole")
    folder = tmp_path / "stopped"

    def interrupt(task: Any) -> None:
        if task.id == "b:q2":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await run_study(study(folder), [FakeArm(on_read=interrupt)])
    arm = FakeArm()
    await run_study(study(folder), [arm])
    assert arm.written == ["eval:study:fake:b"]  # a was finished
    assert (folder / RESULT).read_bytes() == expected


async def test_finished_conversations_are_not_asked_again(tmp_path: Path) -> None:
    first = await whole(tmp_path)
    arm, models = FakeArm(), FakeModels()
    await run_study(study(tmp_path, models), [arm])
    assert (arm.written, arm.read_, models.asked) == ([], [], 0)
    assert (tmp_path / RESULT).read_bytes() == first


@pytest.mark.parametrize("damage", ["", "{", '{"key": "x"}'])
async def test_a_damaged_part_is_made_again(tmp_path: Path, damage: str) -> None:
    first = await whole(tmp_path)
    for name in ("a.json", "a.read.json"):
        (tmp_path / "parts" / "fake" / name).write_text(damage)
    arm, models = FakeArm(), FakeModels()
    await run_study(study(tmp_path, models), [arm])
    assert (len(arm.written), models.asked) == (1, 8)
    assert (tmp_path / RESULT).read_bytes() == first


async def test_other_switches_of_an_arm_are_another_arm(tmp_path: Path) -> None:
    await whole(tmp_path)
    arm = FakeArm(flags={"order": "wrong"})
    await run_study(study(tmp_path), [arm])
    assert len(arm.written) == 2


async def test_other_ks_are_answered_without_reading_again(tmp_path: Path) -> None:
    await whole(tmp_path)
    arm, models = FakeArm(), FakeModels()
    (done,) = await run_study(study(tmp_path, models, ks=(2, 50)), [arm])
    assert (arm.read_, models.asked) == ([], 16)
    assert done.result
    assert done.result.ks == (2, 50)
    assert len(done.result.at(50)[0].lines) == 3  # all there are
    assert {row.tokens for row in done.result.at(50)} == {4}


def test_an_arm_that_gives_all_it_has_has_one_size() -> None:
    assert ks_of(FakeArm(ks=(3, 1), limit=3), ()) == (1, 3)
    assert ks_of(FakeArm(ks=(3, 1), limit=3), (20, 6, 6)) == (6, 20)
    assert ks_of(FakeArm(ks=(1000,), limit=1000), (20, 6)) == (1000,)


async def test_nothing_is_answered_if_nothing_is_to_be(tmp_path: Path) -> None:
    models = FakeModels()
    result = await run_arm(study(tmp_path, models, answers=False), FakeArm())
    assert models.asked == 0
    assert {(row.answer, row.label) for row in result.rows} == {(None, None)}
    assert result.rows[0].lines == ("word0",)


async def test_a_question_that_cannot_be_read_is_a_row_and_tried_again(tmp_path: Path) -> None:
    arm = FakeArm(fails={"a:q1": DecisionUnavailableError("down")})
    (done,) = await run_study(study(tmp_path), [arm])
    assert done.unfinished == ("a:q1: not read: down",)
    assert done.result
    row = done.result.rows[2]
    assert (row.lines, row.tokens, row.read_usd) == ((), 0, None)
    assert row.degraded == ("reading failed: down",)
    assert (row.shortlisted, row.kept) == (0, 0)  # it counts as not found
    await run_study(study(tmp_path), [FakeArm()])
    assert (tmp_path / RESULT).read_bytes() == await whole(tmp_path / "whole")


async def test_a_question_that_is_not_answered_has_no_label_and_is_tried_again(
    tmp_path: Path,
) -> None:
    broken = {talk("a").tasks[1].text: DecisionUnavailableError("down")}
    (done,) = await run_study(study(tmp_path, FakeModels(broken=broken), "a"), [FakeArm()])
    assert done.result
    assert done.unfinished == (
        "a:q1 at k 1: not answered: down",
        "a:q1 at k 3: not answered: down",
    )
    assert [row.label for row in done.result.at(1)] == ["CORRECT", None, "CORRECT", "WRONG"]
    await run_study(study(tmp_path, None, "a"), [FakeArm()])
    assert all(row.label for row in read_result(tmp_path / RESULT).rows)


async def test_an_arm_that_cannot_run_does_not_stop_the_others(tmp_path: Path) -> None:
    arms = [
        FakeArm("absent", absent="its package is not installed"),
        FakeArm("keyless", needs=("jev",)),
        FakeArm("unwritable", unwritable={"b": InputError("too long")}),
        FakeArm(),
    ]
    models = FakeModels(lacking="no key of Jev")
    told = await run_study(study(tmp_path, models), arms)
    assert [(each.arm, each.state, each.why) for each in told] == [
        ("absent", "cannot run", "its package is not installed"),
        ("keyless", "cannot run", "no key of Jev"),
        ("unwritable", "failed", "too long"),
        ("fake", "done", None),
    ]
    kept = json.loads((tmp_path / "study.json").read_text())["arms"]
    assert kept["absent"] == {"state": "cannot run", "why": "its package is not installed"}
    assert kept["fake"] == {"state": "done"}
    assert [each.name for each in tmp_path.glob("*.result.json")] == [RESULT]


async def test_a_database_that_is_gone_ends_the_run(tmp_path: Path) -> None:
    gone = StoreUnavailableError("gone")
    with pytest.raises(StoreUnavailableError):
        await run_study(study(tmp_path), [FakeArm(fails={"a:q0": gone}), FakeArm("other")])
    kept = json.loads((tmp_path / "study.json").read_text())["arms"]
    assert kept == {"fake": {"state": "stopped", "why": "gone"}}


async def test_a_folder_holds_one_run(tmp_path: Path) -> None:
    one = study(tmp_path)
    one.folder.claim(asked_for(one, recording="r"))
    one.folder.claim(asked_for(one, recording="r"))
    other = study(tmp_path, None, "a")
    with pytest.raises(InputError) as error:
        other.folder.claim(asked_for(other, recording="r"))
    assert error.value.details["differs"] == ["digest"]
    for other_text in ("[]", '{"format": "engram-run/1"}', "{"):
        (tmp_path / "study.json").write_text(other_text)
        with pytest.raises(InputError, match="not of a run"):
            one.folder.claim({})


async def test_names_from_a_file_stay_in_the_folder(tmp_path: Path) -> None:
    for name in ("../../out", "..", "a/b"):
        await run_arm(study(tmp_path / "run", None, name), FakeArm())
    assert sorted(each.name for each in tmp_path.iterdir()) == ["run"]
    assert len(list((tmp_path / "run" / "parts" / "fake").iterdir())) == 6


async def test_measured_times_are_beside_the_result(tmp_path: Path) -> None:
    models = FakeModels()
    await run_study(study(tmp_path, models, "a"), [FakeArm()])
    rows = Folder(tmp_path).timings()
    assert [row["stage"] for row in rows] == ["write", *["read"] * 4, "answer"]
    assert models.stages == [(stage, "fake") for stage in ("write", "read", "answer")]
    assert b"wall_s" not in (tmp_path / RESULT).read_bytes()


async def test_a_long_name_still_names_a_file(tmp_path: Path) -> None:
    names = ["ä" * 200 + end for end in "ab"]
    result = await run_arm(study(tmp_path, None, *names), FakeArm())
    assert set(result.conversations) == set(names)
    assert len(list((tmp_path / "parts" / "fake").iterdir())) == 4
    arm = FakeArm()
    await run_arm(study(tmp_path, None, *names), arm)
    assert arm.written == []


async def test_a_folder_is_for_one_process_at_a_time(tmp_path: Path) -> None:
    one, other = Folder(tmp_path), Folder(tmp_path)
    with (
        one.alone(),
        pytest.raises(ConfigurationError, match="another run"),
        other.alone(),
    ):
        pass
    with other.alone():
        pass


async def test_a_time_that_a_killed_run_left_unfinished_is_left_out(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.timed(arm="fake", wall_s=1.0)
    with (tmp_path / "timings.jsonl").open("a") as file:
        file.write('{"arm": "fa')
    assert folder.timings() == [{"arm": "fake", "wall_s": 1.0}]


async def test_a_conversation_in_which_nothing_is_found_counts_for_recall(tmp_path: Path) -> None:
    """Whether an arm names sources is known from its other conversations."""

    class Finds(FakeArm):
        async def read(self, models: Any, talk: Any, namespace: str, task: Any) -> Read:
            if talk.id == "b":
                return Read(())
            return await super().read(models, talk, namespace, task)

    result = await run_arm(study(tmp_path), Finds())
    kept = {row.conversation: (row.kept, row.shortlisted) for row in result.at(3)}
    assert kept["b"] == (0, 0)
    assert kept_share(result.at(3)) == 0.5

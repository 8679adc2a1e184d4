"""Lines of an export, without a database: what is written is read back, what is wrong is named."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from engram_graph.errors import InputError
from engram_graph.formats import export
from engram_graph.formats.export import is_export, read_header, read_records, render
from engram_graph.formats.export_check import Register, check
from engram_graph.formats.lines import read_items
from engram_graph.formats.whole_file import whole_file
from engram_graph.models.decisions import Decision, RequestLog
from engram_graph.models.export import (
    AnyRecord,
    ConversationRecord,
    Counts,
    DecisionRecord,
    Embedding,
    EntityRecord,
    FactRecord,
    Header,
    LinkRecord,
    MentionRecord,
    MessageRecord,
    RequestRecord,
)
from engram_graph.models.facts import Draft, Entity, Extracted, Fact, Link, Message
from engram_graph.rules.foreign import secrets_in, without
from engram_graph.vocabulary import ClosedReason, MessageStatus, Role

T = datetime(2025, 1, 1, 9, 0, 0, 250, tzinfo=UTC)


def uid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012x}"


def fact(number: int, **more: Any) -> Fact:
    known: dict[str, Any] = {
        "id": uid(number),
        "namespace": "n",
        "subject": "Ann",
        "subject_key": "ann",
        "predicate": "lives_in",
        "object": "Rome",
        "object_key": "rome",
        "text": "Ann lives in Rome",
        "valid_from": T,
        "recorded_at": T,
        "belief": 0.9,
    }
    return Fact(**known | more)


CLOSED: dict[str, Any] = {
    "open": False,
    "valid_until": T,
    "closed_at": T,
    "closed_reason": ClosedReason.BELIEF,
}


def decision(number: int, about: int, after: float = 0.9, **more: Any) -> DecisionRecord:
    known: dict[str, Any] = {
        "id": uid(number),
        "question": "belief_start",
        "outcome": "stored",
        "chosen": "",
        "p": 1.0,
        "reason": "",
        "backend": "rule",
        "decided_at": T,
        "fact_id": uid(about),
        "belief_after": after,
    }
    return DecisionRecord(decision=Decision(**known | more), position=number)


def records() -> list[AnyRecord]:
    return [
        ConversationRecord(name="default"),
        MessageRecord(
            message=Message(
                id=uid(1),
                namespace="n",
                conversation="default",
                speaker="Ann",
                role=Role.USER,
                text="Ann lives\nin Rome \u2028 ok",
                said_at=T,
                recorded_at=T,
                source_id="s",
                metadata={"a": None, "b": [1, {"c": None}], "": 2.5},
                status=MessageStatus.DONE,
            ),
            drafts=Extracted(
                extractor="caller",
                drafts=(
                    Draft(
                        subject="Ann",
                        predicate="lives_in",
                        object="Rome",
                        text="Ann lives in Rome",
                        valid_from=T,
                    ),
                ),
            ),
        ),
        EntityRecord(
            entity=Entity(id=uid(2), namespace="n", key="ann", name="Ann", aliases=("Annie",)),
            version=2,
            created_at=T,
        ),
        EntityRecord(entity=Entity(id=uid(3), namespace="n", key="rome", name="Rome"), version=0),
        FactRecord(fact=fact(4), sources=(uid(1),), vector=[0.5, -1.0]),
        FactRecord(fact=fact(5, **CLOSED), sources=(uid(1),)),
        MentionRecord(fact=uid(4), entity="rome"),
        LinkRecord(link=Link(type="SUPERSEDES", source=uid(4), target=uid(5), reason="belief")),
        decision(6, 4),
        decision(7, 5, 0.5),
        decision(8, 5),
        RequestRecord(
            request=RequestLog(
                id=uid(9),
                backend="rules",
                model="rules-1",
                question_versions={"worth_remembering": 1},
                candidates=(uid(5),),
                answers={
                    f"relation_to_candidate:{uid(5)}": {
                        "probabilities": {"update": 0.97, "new": 0.03},
                        "backend": "rules",
                        "fallback": False,
                    }
                },
                latency_ms=1.25,
                cost_usd=None,
                request_id=None,
                error=None,
                sent_at=T,
            ),
            decisions=(uid(6),),
        ),
    ]


def header(items: list[AnyRecord], **more: Any) -> Header:
    kinds = dict.fromkeys(Counts.model_fields, 0)
    for item in items:
        kinds[item.record] += 1
    known: dict[str, Any] = {
        "namespace": "n",
        "counts": Counts(**kinds),
        "embedding": Embedding(model="m", dimension=2),
        "vectors": True,
        "exported_at": T,
    }
    return Header(**known | more)


def file(items: list[AnyRecord], **more: Any) -> bytes:
    return b"".join(render(item) for item in [header(items, **more), *items])


def checked(data: bytes) -> tuple[str, ...]:
    stream, register = io.BytesIO(data), Register()
    try:
        return check(stream, read_header(stream), register)
    finally:
        register.close()


def test_what_is_written_is_read_back() -> None:
    stream = io.BytesIO(file(records()))
    assert read_header(stream) == header(records())
    lines = list(read_records(stream))
    assert [line.record for line in lines] == records()
    assert [line.number for line in lines] == list(range(2, len(lines) + 2))
    assert sum(line.size for line in lines) < stream.tell()


def test_each_record_is_one_line() -> None:
    assert file(records()).count(b"\n") == len(records()) + 1


def test_a_sound_file_passes() -> None:
    assert checked(file(records())) == ()


def test_a_byte_order_mark_is_no_fault() -> None:
    assert checked(b"\xef\xbb\xbf" + file(records())) == ()


def test_moments_are_read_in_utc() -> None:
    data = file(records()).replace(
        b"2025-01-01T09:00:00.000250Z", b"2025-01-01T11:00:00.00025+02:00"
    )
    stream = io.BytesIO(data)
    read_header(stream)
    for line in read_records(stream):
        if isinstance(line.record, FactRecord):
            assert line.record.fact.valid_from == T
            assert line.record.fact.valid_from.tzinfo is UTC
        if isinstance(line.record, MessageRecord):
            assert line.record.drafts is not None
            assert line.record.drafts.drafts[0].valid_from == T
        if isinstance(line.record, DecisionRecord):
            break


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"", "not JSON"),
        (b"{}", "record"),
        (b"[1]", "must be a JSON object"),
        (b"\xff", "not UTF-8 at byte 0"),
        (b'{"record": "mention", "fact": NaN, "entity": "x"}', "NaN is not a JSON number"),
        (b'{"record": "mention", "fact": 1e999, "entity": "x"}', "NaN or infinity"),
        (b'{"record": "mention", "fact": "\\ud800", "entity": "x"}', "surrogate"),
        (b'{"record": "conversation", "name": "\\u0000"}', "NUL"),
        (b'{"record": "conversation", "name": "x", "more": 1}', "conversation.more"),
        (b"[" * 100_000, "not usable: RecursionError"),
        (b'{"record": "conversation", "name": "' + b"x" * 5_000 + b'"}', "longer than 4,096"),
    ],
)
def test_a_bad_line_is_named(line: bytes, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "MAX_LINE_BYTES", 4096 if b"xxxx" in line else 2**20)
    data = file(records()[:1]) + line + b"\n"
    with pytest.raises(InputError, match=message) as caught:
        checked(data)
    assert caught.value.message.startswith("line 3: ")
    assert caught.value.details["position"] == 3


def test_an_error_does_not_repeat_what_the_line_said() -> None:
    data = file(records()[:1]) + b'{"record": "fact", "fact": "hunter2", "sources": []}\n'
    with pytest.raises(InputError) as caught:
        checked(data)
    assert "hunter2" not in json.dumps(caught.value.as_dict())


@pytest.mark.parametrize("first", [b"", b"{}\n", b"[]\n", b"Dear diary\n", b'{"text": "Hi"}\n'])
def test_another_file_is_no_export(first: bytes) -> None:
    with pytest.raises(InputError, match="no header") as caught:
        read_header(io.BytesIO(first))
    assert "engram ingest" in caught.value.hint


def test_a_later_version_is_not_guessed_at() -> None:
    line = json.dumps(header([]).model_dump(mode="json") | {"version": 2})
    with pytest.raises(InputError, match="version 2 is not known") as caught:
        read_header(io.BytesIO(line.encode()))
    assert "Upgrade" in caught.value.hint


def test_a_chain_may_be_long_and_may_branch_but_not_turn_back() -> None:
    entities = records()[:4]
    facts: list[AnyRecord] = [
        FactRecord(fact=fact(n, **CLOSED), sources=(uid(1),)) for n in range(100, 160)
    ]
    steps = [(n + 1, n) for n in range(100, 159)] + [(159, 100), (130, 101)]
    moves: list[AnyRecord] = [decision(n + 1000, n) for n in range(100, 160)]

    def whole(pairs: list[tuple[int, int]]) -> bytes:
        links: list[AnyRecord] = [
            LinkRecord(link=Link(type="SUPERSEDES", source=uid(a), target=uid(b))) for a, b in pairs
        ]
        return file([*entities, *facts, *links, *moves])

    assert checked(whole(steps)) == ()
    with pytest.raises(InputError, match="circle"):
        checked(whole([*steps, (100, 159)]))
    with pytest.raises(InputError, match="circle"):
        checked(whole([(100, 100)]))


def test_the_latest_decision_counts_whatever_the_order_of_lines() -> None:
    items = records()
    at = next(i for i, one in enumerate(items) if isinstance(one, DecisionRecord))
    items[at + 1], items[at + 2] = items[at + 2], items[at + 1]
    assert checked(file(items)) == ()
    items[at + 1] = decision(8, 5, 0.7)
    with pytest.raises(InputError, match="line 7: belief"):
        checked(file(items))


def test_an_open_fact_is_not_superseded() -> None:
    items = records()
    items[5] = FactRecord(fact=fact(5), sources=(uid(1),))
    with pytest.raises(InputError, match="a superseded fact is open"):
        checked(file(items))


def test_a_vector_needs_a_header_that_says_so() -> None:
    with pytest.raises(InputError, match="there are none"):
        checked(file(records(), vectors=False))
    with pytest.raises(InputError, match="a vector of 2, not 3"):
        checked(file(records(), embedding=Embedding(model="m", dimension=3)))


def test_secrets_are_found_in_one_record_and_taken_out_of_all() -> None:
    told = MessageRecord(
        message=Message(
            id=uid(1),
            namespace="n",
            conversation="c",
            speaker="Ann",
            role=Role.USER,
            text="My password for the mill is Quill9!Moth-Ferry",
            said_at=T,
            recorded_at=T,
            source_id="s",
            metadata={"apikey": "moth-and-ferry"},
        )
    )
    values = secrets_in(told)
    assert values == {"Quill9!Moth-Ferry", "moth-and-ferry"}
    place = Entity(id=uid(3), namespace="n", key="quill9!moth-ferry", name="Quill9!Moth-Ferry")
    plain = without(EntityRecord(entity=place, version=1), values)
    assert isinstance(plain, EntityRecord)
    assert (plain.entity.key, plain.entity.name) == ("(redacted)", "(redacted)")
    assert without(told, ()) is told
    assert "Quill9" not in render(without(told, values)).decode()


def test_ingest_says_what_reads_an_export(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(file(records()))
    assert is_export(json.loads(path.read_bytes().splitlines()[0]))
    with pytest.raises(InputError, match="export of a namespace") as caught:
        list(read_items(path))
    assert "engram import" in caught.value.hint


def test_a_file_is_whole_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"

    def half() -> None:
        with whole_file(path, overwrite=False) as stream:
            stream.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()
    assert list(tmp_path.iterdir()) == []
    with whole_file(path, overwrite=False) as stream:
        stream.write(b"one")
        assert not path.exists()
    with pytest.raises(InputError, match="exists"), whole_file(path, overwrite=False):
        raise AssertionError("not reached")
    with pytest.raises(InputError, match="exists"), whole_file(tmp_path / "b", overwrite=False):
        (tmp_path / "b").write_bytes(b"another's")
    assert (tmp_path / "b").read_bytes() == b"another's"
    with whole_file(path, overwrite=True) as stream:
        stream.write(b"two")
    assert path.read_bytes() == b"two"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.jsonl", "b"]

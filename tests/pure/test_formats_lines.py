"""Files to ingest: what is told apart, what a bad line costs, and stable ids."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_graph.errors import InputError
from engram_graph.formats import lines as ingest_formats
from engram_graph.formats.lines import FactItem, MessageItem, read_items
from engram_graph.vocabulary import Role

LOCOMO = {
    "sample_id": "conv-1",
    "conversation": {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "Hi"},
            {"speaker": "Ben", "dia_id": "D1:2", "text": "Hello"},
        ],
    },
    "qa": [],
}


class Pipe(io.RawIOBase):
    """A stream that can only be read forward, like standard input."""

    def __init__(self, raw: bytes) -> None:
        self._raw = io.BytesIO(raw)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._raw.readinto(buffer)


def read(raw: bytes | str) -> list[tuple[int, Any]]:
    data = raw.encode() if isinstance(raw, str) else raw
    return list(read_items(io.BufferedReader(Pipe(data))))


def one(value: object) -> Any:
    [(position, item)] = read(json.dumps(value))
    assert position == 1
    return item


def refused(value: object) -> InputError:
    item = one(value)
    assert isinstance(item, InputError), item
    assert item.hint
    assert item.details["position"] == 1
    return item


def test_messages() -> None:
    item = one(
        {
            "text": " Hi ",
            "speaker": "Ann",
            "role": "Assistant",
            "said_at": "2024-03-05T10:00:00+01:00",
            "source_id": "m-1",
            "conversation": "c",
            "metadata": {"a": [1]},
            "channel": "web",
        }
    )
    assert item == MessageItem(
        text=" Hi ",
        speaker="Ann",
        role=Role.ASSISTANT,
        said_at=datetime(2024, 3, 5, 9, tzinfo=UTC),
        source_id="m-1",
        conversation="c",
        metadata={"a": [1], "channel": "web"},
    )


def test_messages_in_the_chat_format() -> None:
    item = one(
        {"role": "user", "name": "Ann", "content": [{"type": "text", "text": "Hi"}, {"x": 1}]}
    )
    assert (item.text, item.speaker, item.role) == ("Hi", "Ann", Role.USER)
    item = one({"role": "tool", "content": "done", "source_id": 7})
    assert (item.text, item.speaker, item.source_id) == ("done", "tool", "7")
    assert one({"text": "a", "speaker": None, "said_at": None}).speaker == "user"


def test_facts() -> None:
    item = one(
        {
            "subject": "Ann",
            "relation": "Lives in",
            "object": "Oslo",
            "text": "Ann lives in Oslo",
            "valid_from": "2024-03-05",
            "valid_until": "2025-01-01",
            "said_at": "2024-03-06",
            "speaker": "Ben",
            "source_id": "f-1",
        }
    )
    assert item == FactItem(
        subject="Ann",
        predicate="lives_in",
        object="Oslo",
        source_id="f-1",
        text="Ann lives in Oslo",
        valid_from=datetime(2024, 3, 5, tzinfo=UTC),
        valid_until=datetime(2025, 1, 1, tzinfo=UTC),
        said_at=datetime(2024, 3, 6, tzinfo=UTC),
        speaker="Ben",
    )


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ({}, "text"),
        ({"text": "  "}, "text"),
        ({"text": 7}, "text"),
        ({"content": []}, "text"),
        ({"text": "a", "role": "wizard"}, "role"),
        ({"text": "a", "speaker": {}}, "speaker"),
        ({"text": "a", "said_at": "yesterday"}, "said_at"),
        ({"text": "a", "said_at": "2024-03-05T10:00:00"}, "said_at"),
        ({"text": "a", "said_at": 1700000000}, "said_at"),
        ({"text": "a", "metadata": []}, "metadata"),
        ({"text": "a", "source_id": True}, "source_id"),
        ({"subject": "A", "predicate": "flies_to", "object": "B"}, "predicate"),
        ({"subject": "A", "predicate": "owns", "object": "B", "valid_form": "2024"}, "valid_form"),
        (
            {
                "subject": "A",
                "predicate": "owns",
                "object": "B",
                "valid_from": "2024-01-02",
                "valid_until": "2024-01-01",
            },
            "valid_until",
        ),
    ],
)
def test_unusable_values_name_their_field(value: object, field: str) -> None:
    assert refused(value).details["field"] == field


def test_incomplete_facts_and_other_json_are_refused() -> None:
    for value in ({"subject": "A"}, {"subject": "A", "object": "B"}, 7, "text", None, True):
        assert "line 1" in refused(value).message


def test_a_bad_line_costs_itself_only() -> None:
    lines = [
        b"\xef\xbb\xbf" + b'{"text": "one"}\r',
        b"",
        b"not JSON",
        b'{"text": "\xff"}',
        b'{"text": NaN}',
        b'{"text": "\\ud83d"}',
        b"[" * 100_000,
        b'{"text": "nine", "x": ' + b"9" * 5000 + b"}",
        b"  ",
        b'{"text": "ten"}',
    ]
    found = read(b"\n".join(lines))
    assert [position for position, _ in found] == [1, 3, 4, 5, 6, 7, 8, 10]
    good = [item.text for _, item in found if isinstance(item, MessageItem)]
    assert good == ["one", "ten"]
    for position, item in found:
        if isinstance(item, InputError):
            assert f"line {position}" in item.message
            assert item.details["position"] == position
    assert "UTF-8 at byte 10" in found[2][1].message


def test_a_broken_first_line_does_not_change_the_format() -> None:
    for first in ('{"text": "a",', "{", "[", "oops", '[{"text": "a"}]'):
        found = read(f'{first}\n{{"text": "b"}}\n')
        assert isinstance(found[0][1], InputError)
        assert found[1][0] == 2
        assert found[1][1].text == "b"


def test_a_line_without_end_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest_formats, "MAX_LINE_BYTES", 100)
    for long in (1000, 101, 99):
        found = read(b'{"text": "a"}\n' + b"x" * long + b'\n{"text": "b"}\n')
        assert [position for position, _ in found] == [1, 2, 3]
        assert isinstance(found[1][1], InputError)
        assert found[2][1].text == "b"
    [(_, first), (_, second)] = read(b"x" * 1000 + b'\n{"text": "b"}')
    assert isinstance(first, InputError)
    assert second.text == "b"


def test_lines_are_streamed() -> None:
    class Endless(io.RawIOBase):
        given = 0

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            line = b'{"text": "again"}\n'
            buffer[: len(line)] = line
            self.given += len(line)
            return len(line)

    source = Endless()
    items = read_items(io.BufferedReader(source))
    assert [next(items)[0] for _ in range(50)] == list(range(1, 51))
    assert source.given < 50_000


def test_locomo_whole_or_one_on_any_number_of_lines(tmp_path: Path) -> None:
    for data in (LOCOMO, [LOCOMO]):
        for indent in (None, 1):
            path = tmp_path / "l.json"
            path.write_text(json.dumps(data, indent=indent), encoding="utf-8-sig")
            found: list[tuple[int, Any]] = list(read_items(path))
            assert [(place, item.source_id) for place, item in found] == [
                (1, "conv-1:D1:1"),
                (2, "conv-1:D1:2"),
            ]
            assert found[1][1].said_at == datetime(2023, 5, 8, 13, 56, 1, tzinfo=UTC)
            assert found[1][1].conversation == "conv-1"
            assert found[1][1].speaker == "Ben"


def test_broken_locomo_is_refused_whole() -> None:
    with pytest.raises(InputError):
        read(json.dumps(LOCOMO | {"conversation": {}}))


def test_a_list_of_items_is_read_too() -> None:
    found = read(json.dumps([{"text": "a"}, 7, {"text": "b"}], indent=2))
    assert [place for place, _ in found] == [1, 2, 3]
    assert [getattr(item, "text", None) for _, item in found] == ["a", None, "b"]
    assert read(json.dumps({"text": "a"}, indent=2))[0][1].text == "a"
    assert read("[]") == []


def test_nothing_in_nothing_out(tmp_path: Path) -> None:
    for raw in (b"", b"\n\n", b"\xef\xbb\xbf"):
        assert read(raw) == []
    for missing in (tmp_path, tmp_path / "none"):
        with pytest.raises(InputError, match="cannot read"):
            list(read_items(missing))


def test_ids_are_stable_and_apart() -> None:
    raw = '{"text": "hi"}\n{"text": "hi"}\n{"text": "yo"}\n'
    ids = [item.source_id for _, item in read(raw)]
    assert len(set(ids)) == 3
    assert [item.source_id for _, item in read(raw.replace("\n", "\r\n"))] == ids
    longer = [item.source_id for _, item in read(raw + '{"text": "more"}\n')]
    assert longer[:3] == ids  # a file that grew is resumed
    other = [item.source_id for _, item in read('{"text": "head"}\n{"text": "hi"}\n')]
    assert not set(other) & set(ids)  # the same line in another file is another message


@given(st.binary())
def test_any_bytes_are_items_or_errors(raw: bytes) -> None:
    for position, item in read(raw):
        assert position >= 1
        assert isinstance(item, MessageItem | FactItem | InputError)

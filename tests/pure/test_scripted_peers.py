"""What the scripted models say to other memories' prompts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engram_graph.testing import scripted_peers


def asked(text: str, schema: Any = None) -> dict[str, Any]:
    body: dict[str, Any] = {"messages": [{"role": "user", "content": text}]}
    if schema is not None:
        body["response_format"] = {"type": "json_schema", "json_schema": {"schema": schema}}
    return body


def test_mem0_keeps_each_message_as_it_is() -> None:
    prompt = (
        "## Existing Memories\n[]\n\n## New Messages\nuser: Hi.\nassistant: Hello.\n\n## Date\nx"
    )
    said = json.loads(scripted_peers.reply(asked(prompt)))
    assert [row["text"] for row in said["memory"]] == ["Hi.", "Hello."]


def test_a_schema_gets_its_smallest_value() -> None:
    schema = {
        "$defs": {"Kind": {"enum": ["a", "b"]}},
        "type": "object",
        "properties": {
            "facts": {"type": "array", "items": {"type": "string"}},
            "kind": {"$ref": "#/$defs/Kind"},
            "until": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "name": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "left_out": {"type": "string"},
        },
        "required": ["facts", "kind", "until", "name"],
    }
    said = json.loads(scripted_peers.reply(asked("Extract.", schema)))
    assert said == {"facts": [], "kind": "a", "until": None, "name": ""}
    assert scripted_peers.reply(asked("Anything.")) == "{}"


@pytest.mark.parametrize("options", [("true", "false"), ("a", "b", "c"), ("only",)])
def test_hundredths_of_a_foreign_question_add_up(options: tuple[str, ...]) -> None:
    found = scripted_peers.decided(options)
    assert list(found) == list(options)
    assert sum(found.values()) == 100

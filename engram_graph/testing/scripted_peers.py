"""What the scripted models say to other memories, whose prompts are not ours.

Just enough for their packages to run: mem0 keeps each message as it is, and every other prompt that
tells a schema gets the smallest value of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

_NEW = "## New Messages\n"
_ROLES = ("user: ", "assistant: ", "system: ")


def reply(body: Mapping[str, Any]) -> str:
    """The answer to a chat request; ``{}`` when it tells no schema."""
    asked = str(body["messages"][-1]["content"])
    if _NEW in asked:
        lines = asked.partition(_NEW)[2].partition("\n## ")[0].splitlines()
        said = [line.partition(": ")[2] for line in lines if line.startswith(_ROLES)]
        memory = [{"id": str(place), "text": text} for place, text in enumerate(said)]
        return json.dumps({"memory": memory}, ensure_ascii=False)
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    return json.dumps(smallest(schema, schema)) if schema else "{}"


def decided(options: Sequence[str]) -> dict[str, int]:
    """Hundredths for a question that is not ours: a weak no, or the first option by a little."""
    first, *others = options
    each, more = divmod(60, len(others)) if others else (0, 60)
    return {first: 40 + more} | dict.fromkeys(others, each)


def smallest(schema: Mapping[str, Any], whole: Mapping[str, Any]) -> Any:
    """The smallest value of a JSON schema: no items, no optional fields, null where it may be.

    Args:
        whole: where its references point.
    """
    if "$ref" in schema:
        return smallest(whole["$defs"][schema["$ref"].rpartition("/")[2]], whole)
    options = schema.get("anyOf")
    if options:
        return None if {"type": "null"} in options else smallest(options[0], whole)
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "object":
        fields = schema.get("properties", {})
        return {name: smallest(fields[name], whole) for name in schema.get("required", ())}
    plain = {"array": [], "string": "", "integer": 0, "number": 0.0, "boolean": False}
    return plain.get(str(schema.get("type")))

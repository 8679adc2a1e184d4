"""The pages that are made from the code: ``python -m docs._build.reference`` writes them.

``docs/cli.md`` is what the command line knows of itself, ``docs/settings.md`` what ``Settings``
does. Tests compare both with the code.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import typer
from pydantic import SecretStr
from pydantic.fields import FieldInfo
from typer.cli import get_docs_for_click

from engram_graph.cli.app import app
from engram_graph.settings import Settings

DOCS = Path(__file__).resolve().parents[1]

_GROUPS = {
    "Database": ("neo4j_uri", "neo4j_username", "neo4j_password", "neo4j_database", "namespace"),
    "Embedding": (
        "embedder",
        "embedding_model",
        "embedding_base_url",
        "embedding_api_key",
        "embedding_dimension",
        "embedding_usd_per_million",
        "embedding_query_prefix",
        "embedding_passage_prefix",
    ),
    "Extraction": ("extractor", "llm_model", "openai_api_key", "openai_base_url"),
    "Deciding": (
        "preset",
        "decider",
        "typesafe_api_key",
        "typesafe_base_url",
        "typesafe_default_model",
        "decider_model",
        "escalation",
        "jev_rate",
    ),
    "Cost and recordings": (
        "decider_budget_usd",
        "llm_usd_per_million_input",
        "llm_usd_per_million_output",
        "recording",
        "recording_budget_usd",
    ),
    "Search": (
        "shortlist",
        "context_tokens",
        "search_without",
        "rerank",
        "rerank_model",
        "rerank_timeout",
    ),
    "Observability": ("trace_namespace",),
    "MCP server": ("mcp_token",),
}

_SETTINGS_HEAD = """\
# Settings

Made by `python -m docs._build.reference` from `engram_graph/settings.py`; a test compares.

A setting is an environment variable, or an argument of `Settings.load(…)` by the name in brackets, which
wins; `Memory(settings=…)` takes the result. A blank variable counts as unset. A value that does not fit is
refused by its name, and never repeated.
"""
_SETTINGS_TAIL = """
## Places

These are read from the environment alone.

| variable | default | |
| --- | --- | --- |
| `ENGRAM_HOME` | the user's data folder | The embedded database, its password and its log. |
| `ENGRAM_CACHE` | the user's cache folder | Neo4j's files: 187 MB, fetched once, checked by SHA-256. |
| `ENGRAM_DEBUG` | off | Commands show the trace of an error, as with `--debug`. |
"""
_CLI_HEAD = """\
# Command line

Made by `python -m docs._build.reference` from the commands themselves; a test compares.

Exit codes: 0 fine, 1 the work failed, 2 wrong usage, 130 interrupted. With `--json` a result, or an error, is
one JSON value on standard output; notes and progress go to standard error.

"""


def settings() -> str:
    """``docs/settings.md``."""
    fields = Settings.model_fields
    told = [name for names in _GROUPS.values() for name in names]
    if sorted(told) != sorted(fields):
        raise ValueError(f"in no group, or in two: {set(told) ^ set(fields)}")
    parts = [_SETTINGS_HEAD]
    for title, names in _GROUPS.items():
        rows = "".join(_row(name, fields[name]) for name in names)
        parts.append(f"## {title}\n\n| variable | default | |\n| --- | --- | --- |\n{rows}")
    return "\n".join(parts) + _SETTINGS_TAIL


def cli() -> str:
    """``docs/cli.md``."""
    command = typer.main.get_command(app)
    text = get_docs_for_click(obj=command, ctx=typer.Context(command), name="engram")
    told = re.sub(r"^\* `([a-z-]+)`: .*\.\.\.$", partial(_whole, command), text, flags=re.MULTILINE)
    return _CLI_HEAD + told.partition("\n")[2].strip() + "\n"


PAGES: dict[str, Callable[[], str]] = {"cli.md": cli, "settings.md": settings}
"""Name → what it says."""


def _whole(command: Any, listed: re.Match[str]) -> str:
    """A line of a list of commands with the whole first sentence, which typer cuts off."""
    groups = [command, *(one for one in command.commands.values() if hasattr(one, "commands"))]
    help_ = next(one.commands[listed[1]].help for one in groups if listed[1] in one.commands)
    return f"* `{listed[1]}`: {help_.splitlines()[0].partition('. ')[0].rstrip('.')}."


def _row(name: str, field: FieldInfo) -> str:
    alias: Any = field.validation_alias
    if not field.description:
        raise ValueError(f"{name} has no help")
    help_ = field.description.replace("|", "\\|")
    choices = _choices(field.annotation)
    if choices:
        help_ += f" One of {', '.join(f'`{each}`' for each in choices)}."
    return f"| `{alias.choices[0]}` (`{name}`) | {_default(field.default)} | {help_} |\n"


def _choices(annotation: Any) -> tuple[str, ...]:
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def _default(value: Any) -> str:
    value = value.get_secret_value() if isinstance(value, SecretStr) else value
    return "none" if value in (None, "") else f"`{value}`"


if __name__ == "__main__":
    for page, made in PAGES.items():
        (DOCS / page).write_text(made(), encoding="utf-8")

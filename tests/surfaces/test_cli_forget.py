"""``engram forget``: it asks first, counts on request, and says what went."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Engram = Callable[..., Any]


@pytest.fixture
def kite(maya: Engram) -> str:
    """The id of a fact."""
    added = maya("remember", "Maya", "owns", "a kite", "--source-id", "m1", "--json").json
    found: str = added["facts"][0]["id"]
    return found


def left(maya: Engram) -> int:
    found: int = maya("stats", "--json").json["facts"]
    return found


@pytest.mark.parametrize("answer", [b"y\n", b"YES\n"])
def test_it_goes_once_somebody_says_yes(maya: Engram, kite: str, answer: bytes) -> None:
    done = maya("forget", "--fact", kite, stdin=answer)
    assert done.code == 0
    assert "1 fact, 1 message, 2 entities" in done.err
    assert done.out.startswith("forgot 1 fact, 1 message, 2 entities")
    assert left(maya) == 0


@pytest.mark.parametrize("answer", [b"n\n", b"\n", b"what?\n"])
def test_anything_but_yes_leaves_it(maya: Engram, kite: str, answer: bytes) -> None:
    done = maya("forget", "--everything", stdin=answer)
    assert (done.code, done.out) == (1, "")
    assert "nothing was forgotten" in done.err
    assert left(maya) == 1


def test_nobody_to_ask(maya: Engram, kite: str) -> None:
    done = maya("forget", "--fact", kite, "--json")
    assert (done.code, done.error["code"]) == (2, "input")
    assert "--yes" in done.error["hint"]
    assert left(maya) == 1


@pytest.mark.parametrize(
    "target", [("--fact", ""), ("--message", "m1"), ("--entity", "the Kite"), ("--everything",)]
)
def test_yes_does_not_ask(maya: Engram, kite: str, target: tuple[str, ...]) -> None:
    target = tuple(word or kite for word in target)
    counted = maya("forget", *target, "--dry-run", "--json")
    assert counted.json["dry_run"] is True
    assert left(maya) == 1
    gone = maya("forget", *target, "--yes", "--json")
    assert (gone.code, gone.err) == (0, "")
    assert gone.json == counted.json | {"dry_run": False}
    assert left(maya) == 0


def test_a_dry_run_for_people(maya: Engram, kite: str) -> None:
    done = maya("forget", "--fact", kite, "--dry-run")
    assert done.out.startswith("would forget 1 fact, 1 message")
    assert done.err == "Nothing was forgotten: without --dry-run it is.\n"


@pytest.mark.parametrize(
    "target", [(), ("--fact", "f", "--everything"), ("--message", "m", "--entity", "e")]
)
def test_exactly_one_thing(engram: Engram, target: tuple[str, ...]) -> None:
    done = engram("-n", "n", "forget", *target, "--yes", "--json")
    assert (done.code, done.error["code"]) == (2, "input")
    assert "--entity" in done.error["hint"]


@pytest.mark.parametrize("target", ["--fact", "--message", "--entity"])
def test_what_is_not_there(maya: Engram, target: str) -> None:
    done = maya("forget", target, "Nothing", "--json")
    assert (done.code, done.error["code"]) == (1, "not_found")
    assert "'Nothing'" in done.error["message"]
    assert ("`entities`" if target == "--entity" else "`engram facts ") in done.error["hint"]


def test_without_a_namespace(engram: Engram) -> None:
    done = engram("forget", "--everything", "--yes", "--json")
    assert (done.code, done.error["code"]) == (2, "scope")

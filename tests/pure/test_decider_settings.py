"""Which decider the settings make, and who is asked when it is unsure."""

from __future__ import annotations

from typing import Any

import pytest

from engram_graph.adapters.cooldown import Cooldown
from engram_graph.errors import ConfigurationError
from engram_graph.settings import Settings
from engram_graph.wiring import make_decider, make_escalation, make_purse

JEV = {"typesafe_api_key": "ts-secret"}
LLM = {"openai_api_key": "sk-secret"}
PRICED = {"llm_usd_per_million_input": 1.0, "llm_usd_per_million_output": 2.0}


def name(**values: Any) -> str:
    return make_decider(Settings.load(**values)).name


@pytest.mark.parametrize(
    ("values", "made"),
    [
        ({}, "rules"), (LLM, "rules"), (JEV, "jev"), (JEV | LLM, "jev"),
        ({"decider": "rules"} | JEV, "rules"), ({"decider": "jev"} | JEV, "jev"),
        ({"decider": "llm"} | LLM, "llm"),
        ({"decider": "llm", "openai_base_url": "http://127.0.0.1:9/v1"}, "llm"),
        ({"decider": "rules>jev>llm"} | JEV | LLM, "rules>jev>llm"),
        ({"decider": " JEV > llm "} | JEV | LLM, "jev>llm"),
    ],
)  # fmt: skip
def test_the_decider_of_the_settings(values: dict[str, Any], made: str) -> None:
    assert name(**values) == made


@pytest.mark.parametrize(
    "decider",
    ["", ">", "jev>", "oracle", "auto>jev", "rules>rules", "rules,jev", "jev>rules>oracle"],
)
def test_an_unknown_decider_is_refused(decider: str) -> None:
    with pytest.raises(ConfigurationError, match="decider"):
        Settings.load(decider=decider)


def test_a_ladder_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAM_DECIDER", "rules>jev")
    monkeypatch.setenv("TYPESAFE_API_KEY", "ts-secret")
    assert make_decider(Settings.load()).name == "rules>jev"
    monkeypatch.setenv("ENGRAM_DECIDER", "")
    assert make_decider(Settings.load()).name == "jev"


@pytest.mark.parametrize(
    ("decider", "missing"),
    [("jev", "TYPESAFE_API_KEY"), ("rules>jev", "TYPESAFE_API_KEY"), ("llm", "OPENAI_API_KEY"),
     ("rules>llm", "OPENAI_API_KEY")],
)  # fmt: skip
def test_a_missing_key_is_named(decider: str, missing: str) -> None:
    with pytest.raises(ConfigurationError, match=missing):
        name(decider=decider)


@pytest.mark.parametrize(
    ("values", "asked"),
    [
        ({}, None), (LLM, None), (JEV, None), (JEV | LLM, "llm"),
        ({"escalation": "none"} | JEV | LLM, None),
        ({"escalation": "llm"} | LLM, "llm"),
        ({"decider": "rules>jev"} | JEV | LLM, "llm"),
        ({"decider": "rules>jev>llm"} | JEV | LLM, None),  # it would only ask itself again
        ({"decider": "llm"} | LLM, None),
        ({"decider": "rules"} | JEV | LLM, None),
    ],
)  # fmt: skip
def test_who_is_asked_when_the_decider_is_unsure(values: dict[str, Any], asked: str | None) -> None:
    made = make_escalation(Settings.load(**values))
    assert (made.name if made else None) == asked


def test_escalation_needs_a_key_when_it_is_wanted() -> None:
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        make_escalation(Settings.load(escalation="llm"))
    with pytest.raises(ConfigurationError, match="escalation"):
        Settings.load(escalation="jev")


def test_deciders_over_a_network_rest_when_they_are_away() -> None:
    assert isinstance(make_decider(Settings.load(**JEV)), Cooldown)
    assert isinstance(make_decider(Settings.load(decider="llm", **LLM)), Cooldown)
    assert not isinstance(make_decider(Settings.load()), Cooldown)


@pytest.mark.parametrize(
    ("values", "model"),
    [({}, "gpt-4o-mini"), ({"llm_model": "big"}, "big"),
     ({"llm_model": "big", "decider_model": "small"}, "small"),
     ({"llm_model": "big", "decider_model": " "}, "big")],
)  # fmt: skip
def test_the_model_that_decides(values: dict[str, Any], model: str) -> None:
    made = make_decider(Settings.load(decider="llm", **LLM, **values))
    assert isinstance(made, Cooldown)
    assert made.model == model


@pytest.mark.parametrize(
    "values",
    [
        {"jev_rate": 0}, {"jev_rate": "inf"}, {"decider_budget_usd": -1},
        {"decider_budget_usd": "nan"}, {"llm_usd_per_million_input": -1},
        {"llm_usd_per_million_output": "inf"},
    ],
)  # fmt: skip
def test_numbers_that_cannot_be_used_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(values))):
        Settings.load(**values)


def test_a_cap_is_one_for_all_and_needs_prices() -> None:
    capped = {"decider": "jev>llm", "decider_budget_usd": 2.0} | JEV | LLM
    assert make_purse(Settings.load(**capped)).cap_usd == 2.0
    with pytest.raises(ConfigurationError, match="prices"):
        name(**capped)
    assert name(**capped, **PRICED) == "jev>llm"

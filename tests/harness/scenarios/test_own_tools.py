"""Scenarios for agents with tools of their own need nothing else."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from harness.cassette.load import build_cassette
from harness.cassette.needs import features_of, function_calls
from harness.scenarios.between import left_out, profile_between
from harness.scenarios.chooser import Chooser
from harness.scenarios.grammar.own_tools import own_scenario
from harness.scenarios.profiles import PROFILES
from tests.runtimes.third_party import forgotten, install

__all__ = ["forgotten"]

TEXT = {"type": "string"}
ORDER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "item": TEXT,
        "count": {"type": "integer"},
        "size": {"enum": ["s", "l"]},
        "gift": {"type": "boolean"},
        "notes": {"type": "array", "items": TEXT},
        "to": {"type": "OBJECT", "properties": {"town": TEXT}},
    },
    "required": ["item", "count", "size", "gift", "notes", "to"],
}
TOOLS = {"order": ORDER, "stock": {}}
TWO = """
from parity.adapters import agent_runtime
async def say(text):
    yield text
one = agent_runtime(lambda: say, tools={"order": {"a": 1}, "stock": {}})
two = agent_runtime(lambda: say, tools={"order": {}, "mail": {}})
"""


def drawn(count: int, tools: Any = TOOLS, weights: Any = None) -> list[Any]:
    rng = random.Random(3)
    documents = (
        own_scenario(Chooser(rng.randint, weights), "generated/x", tools) for _ in range(count)
    )
    return [build_cassette(each, Path("generated/x.yaml").absolute()) for each in documents]


def test_they_are_cassettes_that_need_no_feature_but_reset() -> None:
    found = drawn(150)

    assert {feature for each in found for feature in features_of(each.document)} == {"reset"}
    actions = Counter(key for each in found for action in each.document["script"] for key in action)
    assert actions.keys() == {"send", "reset"}
    assert any(each.document.get("during") for each in found)


def test_a_feature_that_an_agent_lacks_is_not_drawn() -> None:
    weights = PROFILES["everything"].without({"reset"}).weights

    found = drawn(150, weights=weights)

    assert {feature for each in found for feature in features_of(each.document)} == set()


def test_arguments_are_as_the_schema_says() -> None:
    calls = [call for each in drawn(150) for call in function_calls(each.document["model"])]
    whole = [call["args"] for call in calls if call["name"] == "order" and len(call["args"]) == 6]

    assert {call["name"] for call in calls} >= {"order", "stock", "no_such_tool"}
    assert {args["size"] for args in whole} == {"s", "l"}
    assert all(isinstance(args["count"], int) for args in whole)
    assert all(isinstance(args["gift"], bool) for args in whole)
    assert all(isinstance(args["to"]["town"], str) for args in whole)
    assert any(args["notes"] for args in whole)
    assert any(call["name"] == "order" and len(call["args"]) == 5 for call in calls)


def test_an_agent_without_tools_gets_no_call_of_one() -> None:
    names = {
        call["name"]
        for each in drawn(80, tools={})
        for call in function_calls(each.document["model"])
    }

    # Some failures of the model are answers that break off in a call.
    assert names <= {"read_file", "list_directory", "write_file"}


def test_two_agents_get_the_tools_that_both_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = install(tmp_path, TWO, entry="one = mine_rt:one\ntwo = mine_rt:two")
    monkeypatch.syspath_prepend(folder)

    both = profile_between("everything", "one", "two")
    alone = profile_between("everything", "one", "one")

    assert both.tools == {"order": {"a": 1}}
    assert alone.tools == {"order": {"a": 1}, "stock": {}}
    assert len({both.digest, alone.digest, PROFILES["everything"].digest}) == 3
    assert profile_between("everything", "legacy", "adk").tools is None
    assert left_out("everything", "one", "two") == {}

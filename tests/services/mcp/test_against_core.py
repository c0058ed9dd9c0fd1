"""Names, environments and the shapes of answers, held against the published core's own results.

`vectors.json` was written by the core 0.61.0 and its SDK.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from services.mcp import results
from services.mcp.environment import expand_variables, sanitized, server_environment
from services.mcp.names import parse_mcp_tool_name, valid_mcp_name
from services.mcp.results import ShapeError, checked
from services.wire import js_json

VECTORS: dict[str, Any] = json.loads((Path(__file__).parent / "vectors.json").read_text("utf-8"))


@pytest.mark.parametrize(("shape", "value", "fits", "expected"), VECTORS["shapes"])
def test_answers_are_taken_or_refused_in_the_words_of_the_sdk(
    shape: str, value: Any, fits: bool, expected: Any
) -> None:
    if fits:
        assert js_json(checked(getattr(results, shape), value)) == js_json(expected)
        return
    with pytest.raises(ShapeError) as refused:
        checked(getattr(results, shape), value)
    assert str(refused.value) == json.dumps(expected, indent=2, ensure_ascii=False)


@pytest.mark.parametrize(("name", "expected"), VECTORS["names"])
def test_names_become_valid(name: str, expected: str) -> None:
    assert valid_mcp_name(name) == expected


@pytest.mark.parametrize(("text", "expected"), VECTORS["expand"]["cases"])
def test_variables_are_expanded(text: str, expected: str) -> None:
    assert expand_variables(text, VECTORS["expand"]["variables"]) == expected


@pytest.mark.parametrize(("case", "expected"), VECTORS["sanitized"])
def test_secrets_are_taken_out(case: dict[str, Any], expected: list[str]) -> None:
    kept = sanitized(case["env"], allowed=case["allowed"], blocked=case["blocked"])
    assert sorted(kept) == expected


def test_variables_that_produce_each_other_come_to_an_end() -> None:
    assert "a" in expand_variables("x$E", {"E": "a$E"})


def test_a_server_never_gets_variables_that_run_code() -> None:
    environment = server_environment(
        {"PATH": "/bin", "HOME": "/h", "MY_TOKEN": "t", "USER": "() { :; }"},
        {"MY_TOKEN": "own", "ld_preload": "x", "NODE_OPTIONS": "-r x", "P": "$PATH:$MY_TOKEN"},
    )
    assert environment == {
        "GEMINI_CLI": "1",
        "HOME": "/h",
        "PATH": "/bin",
        "USER": "() { :; }",
        "MY_TOKEN": "own",
        "P": "/bin:",
    }


def test_names_are_parsed_up_to_the_first_underscore() -> None:
    assert parse_mcp_tool_name("mcp_my_server_tool") == ("my", "server_tool")
    assert parse_mcp_tool_name("mcp__tool") is None
    assert parse_mcp_tool_name("read_file") is None

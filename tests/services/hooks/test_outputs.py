from __future__ import annotations

from typing import Any

import pytest

from services.hooks.outputs import parse_output

ALLOWED = {"decision": "allow"}


@pytest.mark.parametrize(
    ("stdout", "stderr", "exit_code", "output"),
    [
        ('{"decision":"deny"}', "", 0, {"decision": "deny"}),
        ('{"decision":"allow"}', "loud", 2, {"decision": "allow"}),
        (" \n", '{"decision":"deny"}', 0, {"decision": "deny"}),
        ('"{\\"decision\\":\\"deny\\"}"', "", 0, {"decision": "deny"}),
        ('{"decision":"deny","decision":"allow"}', "", 0, {"decision": "allow"}),
        ('\ufeff{"decision":"deny"}', "", 0, {"decision": "deny"}),
        ("[1]", "", 2, {}),
        ("5", "", 2, None),
        ("null", "", 2, None),
        ('"\\"text\\""', "", 2, None),
        ("", "", 2, None),
        ("\u00a0\n", "", 2, None),
        (" just text \n", "", 0, {**ALLOWED, "systemMessage": "just text"}),
        ("", "careful\n", 1, {**ALLOWED, "systemMessage": "Warning: careful"}),
        ("", "no", 2, {"decision": "deny", "reason": "no"}),
        ("no", "", 127, {"decision": "deny", "reason": "no"}),
        ("killed", "", None, {**ALLOWED, "systemMessage": "killed"}),
        ('"no object"', "", 2, {"decision": "deny", "reason": '"no object"'}),
        ('{"a":NaN}', "", 0, {**ALLOWED, "systemMessage": '{"a":NaN}'}),
        ("-Infinity", "", 0, {**ALLOWED, "systemMessage": "-Infinity"}),
        ('{"a":1', "", 3, {"decision": "deny", "reason": '{"a":1'}),
        ("[" * 100_000, "", 0, {**ALLOWED, "systemMessage": "[" * 100_000}),
    ],
)
def test_the_output_for_what_a_hook_printed(
    stdout: str, stderr: str, exit_code: int | None, output: Any
) -> None:
    assert parse_output(stdout, stderr, exit_code) == output

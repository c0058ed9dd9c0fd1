from __future__ import annotations

from typing import Any

import pytest

from services.hooks.aggregation import merge_outputs
from services.hooks.events import HookEvent
from services.hooks.results import HookOutput
from services.hooks.values import HookOutputError


def merged(event: HookEvent, *outputs: dict[str, Any]) -> HookOutput:
    fields = merge_outputs(outputs, event)
    assert fields is not None
    return HookOutput(event, fields)


def facts(output: HookOutput) -> tuple[Any, ...]:
    return (output.stops, output.blocks, output.asks, output.reason, output.system_message)


def specific(**fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": fields}


# As HookAggregator of the published core merges them.
@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        ([{}], (False, False, False, "No reason provided", None)),
        (
            [{"decision": "allow"}, {"decision": "block", "reason": "second"}],
            (False, True, False, "second", None),
        ),
        (
            [{"decision": "deny", "reason": "a"}, {"decision": "ask", "reason": "b"}],
            (False, True, False, "a\nb", None),
        ),
        (
            [{"decision": "ask"}, {"decision": "allow"}],
            (False, False, True, "No reason provided", None),
        ),
        (
            [{"continue": False, "stopReason": "s1"}, {"stopReason": "unused", "reason": "r"}],
            (True, False, False, "s1", None),
        ),
        (
            [{"systemMessage": "one"}, {"systemMessage": "two", "decision": "approve"}],
            (False, False, False, "No reason provided", "one\ntwo"),
        ),
        (
            [{"continue": 0, "decision": ["deny"], "reason": {}}],
            (False, False, False, "[object Object]", None),
        ),
        (
            [{"decision": "deny", "reason": ["b", 2, None]}, {"reason": 1.5}],
            (False, True, False, "b,2,\n1.5", None),
        ),
    ],
)
def test_any_hook_may_stop_block_or_ask(
    outputs: list[dict[str, Any]], expected: tuple[Any, ...]
) -> None:
    assert facts(merged(HookEvent.BEFORE_TOOL, *outputs)) == expected


@pytest.mark.parametrize(
    ("number", "text"),
    [(12345678901234567890.0, "12345678901234567000"), (1e22, "1e+22"), (2.0, "2"), (-0.5, "-0.5")],
)
def test_a_number_for_a_reason_reads_as_javascript_writes_it(number: float, text: str) -> None:
    assert merged(HookEvent.BEFORE_TOOL, {"reason": number}).reason == text


@pytest.mark.contract("P-130", "P-139")
def test_contexts_are_joined_and_their_brackets_escaped() -> None:
    output = merged(
        HookEvent.AFTER_TOOL,
        specific(additionalContext="one <b>"),
        specific(additionalContext=5),
        specific(additionalContext="two"),
    )

    assert output.additional_context == "one &lt;b&gt;\ntwo"


def test_a_context_that_is_no_text_is_none() -> None:
    assert merged(HookEvent.AFTER_TOOL, specific(additionalContext=5)).additional_context is None


def test_the_last_of_two_tool_inputs_counts() -> None:
    output = merged(
        HookEvent.BEFORE_TOOL, specific(tool_input={"a": 1}), specific(tool_input={"b": 2})
    )

    assert output.tool_input == {"b": 2}
    assert merged(HookEvent.BEFORE_TOOL, specific(tool_input=[1])).tool_input is None
    assert merged(HookEvent.AFTER_TOOL, specific(tool_input={"b": 2})).tool_input is None


def test_one_clear_context_is_enough_and_counts_after_an_agent_only() -> None:
    outputs = (specific(clearContext=True), specific(clearContext=False))

    assert merged(HookEvent.AFTER_AGENT, *outputs).clears_context
    assert not merged(HookEvent.BEFORE_AGENT, *outputs).clears_context
    assert not merged(HookEvent.AFTER_AGENT, specific(clearContext="yes")).clears_context


def test_a_tail_call_must_be_an_object() -> None:
    call = {"name": "x", "args": {}}

    assert merged(HookEvent.AFTER_TOOL, specific(tailToolCallRequest=call)).tail_tool_call == call
    assert merged(HookEvent.AFTER_TOOL, specific(tailToolCallRequest="x")).tail_tool_call is None


def test_suppress_output_is_true_if_any_says_so() -> None:
    assert merged(HookEvent.AFTER_TOOL, {"suppressOutput": {}}, {}).suppress_output
    assert not merged(HookEvent.AFTER_TOOL, {"suppressOutput": 0}).suppress_output


@pytest.mark.parametrize("event", [HookEvent.BEFORE_MODEL, HookEvent.AFTER_MODEL])
def test_around_the_model_a_later_field_replaces_an_earlier(event: HookEvent) -> None:
    output = merged(
        event,
        {"decision": "deny", "reason": "no", "hookSpecificOutput": {"a": 1, "b": 1}},
        {"decision": "allow", "hookSpecificOutput": {"b": 2}},
    )

    assert not output.blocks
    assert (output.reason, output.specific("a"), output.specific("b")) == ("no", 1, 2)


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        ([{"mode": "ANY", "allowedFunctionNames": ["b", "a"]}], ("ANY", ["a", "b"])),
        (
            [{"mode": "ANY", "allowedFunctionNames": ["z", "\uffee", "💥"]}, {"mode": "AUTO"}],
            ("ANY", ["z", "💥", "\uffee"]),
        ),
        ([{"mode": "ANY", "allowedFunctionNames": ["a"]}, {"mode": "NONE"}], ("NONE", [])),
        (
            [{"allowedFunctionNames": ["a"]}, {"allowedFunctionNames": ["a", "b"]}],
            ("AUTO", ["a", "b"]),
        ),
        ([None], ("AUTO", [])),
    ],
)
def test_tool_choices_add_up(choices: list[Any], expected: tuple[str, list[str]]) -> None:
    output = merged(
        HookEvent.BEFORE_TOOL_SELECTION,
        *({"continue": False, **specific(toolConfig=choice)} for choice in choices),
    )

    choice = output.specific("toolConfig")
    assert (choice["mode"], choice["allowedFunctionNames"]) == expected
    assert not output.stops


def test_other_events_merge_simply() -> None:
    output = merged(HookEvent.PRE_COMPRESS, {"reason": "a", "continue": False}, {"reason": "b"})

    assert (output.reason, output.stops) == ("b", True)


def test_no_output_at_all_is_none() -> None:
    assert merge_outputs([], HookEvent.BEFORE_TOOL) is None


@pytest.mark.parametrize(
    ("event", "output"),
    [
        (HookEvent.BEFORE_TOOL, {"hookSpecificOutput": "text"}),
        (HookEvent.AFTER_AGENT, {"hookSpecificOutput": 5}),
        (HookEvent.BEFORE_TOOL_SELECTION, specific(toolConfig={"allowedFunctionNames": 5})),
    ],
)
def test_a_value_that_javascript_cannot_read_is_an_error(
    event: HookEvent, output: dict[str, Any]
) -> None:
    with pytest.raises(HookOutputError):
        merge_outputs([output], event)

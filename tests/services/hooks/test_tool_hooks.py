from __future__ import annotations

from typing import Any, cast

import pytest

from services.hooks.events import HookEvent
from services.hooks.results import HookOutput
from services.hooks.tool_hooks import (
    result_after_hooks,
    verdict_before_call,
    with_modified_notice,
)
from services.tools.contract import (
    InvalidToolParams,
    LlmContent,
    Tool,
    ToolErrorType,
    ToolFailure,
    ToolResult,
)


class OneArgument:
    """A tool that takes an argument `a`, and nothing without it."""

    def build(self, params: dict[str, Any]) -> Any:
        if "a" not in params:
            raise InvalidToolParams("params must have required property 'a'")
        return ("built from", params)


TOOL = cast("Tool", OneArgument())


def before(**fields: Any) -> HookOutput:
    return HookOutput(HookEvent.BEFORE_TOOL, fields)


def after(**fields: Any) -> HookOutput:
    return HookOutput(HookEvent.AFTER_TOOL, fields)


@pytest.mark.parametrize(
    ("output", "type", "message"),
    [
        (
            before(**{"continue": False}, decision="deny", stopReason="s"),
            ToolErrorType.STOP_EXECUTION,
            "Agent execution stopped by hook: s",
        ),
        (
            before(decision="block", reason="no"),
            ToolErrorType.POLICY_VIOLATION,
            "Tool execution blocked: no",
        ),
        (
            before(decision="ask", hookSpecificOutput={"tool_input": {"b": 1}}),
            ToolErrorType.INVALID_TOOL_PARAMS,
            (
                "Tool parameter modification by hook failed validation: "
                "params must have required property 'a'"
            ),
        ),
    ],
)
def test_a_call_may_be_refused(output: HookOutput, type: ToolErrorType, message: str) -> None:
    assert verdict_before_call(output, TOOL).error == ToolFailure(message=message, type=type)


def test_a_call_may_be_asked_about_with_other_arguments() -> None:
    output = before(
        decision="ask", systemMessage="sure?", hookSpecificOutput={"tool_input": {"a": 1}}
    )

    verdict = verdict_before_call(output, TOOL)

    assert (verdict.error, verdict.asks, verdict.system_message) == (None, True, "sure?")
    built: Any = verdict.invocation
    assert (verdict.args, built) == ({"a": 1}, ("built from", {"a": 1}))


@pytest.mark.parametrize("output", [None, before(decision="allow", systemMessage="fine")])
def test_an_allowed_call_goes_its_way(output: HookOutput | None) -> None:
    verdict = verdict_before_call(output, TOOL)

    assert (verdict.error, verdict.asks, verdict.system_message) == (None, False, None)
    assert (verdict.args, verdict.invocation) == (None, None)


@pytest.mark.parametrize(
    ("output", "type", "content"),
    [
        (
            after(**{"continue": False}, decision="deny", reason="r"),
            ToolErrorType.STOP_EXECUTION,
            "Agent execution stopped by hook: r",
        ),
        (
            after(decision="deny", reason="r"),
            ToolErrorType.EXECUTION_FAILED,
            "Tool result blocked: r",
        ),
    ],
)
def test_a_result_may_be_replaced_by_an_error(
    output: HookOutput, type: ToolErrorType, content: str
) -> None:
    assert result_after_hooks(ToolResult(llm_content="x"), output) == ToolResult(
        llm_content=content, return_display=content, error=ToolFailure(message="r", type=type)
    )


CONTEXT = "\n\n<hook_context>c</hook_context>"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("x", f"x{CONTEXT}"),
        ("", CONTEXT),
        ([{"text": "x"}], [{"text": "x"}, {"text": CONTEXT}]),
        ({"text": "x"}, [{"text": "x"}, {"text": CONTEXT}]),
    ],
)
def test_a_context_is_added_to_the_content_for_the_model(
    content: LlmContent, expected: LlmContent
) -> None:
    result = ToolResult(llm_content=content, return_display="d")

    changed = result_after_hooks(result, after(hookSpecificOutput={"additionalContext": "c"}))

    assert (changed.llm_content, changed.return_display) == (expected, "d")
    assert result.llm_content is content


@pytest.mark.parametrize("said", [{}, {"additionalContext": ""}, {"tailToolCallRequest": {}}])
def test_a_result_without_a_context_is_the_same(said: dict[str, Any]) -> None:
    result = ToolResult(llm_content="x")

    assert result_after_hooks(result, after(hookSpecificOutput=said)) is result
    assert result_after_hooks(result, None) is result


def test_changed_arguments_add_a_notice() -> None:
    assert with_modified_notice(ToolResult(llm_content="x")).llm_content == (
        "x\n\n[System] Tool input parameters were modified by a hook before execution."
    )

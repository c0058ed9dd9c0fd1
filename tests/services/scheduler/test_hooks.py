"""Calls under real hook scripts: what BeforeTool, Notification and AfterTool change."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from services.policy.patterns import compile_pattern
from services.scheduler.calls import CallStatus, CompletedToolCall
from services.settings import settings_from_parameters
from services.tools.contract import (
    ConfirmationOutcome,
    ToolErrorType,
    ToolExecution,
    ToolFailure,
    ToolResult,
)
from tests.services.hooks.stand_ins import Session
from tests.services.scheduler.conftest import (
    Rig,
    ScriptedInvocation,
    ScriptedTool,
    ServersTool,
    ask_info,
)
from tests.services.scheduler.delegating import DelegatingTool

OpenRig = Callable[..., Rig]

SERVER = {"command": "serve", "args": ["-x"], "env": {"KEY": "secret"}, "httpUrl": "http://h"}


@pytest.fixture
def hooked(tmp_path: Path) -> OpenRig:
    """A rig under hooks: `hooked(BeforeTool=output, …)`; inputs go to the file `EVENT-TOOL`."""

    def opened(*, interactive: bool = True, **outputs: Any) -> Rig:
        def entry(event: str, output: Any) -> dict[str, Any]:
            only = output.pop("matcher", None) if isinstance(output, dict) else None
            command = f"cat >> {event}; printf %s '{json.dumps(output)}'"
            hook = {"type": "command", "command": command, "name": "hook"}
            return {"hooks": [hook], **({"matcher": only} if only else {})}

        hooks = {event: [entry(event, dict(said))] for event, said in outputs.items()}
        session = Session(tmp_path, {"hooks": hooks})
        return Rig(
            session.root,
            interactive=interactive,
            hooks=session.hooks,
            settings=settings_from_parameters({"mcpServers": {"srv": SERVER}}),
        )

    return opened


def given(tmp_path: Path, event: str) -> list[dict[str, Any]]:
    """The inputs that hooks of `event` were given, in turn."""
    text, found = (tmp_path / "work" / event).read_text(encoding="utf-8"), []
    while text:
        value, end = json.JSONDecoder().raw_decode(text)
        found.append(value)
        text = text[end:].lstrip()
    return found


def specific(**fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": fields}


def response_of(call: CompletedToolCall) -> Any:
    return call.response.response_parts[0]["functionResponse"]["response"]


@pytest.mark.parametrize(
    ("said", "message", "kind"),
    [
        (
            {"continue": False, "stopReason": "enough"},
            "Agent execution stopped by hook: enough",
            ToolErrorType.STOP_EXECUTION,
        ),
        (
            {"decision": "deny", "reason": "no"},
            "Tool execution blocked: no",
            ToolErrorType.POLICY_VIOLATION,
        ),
    ],
)
async def test_a_hooks_refusal_comes_before_the_policy(
    hooked: OpenRig, said: dict[str, Any], message: str, kind: ToolErrorType
) -> None:
    rig = hooked(BeforeTool=said)
    tool = rig.tool("t")
    rig.rule("t", "deny")

    [call] = await rig.run(rig.request("t"))

    assert (response_of(call), call.response.error_type) == ({"error": message}, kind)
    assert rig.states("t") == "validating > error"
    assert tool.ran == []


async def test_a_hook_cannot_overrule_a_denial_by_the_policy(hooked: OpenRig) -> None:
    rig = hooked(BeforeTool={"decision": "allow"})
    rig.tool("t")
    rig.rule("t", "deny")

    [call] = await rig.run(rig.request("t"))

    assert response_of(call) == {"error": "Tool execution denied by policy."}


async def test_a_hooks_arguments_are_run_and_the_response_says_so(hooked: OpenRig) -> None:
    rig = hooked(BeforeTool=specific(tool_input={"b": 2}), AfterTool=specific(additionalContext=""))
    tool = rig.tool("t")

    [call] = await rig.run(rig.request("t", a=1))

    notice = "[System] Tool input parameters were modified by a hook before execution."
    assert response_of(call) == {"output": f"done\n\n{notice}"}
    assert tool.ran == [{"b": 2}]
    assert call.request.args == {"b": 2}
    assert call.request.display is not None
    assert call.request.display.description == "t {'a': 1}"


@pytest.mark.contract("P-136")
async def test_policy_judges_a_hooks_arguments(hooked: OpenRig) -> None:
    rig = hooked(BeforeTool=specific(tool_input={"path": "secret"}))
    tool = rig.tool("t")
    rig.rule("t", "deny", args_pattern=compile_pattern("secret"))

    [call] = await rig.run(rig.request("t", path="open"))

    assert call.response.error_type is ToolErrorType.POLICY_VIOLATION
    assert tool.ran == []


async def test_arguments_that_the_tool_refuses_end_the_call(hooked: OpenRig) -> None:
    rig = hooked(BeforeTool=specific(tool_input={"b": 2}))

    class Picky(ScriptedTool):
        def build(self, params: Any) -> ScriptedInvocation:
            self.refuses = "no b" if "b" in params else ""
            return super().build(params)

    rig.tool("t", Picky)

    [call] = await rig.run(rig.request("t"))

    assert response_of(call) == {
        "error": "Tool parameter modification by hook failed validation: no b",
    }
    assert call.response.error_type is ToolErrorType.INVALID_TOOL_PARAMS


@pytest.mark.parametrize("decision", ["allow", "deny", "ask_user"])
async def test_a_hook_that_asks_overrules_policy(hooked: OpenRig, decision: str) -> None:
    rig = hooked(BeforeTool={"decision": "ask", "systemMessage": "look"})
    tool = rig.tool("t")
    rig.rule("t", decision)
    rig.answer("proceed_once")

    [call] = await rig.run(rig.request("t"))

    assert call.status is CallStatus.SUCCESS
    assert tool.ran == [{}]
    [question] = rig.questions
    assert question.confirmation_details.fields == {"prompt": "{}", "systemMessage": "look"}


@pytest.mark.parametrize(("decision", "questions"), [("allow", 0), ("ask_user", 1)])
async def test_a_hooks_question_about_a_delegated_call_goes_to_the_policy(
    hooked: OpenRig, decision: str, questions: int
) -> None:
    rig = hooked(BeforeTool={"decision": "ask"})
    rig.tool("outer", DelegatingTool)
    rig.rule("inner", decision)
    rig.answer("proceed_once")

    [call] = await rig.run(rig.request("outer", prompt="go"))

    assert call.status is CallStatus.SUCCESS
    assert len(rig.questions) == questions


async def test_hooks_get_each_question_before_it_is_published(
    hooked: OpenRig, tmp_path: Path
) -> None:
    rig = hooked(Notification={})
    rig.tool("t")
    rig.rule("t", "ask_user")
    rig.answer("modify_with_editor", "cancel")
    heard: list[int] = []
    path = tmp_path / "work" / "Notification"

    def details(params: Any) -> Any:
        heard.append(len(given(tmp_path, "Notification")) if path.exists() else 0)
        return ask_info(params)

    rig.tool("t", details=details)

    await rig.run(rig.request("t"))

    assert heard == [0, 1]
    inputs = given(tmp_path, "Notification")
    assert [each["notification_type"] for each in inputs] == ["ToolPermission"] * 2
    assert inputs[0]["details"] == {"type": "info", "title": "Confirm", "prompt": "{}"}


@pytest.mark.parametrize(
    ("said", "answer", "kind"),
    [
        ({"continue": False, "stopReason": "r"}, {"error": "r"}, ToolErrorType.STOP_EXECUTION),
        ({"decision": "block", "reason": "r"}, {"error": "r"}, ToolErrorType.EXECUTION_FAILED),
        (
            specific(additionalContext="more"),
            {"output": "done\n\n<hook_context>more</hook_context>"},
            None,
        ),
    ],
)
async def test_a_hook_may_replace_or_add_to_a_result(
    hooked: OpenRig, said: dict[str, Any], answer: Any, kind: ToolErrorType | None
) -> None:
    rig = hooked(AfterTool=said)
    rig.tool("t")

    [call] = await rig.run(rig.request("t"))

    assert (response_of(call), call.response.error_type) == (answer, kind)


async def test_hooks_get_failed_and_stopped_results_but_no_exceptions(
    hooked: OpenRig, tmp_path: Path
) -> None:
    rig = hooked(AfterTool=specific(additionalContext="more"))

    async def fail(_params: object, _execution: ToolExecution) -> ToolResult:
        failure = ToolFailure(message="bad", type=ToolErrorType.EXECUTION_FAILED)
        return ToolResult(llm_content="f", error=failure)

    async def break_down(_params: object, _execution: ToolExecution) -> ToolResult:
        raise ValueError("broken")

    async def stop(_params: object, _execution: ToolExecution) -> ToolResult:
        rig.controller.abort()
        return ToolResult(llm_content="half")

    calls: list[CompletedToolCall] = []
    for name, body in (("fails", fail), ("breaks", break_down), ("stops", stop)):
        rig.tool(name, body=body)
        calls += await rig.run(rig.request(name))

    assert [each["tool_name"] for each in given(tmp_path, "AfterTool")] == ["fails", "stops"]
    assert calls[-1].status is CallStatus.CANCELLED
    assert response_of(calls[-1]) == {
        "output": "half\n\n<hook_context>more</hook_context>",
        "error": "[Operation Cancelled] User cancelled tool execution.",
    }


async def test_a_tail_call_answers_for_the_first_one(hooked: OpenRig, tmp_path: Path) -> None:
    tail = specific(tailToolCallRequest={"name": "second", "args": {"b": 2}})
    rig = hooked(AfterTool={"matcher": "first", **tail}, BeforeTool={})
    first, second = rig.tool("first"), rig.tool("second")
    rig.tool("last")

    calls = await rig.run(
        rig.request("first", "id", a=1), rig.request("last", wait_for_previous=True)
    )

    assert [call.request.name for call in calls] == ["second", "last"]
    assert (first.ran, second.ran) == ([{"a": 1}], [{"b": 2}])
    request = calls[0].request
    assert (request.call_id, request.args) == ("id", {"b": 2})
    assert (request.original_request_name, request.original_request_args) == ("first", {"a": 1})
    assert calls[0].response.response_parts[0]["functionResponse"]["name"] == "first"
    before = given(tmp_path, "BeforeTool")
    assert [each.get("original_request_name") for each in before] == [None, "first", None]
    assert rig.states("id") == (
        "validating > scheduled > executing > validating > scheduled > executing > success"
    )


@pytest.mark.parametrize(
    ("tail", "message"),
    [
        ({"name": "none", "args": {}}, 'Tool "none" not found. Did you mean "first"?'),
        ({"args": {}}, 'Tool "undefined" not found. Did you mean "first"?'),
    ],
)
async def test_a_tail_call_of_an_unknown_tool_is_an_error_of_the_first(
    hooked: OpenRig, tail: dict[str, Any], message: str
) -> None:
    rig = hooked(AfterTool=specific(tailToolCallRequest=tail))
    rig.tool("first")

    [call] = await rig.run(rig.request("first"))

    assert response_of(call) == {"error": message}
    assert call.response.error_type is ToolErrorType.TOOL_NOT_REGISTERED
    assert call.request.shown_name == "first"


@pytest.mark.parametrize(
    ("refusal", "answer"),
    [("no object", {"error": "no object"}), ("", {"output": "done"})],
)
async def test_the_tool_decides_about_a_tail_call_without_arguments(
    hooked: OpenRig, refusal: str, answer: dict[str, str]
) -> None:
    tail = specific(tailToolCallRequest={"name": "second"})
    rig = hooked(AfterTool={"matcher": "first", **tail})
    rig.tool("first")
    second = rig.tool("second", refuses=refusal)

    [call] = await rig.run(rig.request("first"))

    assert response_of(call) == answer
    assert second.ran == ([] if refusal else [None])


@pytest.mark.parametrize("verdict", [{"continue": False}, {"decision": "block"}])
async def test_no_tail_call_where_the_hook_stops_or_blocks(
    hooked: OpenRig, verdict: dict[str, Any]
) -> None:
    tail = specific(tailToolCallRequest={"name": "second", "args": {}})
    rig = hooked(AfterTool={**tail, **verdict})
    rig.tool("first")
    second = rig.tool("second")

    [call] = await rig.run(rig.request("first"))

    assert (call.status, second.ran) == (CallStatus.ERROR, [])


async def test_no_tail_call_after_an_abort(hooked: OpenRig) -> None:
    rig = hooked(AfterTool=specific(tailToolCallRequest={"name": "second", "args": {}}))

    async def stop(_params: object, _execution: ToolExecution) -> ToolResult:
        rig.controller.abort()
        return ToolResult(llm_content="half")

    rig.tool("first", body=stop)
    second = rig.tool("second")

    [call] = await rig.run(rig.request("first"))

    assert (call.status, call.request.name, second.ran) == (CallStatus.CANCELLED, "first", [])
    assert response_of(call)["output"] == "half"


async def test_hooks_get_a_tools_server_without_its_secrets(
    hooked: OpenRig, tmp_path: Path
) -> None:
    rig = hooked(BeforeTool={}, AfterTool={})

    rig.tool("mcp_srv_own", ServersTool)
    rig.tool("plain")

    await rig.run(rig.request("mcp_srv_own"), rig.request("plain", wait_for_previous=True))

    context = {
        "server_name": "srv",
        "tool_name": "own",
        "command": "serve",
        "args": ["-x"],
        "url": "http://h",
    }
    for event in ("BeforeTool", "AfterTool"):
        assert [each.get("mcp_context") for each in given(tmp_path, event)] == [context, None]


async def test_an_invocation_with_answered_gets_the_answer(rig: Rig) -> None:
    answers: list[Any] = []

    class Asking(ScriptedInvocation):
        def answered(self, outcome: ConfirmationOutcome, payload: Any) -> None:
            answers.append((str(outcome), payload))

    class AskingTool(ScriptedTool):
        def build(self, params: Any) -> ScriptedInvocation:
            return Asking(self, params)

    rig.tool("t", AskingTool)
    rig.rule("t", "ask_user")
    rig.answer("modify_with_editor", {"outcome": "cancel", "payload": {"answers": {"0": "yes"}}})

    await rig.run(rig.request("t"))

    assert answers == [("modify_with_editor", None), ("cancel", {"answers": {"0": "yes"}})]

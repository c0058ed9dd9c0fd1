from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from services.abort import AbortController
from services.clock import virtual_loop
from services.hooks.events import HookEnd, HookEvent, HookStart, HookSystemMessage
from services.hooks.translation import HookModelRequest
from services.tools.contract import ConfirmationDetails, ToolErrorType, ToolFailure, ToolResult
from tests.services.hooks.stand_ins import Lifeline, OpenSession, Session


def says(output: Any, *, name: str = "hook", then: str = "") -> dict[str, Any]:
    """A hook that writes its input to the file `given` and prints `output`."""
    text = output if isinstance(output, str) else json.dumps(output)
    command = f"cat > given; printf %s '{text}'{then}"
    return {"type": "command", "command": command, "name": name}


def defined(*hooks: dict[str, Any], **fields: Any) -> list[dict[str, Any]]:
    return [{"hooks": list(hooks), **fields}]


def base(session: Session, event: str) -> str:
    return (
        f'{{"session_id":"session-1","transcript_path":"/rec.jsonl","cwd":"{session.root}",'
        f'"hook_event_name":"{event}","timestamp":"2026-01-01T00:00:00.000Z"'
    )


REQUEST = HookModelRequest(
    model="gemini-2.5-flash",
    config={"temperature": 1, "tools": [{"functionDeclarations": []}]},
    contents=[{"role": "user", "parts": [{"text": "hé"}]}],
)
ASKED = (
    '"llm_request":{"model":"gemini-2.5-flash","messages":[{"role":"user","content":"hé"}],'
    '"config":{"temperature":1}}'
)
CHUNK = {"candidates": [{"content": {"role": "model", "parts": [{"text": "hi"}]}, "index": 0}]}
RESULT = ToolResult(
    llm_content=[{"text": "x"}],
    return_display="d",
    error=ToolFailure(message="m", type=ToolErrorType.EXECUTION_FAILED),
)
EDIT = ConfirmationDetails(
    type="edit",
    title="T",
    fields={"filePath": "/f", "fileName": "f", "originalContent": None, "diffStat": {}},
)
MCP = {"server_name": "s", "tool_name": "t", "command": "c"}


async def fire(session: Session, event: HookEvent) -> Any:
    hooks = session.hooks
    hooks.transcript = lambda: Path("/rec.jsonl")
    match event:
        case HookEvent.SESSION_START:
            return await hooks.session_start("startup")
        case HookEvent.SESSION_END:
            return await hooks.session_end("exit")
        case HookEvent.BEFORE_AGENT:
            return await hooks.before_agent("p")
        case HookEvent.AFTER_AGENT:
            return await hooks.after_agent("p", "r", stop_hook_active=True)
        case HookEvent.BEFORE_MODEL:
            return await hooks.before_model(REQUEST)
        case HookEvent.BEFORE_TOOL_SELECTION:
            return await hooks.before_tool_selection(REQUEST)
        case HookEvent.AFTER_MODEL:
            return await hooks.after_model(REQUEST, CHUNK)
        case HookEvent.BEFORE_TOOL:
            return await hooks.before_tool(
                "t", {"n": 1.0, "lone": "\ud800"}, mcp_context=MCP, original_name="o"
            )
        case HookEvent.AFTER_TOOL:
            return await hooks.after_tool("t", {"a": 1}, RESULT)
        case HookEvent.PRE_COMPRESS:
            return await hooks.pre_compress(forced=False)
        case HookEvent.NOTIFICATION:
            return await hooks.tool_permission(EDIT)


# The very bytes that the published core writes to a hook's standard input.
@pytest.mark.parametrize(
    ("event", "fields"),
    [
        (HookEvent.SESSION_START, '"source":"startup"'),
        (HookEvent.SESSION_END, '"reason":"exit"'),
        (HookEvent.BEFORE_AGENT, '"prompt":"p"'),
        (HookEvent.AFTER_AGENT, '"prompt":"p","prompt_response":"r","stop_hook_active":true'),
        (HookEvent.BEFORE_MODEL, ASKED),
        (HookEvent.BEFORE_TOOL_SELECTION, ASKED),
        (
            HookEvent.AFTER_MODEL,
            ASKED + ',"llm_response":{"text":"hi","candidates":[{"content":{"role":"model",'
            '"parts":["hi"]},"index":0}]}',
        ),
        (
            HookEvent.BEFORE_TOOL,
            (
                '"tool_name":"t","tool_input":{"n":1,"lone":"\\ud800"},"mcp_context":'
                '{"server_name":"s","tool_name":"t","command":"c"},"original_request_name":"o"'
            ),
        ),
        (
            HookEvent.AFTER_TOOL,
            (
                '"tool_name":"t","tool_input":{"a":1},"tool_response":{"llmContent":[{"text":"x"}],'
                '"returnDisplay":"d","error":{"message":"m","type":"execution_failed"}}'
            ),
        ),
        (HookEvent.PRE_COMPRESS, '"trigger":"auto"'),
        (
            HookEvent.NOTIFICATION,
            (
                '"notification_type":"ToolPermission","message":"Tool T requires editing",'
                '"details":{"type":"edit","title":"T","fileName":"f","filePath":"/f","originalContent":null}'
            ),
        ),
    ],
)
async def test_each_events_input_is_upstreams_byte_for_byte(
    event: HookEvent, fields: str, open_session: OpenSession
) -> None:
    session = open_session({str(event): defined(says({}))})

    await fire(session, event)

    assert session.given() == f"{base(session, event)},{fields}}}"


@pytest.mark.parametrize("event", list(HookEvent))
async def test_an_event_without_hooks_has_no_opinion(
    event: HookEvent, open_session: OpenSession
) -> None:
    session = open_session({})

    answer = await fire(session, event)

    told = {
        HookEvent.BEFORE_MODEL: ("model", "contents", "synthetic_response"),
        HookEvent.BEFORE_TOOL_SELECTION: ("tool_config", "tools"),
    }
    if event is HookEvent.AFTER_MODEL:
        assert answer.response is CHUNK
    elif event in told:
        assert [getattr(answer, field) for field in told[event]] == [None] * len(told[event])
    else:
        assert answer is None
    assert not session.hooks.has_hooks(event)


async def test_hooks_are_told_of_in_order(open_session: OpenSession) -> None:
    session = open_session(
        {
            "BeforeTool": defined(
                says("plain", name="one"),
                says({"systemMessage": "two says"}, name="two", then="; exit 1"),
                sequential=True,
            )
        }
    )

    output = await session.hooks.before_tool("t", {})

    assert output is not None
    assert output.system_message == "plain\ntwo says"
    assert session.notices == [
        HookStart(
            hook_name="one", event_name="BeforeTool", source="project", hook_index=1, total_hooks=2
        ),
        HookEnd(hook_name="one", event_name="BeforeTool", success=True),
        HookStart(
            hook_name="two", event_name="BeforeTool", source="project", hook_index=2, total_hooks=2
        ),
        HookEnd(hook_name="two", event_name="BeforeTool", success=False),
        HookSystemMessage(hook_name="one", event_name="BeforeTool", message="plain"),
        HookSystemMessage(hook_name="two", event_name="BeforeTool", message="two says"),
    ]
    assert session.warnings == [
        (
            "Hook(s) [two] failed for event BeforeTool. "
            "Press F12 to see the debug drawer for more details.\n"
        )
    ]


async def test_without_sequential_hooks_run_beside_each_other(open_session: OpenSession) -> None:
    # A pipe opens when both its ends are: neither hook ends before the other has started.
    first = 'echo > there; cat back; echo \'{"reason":"a"}\''
    second = 'cat there; echo > back; echo \'{"reason":"b"}\''
    session = open_session(
        {
            "BeforeTool": defined(
                {"type": "command", "command": first, "timeout": 20_000},
                {"type": "command", "command": second, "timeout": 20_000},
            )
        }
    )
    for name in ("there", "back"):
        os.mkfifo(session.root / name)

    output = await session.hooks.before_tool("t", {})

    assert output is not None
    assert output.reason == "a\nb"


@pytest.mark.parametrize(
    ("event", "output", "exit_code", "second"),
    [
        (
            "BeforeTool",
            {"hookSpecificOutput": {"tool_input": {"b": 2}}},
            0,
            '"tool_input":{"a":1,"b":2}',
        ),
        (
            "BeforeTool",
            {"hookSpecificOutput": {"tool_input": {"b": 2}}},
            1,
            '"tool_input":{"a":1}',
        ),
        (
            "BeforeAgent",
            {"hookSpecificOutput": {"additionalContext": "<more>"}},
            0,
            '"prompt":"p\\n\\n<more>"',
        ),
        (
            "BeforeModel",
            {"decision": "deny", "hookSpecificOutput": {"llm_request": {"model": "other"}}},
            0,
            (
                '"llm_request":{"model":"other","messages":[{"role":"user","content":"hé"}],'
                '"config":{"temperature":1}}'
            ),
        ),
        (
            "AfterAgent",
            {"hookSpecificOutput": {"additionalContext": "<more>"}},
            0,
            '"prompt":"p","prompt_response":"r","stop_hook_active":false',
        ),
    ],
)
async def test_a_successful_hook_changes_the_next_ones_input(
    event: str, output: Any, exit_code: int, second: str, open_session: OpenSession
) -> None:
    session = open_session(
        {
            event: [
                {"hooks": [says(output, name="one", then=f"; exit {exit_code}")]},
                {"hooks": [says({}, name="two")], "sequential": True},
            ]
        }
    )
    hooks = session.hooks

    match event:
        case "BeforeTool":
            await hooks.before_tool("t", {"a": 1})
        case "BeforeAgent":
            await hooks.before_agent("p")
        case "BeforeModel":
            await hooks.before_model(REQUEST)
        case _:
            await hooks.after_agent("p", "r")

    assert session.given().endswith(f"{second}}}")


async def test_a_time_out_is_no_opinion_and_a_warning(open_session: OpenSession) -> None:
    hook = {"type": "command", "command": 'echo \'{"decision":"deny"}\'; sleep 3600'}
    session = open_session({"BeforeTool": defined({**hook, "timeout": 100, "name": "slow"})})

    assert await session.hooks.before_tool("t", {}) is None
    assert session.warnings[0].startswith("Hook(s) [slow] failed for event BeforeTool.")


@pytest.mark.contract("P-140")
async def test_a_hook_that_cannot_start_is_no_opinion_and_a_warning(
    open_session: OpenSession,
) -> None:
    session = open_session({"BeforeTool": defined(says({}))})
    session.root.rmdir()

    assert await session.hooks.before_tool("t", {}) is None
    assert session.notices[-1] == HookEnd(hook_name="hook", event_name="BeforeTool", success=False)
    assert len(session.warnings) == 1


def test_virtual_time_stands_still_while_a_hook_runs(open_session: OpenSession) -> None:
    session = open_session({"BeforeTool": defined(says({}, then="; sleep 0.05"))})
    order: list[str] = []

    async def hook() -> None:
        await session.hooks.before_tool("t", {})
        order.append("hook")

    async def waiter() -> None:
        await session.clock.sleep(10)
        order.append("virtual")

    async def both() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(hook())
            group.create_task(waiter())

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        runner.run(both())

    assert order == ["hook", "virtual"]


async def test_an_abort_ends_the_event_without_a_warning(open_session: OpenSession) -> None:
    first = {"type": "command", "command": f"{Lifeline.HELD} sleep 3600"}
    second = {"type": "command", "command": "touch second"}
    session = open_session({"BeforeTool": defined(first, second, sequential=True)})
    controller = AbortController()
    line = Lifeline(session.root)

    running = asyncio.create_task(session.hooks.before_tool("t", {}, signal=controller.signal))
    await line.up()
    controller.abort()

    assert await running is None
    await line.gone()
    assert session.warnings == []
    assert [type(notice) for notice in session.notices] == [HookStart, HookEnd]


async def test_after_an_abort_hooks_still_run(open_session: OpenSession) -> None:
    session = open_session({"AfterAgent": defined(says({"decision": "block"}))})
    controller = AbortController()
    controller.abort()

    output = await session.hooks.after_agent("p", "r", signal=controller.signal)

    assert output is not None
    assert output.blocks


async def test_an_output_nobody_can_read_silences_the_event(open_session: OpenSession) -> None:
    session = open_session(
        {
            "BeforeTool": defined(
                says({"decision": "deny", "systemMessage": "no"}, name="one", then="; exit 1"),
                says({"hookSpecificOutput": "text"}, name="two"),
            )
        }
    )

    assert await session.hooks.before_tool("t", {}) is None
    assert session.warnings == []
    assert {type(notice) for notice in session.notices} == {HookStart, HookEnd}


async def test_failures_are_told_of_once_per_answer(open_session: OpenSession) -> None:
    session = open_session({"AfterModel": defined(says("", then="; exit 1"))})

    for _ in range(2):
        await session.hooks.after_model(REQUEST, CHUNK)
    other = HookModelRequest(model="m", config={}, contents=[])
    await session.hooks.after_model(other, CHUNK)

    assert len(session.warnings) == 2


async def test_a_stop_before_the_model_goes_before_a_block(open_session: OpenSession) -> None:
    said = {"continue": False, "decision": "deny", "stopReason": "halt"}
    session = open_session({"BeforeModel": defined(says(said))})

    result = await session.hooks.before_model(REQUEST)

    assert (result.stopped, result.blocked, result.reason) == (True, True, "halt")


async def test_a_block_may_answer_instead_of_the_model(open_session: OpenSession) -> None:
    answers = [{"content": {"parts": ["a"]}}, {"content": {"parts": []}, "finishReason": "OTHER"}]
    said = {"decision": "deny", "hookSpecificOutput": {"llm_response": {"candidates": answers}}}
    session = open_session({"BeforeModel": defined(says(said))})

    result = await session.hooks.before_model(REQUEST)

    assert (result.stopped, result.blocked) == (False, True)
    assert result.synthetic_response == {
        "candidates": [
            {"content": {"role": "model", "parts": [{"text": "a"}]}, "finishReason": "STOP"},
            {"content": {"role": "model", "parts": []}, "finishReason": "OTHER"},
        ]
    }


@pytest.mark.parametrize("response", [{}, {"candidates": [{}]}])
async def test_a_block_with_a_broken_answer_is_no_block(
    response: Any, open_session: OpenSession
) -> None:
    said = {"decision": "deny", "hookSpecificOutput": {"llm_response": response}}
    session = open_session({"BeforeModel": defined(says(said))})

    assert not (await session.hooks.before_model(REQUEST)).blocked


async def test_any_output_before_the_model_sets_model_config_and_contents(
    open_session: OpenSession,
) -> None:
    session = open_session({"BeforeModel": defined(says({}))})

    result = await session.hooks.before_model(REQUEST)

    assert (result.model, result.config) == (REQUEST.model, REQUEST.config)
    assert result.contents is REQUEST.contents


async def test_a_tool_selection_replaces_the_choice_and_names_the_tools(
    open_session: OpenSession,
) -> None:
    choice = {"mode": "ANY", "allowedFunctionNames": ["b", "a"]}
    said = {"hookSpecificOutput": {"toolConfig": choice}}
    session = open_session({"BeforeToolSelection": defined(says(said))})

    result = await session.hooks.before_tool_selection(REQUEST)

    assert result.tool_config == {
        "functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["a", "b"]}
    }
    assert result.tools == REQUEST.config["tools"]


@pytest.mark.parametrize(
    ("said", "stopped", "blocked", "text"),
    [
        ({"continue": False, "decision": "deny"}, True, False, "hi"),
        ({"decision": "block"}, False, True, "hi"),
        (
            {
                "hookSpecificOutput": {
                    "llm_response": {"candidates": [{"content": {"parts": ["X"]}}]}
                }
            },
            False,
            False,
            "X",
        ),
        (
            {"hookSpecificOutput": {"llm_response": {"candidates": [{"content": {"parts": []}}]}}},
            False,
            False,
            "hi",
        ),
        (
            {"hookSpecificOutput": {"llm_response": {"candidates": [{"content": {"parts": "X"}}]}}},
            False,
            False,
            "hi",
        ),
    ],
)
async def test_after_the_model_a_chunk_may_be_stopped_blocked_or_replaced(
    said: Any, stopped: bool, blocked: bool, text: str, open_session: OpenSession
) -> None:
    session = open_session({"AfterModel": defined(says(said))})

    result = await session.hooks.after_model(REQUEST, CHUNK)

    assert (result.stopped, result.blocked) == (stopped, blocked)
    assert result.response["candidates"][0]["content"]["parts"] == [{"text": text}]


@pytest.mark.parametrize(
    ("type", "message"),
    [
        ("exec", "Tool T requires execution"),
        ("mcp", "Tool T requires MCP"),
        ("info", "Tool T requires information"),
        ("ask_user", "Tool requires confirmation"),
    ],
)
@pytest.mark.contract("P-129")
async def test_a_notification_says_what_is_asked(
    type: str, message: str, open_session: OpenSession
) -> None:
    session = open_session({"Notification": defined(says({}))})
    fields = {"command": "c", "serverName": "s", "prompt": "p", "questions": []}

    await session.hooks.tool_permission(ConfirmationDetails(type=type, title="T", fields=fields))

    given = json.loads(session.given())
    assert given["message"] == message
    own = {"exec": {"command": "c"}, "mcp": {"serverName": "s"}, "info": {"prompt": "p"}}
    assert given["details"] == {"type": type, "title": "T", **own.get(type, {})}


async def test_hooks_know_where_they_are(open_session: OpenSession) -> None:
    command = 'printf "%s\\n" "$GEMINI_PROJECT_DIR" "$PWD" "$GEMINI_SESSION_ID" $OWN "$API_KEY"'
    hook = {"type": "command", "command": command, "env": {"OWN": "mine"}}
    session = open_session({"BeforeAgent": defined(hook)})

    output = await session.hooks.before_agent("p")

    assert output is not None
    assert output.system_message == f"{session.root}\n{session.root}\nsession-1\nmine"


async def test_an_untrusted_folders_hooks_do_not_run(open_session: OpenSession) -> None:
    hooks = {"BeforeTool": defined(says({"decision": "deny"})), "Nope": []}
    session = open_session(hooks, trustedFolder=False, projectHooks=hooks)

    session.hooks.initialize()

    assert await session.hooks.before_tool("t", {}) is None
    assert session.warnings == []
    assert not (session.home / ".gemini").exists()


def test_switched_off_hooks_are_none(open_session: OpenSession) -> None:
    with pytest.raises(AssertionError):
        open_session({}, enableHooks=False)


def test_unknown_events_are_warned_of_at_the_start(open_session: OpenSession) -> None:
    session = open_session({"Nope": defined(says({}), says({})), "BeforeTool": []})

    session.hooks.initialize()

    assert session.warnings == ['Invalid hook event name: "Nope" from project config. Skipping.']


def test_new_project_hooks_are_warned_of_once(open_session: OpenSession) -> None:
    hooks = {
        "BeforeTool": defined({"type": "command", "command": "c1", "name": "n"}),
        "AfterTool": defined({"type": "command", "command": "c2"}),
    }
    session = open_session(hooks, projectHooks=hooks)

    session.hooks.initialize()
    session.hooks.initialize()

    assert session.warnings == [
        (
            "WARNING: The following project-level hooks have been detected in this workspace:\n"
            "  - n\n"
            "  - c2\n"
            "\n"
            "These hooks will be executed. If you did not configure these hooks or do not trust "
            "this project,\n"
            "please review the project settings (.gemini/settings.json) and remove them."
        )
    ]
    notes = session.home / ".gemini" / "trusted_hooks.json"
    assert notes.read_text() == f'{{\n  "{session.root}": [\n    "n:c1",\n    ":c2"\n  ]\n}}'


@pytest.mark.parametrize(("notes", "warned"), [("{broken", True), ("[]", False), ("{}", True)])
def test_a_broken_file_of_trusted_hooks_stops_nobody(
    notes: str, warned: bool, open_session: OpenSession
) -> None:
    hooks = {"BeforeTool": defined({"type": "command", "command": "c1"})}
    session = open_session(hooks, projectHooks=hooks)
    (session.home / ".gemini").mkdir(parents=True)
    (session.home / ".gemini" / "trusted_hooks.json").write_text(notes)

    session.hooks.initialize()

    assert bool(session.warnings) is warned

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
from services.tools.contract import ConfirmationDetails, ToolErrorType, ToolFailure, ToolResult
from tests.services.hooks.stand_ins import (
    CHUNK,
    REQUEST,
    Lifeline,
    OpenSession,
    Session,
    defined,
    says,
)


def base(session: Session, event: str) -> str:
    return (
        f'{{"session_id":"session-1","transcript_path":"/rec.jsonl","cwd":"{session.root}",'
        f'"hook_event_name":"{event}","timestamp":"2026-01-01T00:00:00.000Z"'
    )


ASKED = (
    '"llm_request":{"model":"gemini-2.5-flash","messages":[{"role":"user","content":"hé"}],'
    '"config":{"temperature":1}}'
)
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
async def test_an_event_without_hooks_has_no_output(
    event: HookEvent, open_session: OpenSession
) -> None:
    session = open_session({})

    answer = await fire(session, event)

    assert answer is None
    assert not session.hooks.has_hooks(event)


async def test_notices_of_hooks_come_in_order(open_session: OpenSession) -> None:
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


async def test_an_unreadable_output_silences_the_event(open_session: OpenSession) -> None:
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

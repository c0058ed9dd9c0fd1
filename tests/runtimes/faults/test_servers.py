"""MCP servers that never answer, die, flood, print garbage, or change their minds."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from services.mcp.states import McpServerStatus
from tests.processes import ends
from tests.runtimes.faults.stage import (
    SERVERS,
    Stage,
    answer,
    call,
    reason,
    responses,
)

MEGABYTES = 20_000_000


def server(script: str, *arguments: str, **more: Any) -> dict[str, Any]:
    """The configuration of a trusted server."""
    return {
        "command": sys.executable,
        "args": [str(SERVERS / script), *arguments],
        "trust": True,
        **more,
    }


def servers(**by_name: dict[str, Any]) -> dict[str, Any]:
    return {"mcpServers": by_name}


@pytest.mark.parametrize("way", ["silent", "dies", "wrong_version", "empty"])
@pytest.mark.sampled(4)
def test_a_server_that_cannot_be_used_does_not_stop_the_others(stage: Stage, way: str) -> None:
    # The others say what is wrong by themselves, on a slow machine after more than a second.
    limit = {"timeout": 1000} if way == "silent" else {}
    seen = stage.play(
        answer(call("mcp_bad_slow"), call("mcp_good_slow")),
        {"text": "done"},
        settings=servers(bad=server("rude.py", way, **limit), good=server("rude.py", "plain")),
    )

    bad, good = responses(seen)
    assert 'Tool "mcp_bad_slow" not found.' in bad["error"]
    assert "done" in good["output"]
    assert reason(seen) == "completed"


@pytest.mark.sampled(2)
def test_a_call_without_an_answer_ends_with_its_time_limit(stage: Stage) -> None:
    async def hurry() -> None:
        client = stage.manager.client("f")
        assert client is not None
        client.config = type(client.config)(timeout_ms=50)

    stage.before_request[0] = hurry
    seen = stage.play(
        answer(call("mcp_f_hang", mark="/dev/null")),
        {"text": "done"},
        settings=servers(f=server("fickle.py")),
    )

    assert "Request timed out" in responses(seen)[0]["error"]
    assert reason(seen) == "completed"


@pytest.mark.sampled(2)
def test_an_abort_ends_the_wait_for_an_answer_and_the_run_ends_the_server(stage: Stage) -> None:
    seen = stage.play(
        answer(call("run_shell_command", command="pwd")),
        answer(call("mcp_f_hang", mark="<WS>/pid")),
        {"text": "never"},
        settings=servers(f=server("fickle.py")),
        during=[{"when": {"tool": "mcp_f_hang"}, "delay_ms": 300, "do": "abort"}],
    )

    assert reason(seen) == "aborted"
    assert ends(seen.workspace_changes["pid"] or "")


@pytest.mark.sampled(2)
def test_a_server_that_dies_in_a_call_fails_that_call_and_those_after_it(stage: Stage) -> None:
    seen = stage.play(
        answer(call("mcp_f_crash")),
        answer(call("mcp_f_echo", text="gone")),
        {"text": "done"},
        settings=servers(f=server("fickle.py")),
    )

    died, later = responses(seen)
    assert "Connection closed" in died["error"]
    assert "Not connected" in later["error"]
    assert reason(seen) == "completed"


@pytest.mark.sampled(2)
def test_a_server_that_crashed_is_back_after_a_restart(stage: Stage) -> None:
    stage.before_request[1] = lambda: stage.manager.restart_server("f")
    seen = stage.play(
        answer(call("mcp_f_crash")),
        answer(call("mcp_f_echo", text="back")),
        {"text": "done"},
        settings=servers(f=server("fickle.py")),
    )

    died, later = responses(seen)
    assert "Connection closed" in died["error"]
    assert "back" in later["output"]


@pytest.mark.slow
def test_twenty_megabytes_from_a_server_are_taken_and_shortened(stage: Stage) -> None:
    seen = stage.play(
        answer(call("mcp_f_huge", n=MEGABYTES)),
        answer(call("mcp_f_flood")),
        {"text": "done"},
        settings=servers(f=server("fickle.py")),
    )

    huge, flood = responses(seen)
    assert "Output too large" in huge["output"]
    assert len(huge["output"]) < 50_000
    assert "dry" in flood["output"]
    assert reason(seen) == "completed"


def test_garbage_between_messages_costs_nothing_but_a_notice(stage: Stage) -> None:
    async def look() -> None:
        assert stage.manager.status("r") is McpServerStatus.DISCONNECTED

    stage.before_request[1] = look
    seen = stage.play(
        answer(call("mcp_r_slow")),
        {"text": "done"},
        settings=servers(r=server("rude.py", "garbage")),
    )

    assert "done" in responses(seen)[0]["output"]
    assert [(each.severity, each.message) for each in stage.feedback][-1] == (
        "error",
        "MCP ERROR (r)",
    )


@pytest.mark.sampled(2)
def test_a_changed_list_of_tools_holds_from_the_next_request_on(stage: Stage) -> None:
    async def settle() -> None:
        await stage.manager.settled()

    stage.before_request[1] = settle
    seen = stage.play(
        answer(call("mcp_f_change")),
        answer(call("mcp_f_extra_0")),
        {"text": "done"},
        settings=servers(f=server("fickle.py")),
    )

    changed, extra = responses(seen)
    assert "changed" in changed["output"]
    assert "extra_0" in extra["output"]
    declared = [request.tools for request in seen.requests]
    assert "mcp_f_extra_0" not in declared[0]
    assert "mcp_f_extra_0" in declared[-1]


@pytest.mark.sampled(2)
def test_what_a_server_started_ends_with_the_run(stage: Stage) -> None:
    seen = stage.play(
        answer(call("mcp_f_fork", mark="<WS>/pid")),
        {"text": "done"},
        settings=servers(f=server("fickle.py")),
    )

    assert reason(seen) == "completed"
    assert ends(seen.workspace_changes["pid"] or "")


def test_halves_of_characters_from_a_server_are_replaced(stage: Stage) -> None:
    seen = stage.play(
        answer(call("mcp_r_slow")),
        {"text": "done"},
        settings=servers(r=server("rude.py", "halves")),
    )

    assert "a\ufffdb\0\x1b[31m" in responses(seen)[0]["output"]

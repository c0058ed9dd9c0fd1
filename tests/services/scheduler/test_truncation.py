from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from services.scheduler.calls import CallStatus, CompletedToolCall
from services.scheduler.scheduler import ToolScheduler
from services.scheduler.truncation import OutputLimiter, ShortOutput
from services.settings import Settings
from services.tools.contract import (
    LlmContent,
    ToolErrorType,
    ToolExecution,
    ToolFailure,
    ToolResult,
)
from services.workspace import Workspace
from tests.services.scheduler.conftest import ScriptedTool, ServersTool
from tests.services.sessions import session_at

SHELL = "run_shell_command"


class Distilling:
    async def distill(self, tool_name: str, call_id: str, content: LlmContent) -> ShortOutput:
        return ShortOutput(f"{tool_name} {call_id} {content!r}", Path("/distilled"))


class Limited:
    """The scheduler of `rig` with a limiter."""

    def __init__(self, rig: Any, home: Path, settings: Settings, last_prompt_tokens: int = 0):
        self.rig = rig
        self.folder = home / ".gemini" / "tmp" / "ws" / "tool-outputs" / "session-s"
        rig.state.last_prompt_tokens = last_prompt_tokens
        session = session_at(Workspace.at(home / "ws", home), settings, state=rig.state)
        self.scheduler = ToolScheduler(
            session,
            registry=rig.tools,
            policy=rig.policy,
            bus=rig.bus,
            limiter=OutputLimiter(session, Distilling()),
        )

    async def run(
        self, name: str, content: Any, *, of_server: bool = False, **result: Any
    ) -> CompletedToolCall:
        async def body(_params: object, _execution: ToolExecution) -> ToolResult:
            if result.pop("abort", False):
                self.rig.controller.abort()
            return ToolResult(llm_content=content, return_display="shown", **result)

        self.rig.tool(name, ServersTool if of_server else ScriptedTool, body=body)
        request = self.rig.request(name, f"{name}__1")
        [call] = await self.scheduler.schedule([request], self.rig.controller.signal)
        return call


def response_of(call: CompletedToolCall) -> dict[str, Any]:
    response: dict[str, Any] = call.response.response_parts[0]["functionResponse"]["response"]
    return response


@pytest.fixture
def limited(rig: Any, tmp_path: Path) -> Limited:
    return Limited(rig, tmp_path, Settings(truncate_tool_output_threshold=10))


def shown(file: Path, head: str, tail: str, omitted: int) -> str:
    return (
        f"Output too large. Showing first {len(head)} and last {len(tail)} characters. "
        f"For full output see: {file}\n{head}\n\n... [{omitted} characters omitted] ...\n\n{tail}"
    )


async def test_a_long_shell_output_is_cut_and_saved_whole(limited: Limited) -> None:
    call = await limited.run(SHELL, "0123456789abcdef")

    file = limited.folder / "run_shell_command__1.txt"
    text = shown(file, "01", "89abcdef", 6)
    assert response_of(call) == {"output": text}
    assert file.read_text() == "0123456789abcdef"
    assert call.response.output_file == str(file)
    assert call.response.content_length == len(text)
    assert call.response.result_display == "shown"


@pytest.mark.contract("P-103")
async def test_an_output_within_the_limit_is_not_cut(limited: Limited) -> None:
    call = await limited.run(SHELL, "0123456789")

    assert response_of(call) == {"output": "0123456789"}
    assert call.response.output_file is None
    assert not limited.folder.exists()


async def test_outputs_of_other_tools_are_not_cut(limited: Limited) -> None:
    assert response_of(await limited.run("read_file", "x" * 99)) == {"output": "x" * 99}
    assert response_of(await limited.run("other", [{"text": "x" * 99}])) == {"output": "x" * 99}


async def test_a_single_text_of_an_mcp_server_is_cut(limited: Limited) -> None:
    call = await limited.run("mcp_s_T", [{"text": "0123456789abcdef"}], of_server=True)

    file = limited.folder / "mcp_s_t__1.txt"
    assert response_of(call) == {"output": shown(file, "01", "89abcdef", 6)}
    assert call.response.output_file == str(file)
    assert call.response.content_length is None


@pytest.mark.parametrize(
    "content",
    [[{"text": "x" * 99}, {"text": "y"}], ["x" * 99], "x" * 99, [{"text": "x" * 10}]],
    ids=["two parts", "a bare text in a list", "a bare text", "short"],
)
async def test_other_outputs_of_an_mcp_server_are_not_cut(limited: Limited, content: Any) -> None:
    call = await limited.run("mcp_s_t", content, of_server=True)

    assert "x" * 10 in response_of(call)["output"]
    assert call.response.output_file is None


async def test_the_output_of_a_cancelled_call_is_cut_too(limited: Limited) -> None:
    call = await limited.run(SHELL, "0123456789abcdef", abort=True)

    file = limited.folder / "run_shell_command__1.txt"
    assert call.status is CallStatus.CANCELLED
    assert response_of(call)["output"] == shown(file, "01", "89abcdef", 6)
    assert call.response.output_file == str(file)


async def test_errors_are_not_cut(limited: Limited) -> None:
    failure = ToolFailure(message="m" * 99, type=ToolErrorType.SHELL_EXECUTE_ERROR)

    assert response_of(await limited.run(SHELL, "x" * 99, error=failure)) == {"error": "m" * 99}


@pytest.mark.parametrize(
    ("configured", "last_prompt_tokens", "threshold"),
    [(40_000, 0, 40_000), (40_000, 1_048_571, 20), (0, 0, 0), (5, 2_000_000, -3_805_696)],
)
async def test_the_threshold_is_what_is_left_of_the_context_or_the_setting(
    rig: Any, tmp_path: Path, configured: int, last_prompt_tokens: int, threshold: int
) -> None:
    settings = Settings(truncate_tool_output_threshold=configured)
    rig.state.last_prompt_tokens = last_prompt_tokens
    session = session_at(Workspace.at(tmp_path, tmp_path), settings, state=rig.state)
    limiter = OutputLimiter(session, Distilling())

    assert limiter.threshold() == threshold


async def test_a_full_context_cuts_nothing(rig: Any, tmp_path: Path) -> None:
    limited = Limited(rig, tmp_path, Settings(), last_prompt_tokens=2_000_000)

    assert response_of(await limited.run(SHELL, "x" * 50_000)) == {"output": "x" * 50_000}


async def test_an_output_that_cannot_be_saved_is_an_error(limited: Limited) -> None:
    limited.folder.parent.parent.mkdir(parents=True)
    limited.folder.parent.write_text("in the way")

    call = await limited.run(SHELL, "0123456789abcdef")

    assert call.status is CallStatus.ERROR
    assert response_of(call)["error"].startswith("ENOTDIR: not a directory, mkdir '")


async def test_with_context_management_every_output_goes_to_the_distiller(
    rig: Any, tmp_path: Path
) -> None:
    settings = Settings(context_management=True, truncate_tool_output_threshold=1)
    limited = Limited(rig, tmp_path, settings)

    call = await limited.run("read_file", "text")

    assert response_of(call) == {"output": "read_file read_file__1 'text'"}
    assert call.response.output_file == "/distilled"


async def test_without_context_management_no_output_goes_to_the_distiller(limited: Limited) -> None:
    assert response_of(await limited.run("read_file", "text")) == {"output": "text"}

"""The product's tools as a toolset of the agent."""

from __future__ import annotations

from typing import Any

import pytest
from google.adk.agents.readonly_context import ReadonlyContext
from google.adk.plugins.base_plugin import BasePlugin

from runtimes.adk.run import RunLink
from runtimes.adk.tools import AdkTool, Toolbox
from runtimes.adk.toolset import SessionToolset
from services.tools.declaring import ToolDeclarations

from .session_kit import register

__all__ = ["register"]


class Looking(BasePlugin):
    """Notes the agent's tools at each request, as code of others finds them."""

    def __init__(self) -> None:
        super().__init__(name="looking")
        self.seen: list[dict[str, str]] = []

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        context = callback_context._invocation_context
        tools = await context.agent.canonical_tools(ReadonlyContext(context))
        assert [tool.name for tool in tools] == list(llm_request.tools_dict)
        self.seen.append({tool.name: tool.description for tool in tools})


@pytest.mark.contract("P-266")
def test_the_agents_tools_follow_the_mode_within_an_invocation(kit, register):
    looking = Looking()
    register(looking)

    kit.play(
        [
            [kit.parts_chunk(kit.call("enter_plan_mode", {}), finish="STOP")],
            [kit.parts_chunk(kit.call("exit_plan_mode", {"plan_filename": "p.md"}), finish="STOP")],
            [kit.text("done", "STOP")],
        ]
    )

    assert ["enter_plan_mode" in each for each in looking.seen] == [True, False, True]
    assert ["exit_plan_mode" in each for each in looking.seen] == [False, True, False]
    assert looking.seen[1]["write_file"].startswith("ONLY FOR PLANS: ")


async def test_without_a_send_there_are_no_tools(kit):
    async with kit.services() as played:
        services = played.services
        toolset = SessionToolset(
            Toolbox(ToolDeclarations(services.tools, services.state)), RunLink()
        )
        with pytest.raises(RuntimeError, match="no send is under way"):
            await toolset.get_tools()


async def test_a_single_tool_declares_nothing():
    request: Any = None
    tool = AdkTool({"name": "t", "description": "d"})
    assert await tool.process_llm_request(tool_context=request, llm_request=request) is None

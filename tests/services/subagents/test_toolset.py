"""Which tools an agent has, and in which order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from services.settings import Settings
from services.state import ApprovalMode, CoreEvents, SessionState
from services.subagents.complete_task import CompleteTaskTool
from services.subagents.definition import AgentModel, AgentPrompt, LocalAgentDefinition
from services.subagents.toolset import Toolset
from services.tools.contract import Tool, ToolInvocation, ToolKind
from services.tools.registry import ToolRegistry
from services.wire import Json, JsonObject


class NamedTool:
    description = "?"
    is_output_markdown = False
    can_update_output = False

    def __init__(
        self, name: str, shown: str | None = None, kind: ToolKind = ToolKind.OTHER
    ) -> None:
        self.name = name
        self.display_name = name if shown is None else shown
        self.kind = kind

    def declaration(self, model: str | None = None) -> JsonObject:
        return {"name": self.name, "description": f"for {model}"}

    def build(self, params: JsonObject) -> ToolInvocation:
        raise AssertionError("it is never called")


class OfServer(NamedTool):
    annotations: Mapping[str, Any] | None = None

    def __init__(self, server: str, name: str, shown: str | None = None) -> None:
        super().__init__(f"mcp_{server}_{name}", shown)
        self.server_name = server
        self.server_tool_name = name

    @property
    def policy_annotations(self) -> JsonObject:
        return {"_serverName": self.server_name}

    @property
    def excluded_by(self) -> frozenset[str]:
        return frozenset({self.name})


SESSION: tuple[Tool, ...] = (
    NamedTool("update_topic"),
    NamedTool("zeta", "A"),
    NamedTool("alpha", "B"),
    NamedTool("invoke_agent", kind=ToolKind.AGENT),
    OfServer("two", "b", "Y"),
    OfServer("two", "a", "Z"),
    OfServer("one", "x", "X"),
)


def registry(*tools: Tool, **settings: Any) -> ToolRegistry:
    state = SessionState(
        session_id="s",
        model="gemini-2.5-flash",
        approval_mode=ApprovalMode.YOLO,
        interactive=False,
        events=CoreEvents(),
        folder_trusted=True,
    )
    made = ToolRegistry(Settings(**settings), state)
    for tool in tools:
        made.register(tool, even_unlisted=True)
    return made


def toolset(
    asked: tuple[Any, ...] | None, parent: ToolRegistry | None = None, **fields: Any
) -> Toolset:
    definition = LocalAgentDefinition(
        name="helper",
        description="?",
        prompt=AgentPrompt(system="?"),
        tools=asked,
        **fields,
    )
    opened = Toolset(definition, parent or registry(*SESSION), CompleteTaskTool())
    asyncio.run(opened.open())
    return opened


def names(asked: tuple[Any, ...] | None, **fields: Any) -> list[str]:
    return [tool["name"] for tool in toolset(asked, **fields).declarations()]


LAST = "complete_task"
ALL = ["zeta", "alpha", "mcp_one_x", "mcp_two_b", "mcp_two_a"]


def test_without_a_list_an_agent_has_every_tool_but_agents_and_topics() -> None:
    assert names(None) == [*ALL, "complete_task"]


def test_an_empty_list_means_none_but_complete_task() -> None:
    assert names(()) == ["complete_task"]


def test_a_star_means_every_tool_by_its_shown_name() -> None:
    assert names(("*",)) == [
        "zeta",
        "alpha",
        "mcp_one_x",
        "mcp_two_b",
        "mcp_two_a",
        "complete_task",
    ]


def test_tools_of_servers_may_be_asked_for_together() -> None:
    assert names(("mcp_*",)) == ["mcp_one_x", "mcp_two_b", "mcp_two_a", "complete_task"]


def test_tools_of_one_server_come_by_name() -> None:
    assert names(("mcp_two_*",)) == ["mcp_two_a", "mcp_two_b", "complete_task"]


def test_unknown_names_are_skipped() -> None:
    assert names(("nothing", "alpha", "mcp_three_*", "mcp_one_nothing")) == [
        "alpha",
        "complete_task",
    ]


def test_an_agent_may_not_be_asked_for_by_name() -> None:
    assert names(("invoke_agent", "update_topic")) == ["complete_task"]


def test_a_tool_given_as_such_is_taken_whatever_its_kind() -> None:
    own = NamedTool("mine", kind=ToolKind.AGENT)
    assert names((own,)) == ["mine", "complete_task"]


def test_servers_tools_come_last_in_whichever_order_they_were_asked_for() -> None:
    assert names(("mcp_two_a", "alpha", "mcp_one_x", "zeta")) == [
        "alpha",
        "zeta",
        "mcp_one_x",
        "mcp_two_a",
        "complete_task",
    ]


def test_a_tool_asked_for_twice_is_there_once() -> None:
    assert names(("alpha", "zeta", "alpha")) == ["alpha", "zeta", "complete_task"]


def test_declarations_are_made_for_the_model_of_the_definition() -> None:
    opened = toolset(("alpha",), model=AgentModel(model="inherit"))
    assert opened.declarations()[0]["description"] == "for inherit"


def test_an_agent_may_use_tools_that_the_main_agent_is_not_offered() -> None:
    parent = registry(*SESSION, main_agent_tools=("zeta",), core_tools=("zeta",))
    assert [tool["name"] for tool in toolset(("alpha",), parent).declarations()] == [
        "alpha",
        "complete_task",
    ]


def test_a_tool_that_is_excluded_is_not_the_agents_either() -> None:
    parent = registry(*SESSION, exclude_tools=("alpha",))
    assert toolset(None, parent).allowed_names().isdisjoint({"alpha"})


def test_the_agents_own_servers_come_first_and_are_let_go() -> None:
    gone: list[str] = []

    async def discover(servers: Mapping[str, Json], tools: ToolRegistry) -> Callable[[], None]:
        for server in servers:
            tools.register(OfServer(server, "own"), even_unlisted=True)
        return lambda: gone.append("gone")

    definition = LocalAgentDefinition(
        name="helper",
        description="?",
        prompt=AgentPrompt(system="?"),
        tools=("alpha", "mcp_one_x"),
        mcp_servers={"mine": {}},
    )
    opened = Toolset(definition, registry(*SESSION), CompleteTaskTool(), discover)
    asyncio.run(opened.open())
    assert [tool["name"] for tool in opened.declarations()] == [
        "alpha",
        "mcp_mine_own",
        "mcp_one_x",
        "complete_task",
    ]
    opened.close()
    opened.close()
    assert gone == ["gone"]


def test_an_agents_own_servers_are_not_the_parents() -> None:
    parent = registry(*SESSION)
    toolset((NamedTool("mine"),), parent)
    assert parent.get("mine") is None
    assert parent.get("complete_task") is None


def test_an_agents_declarations_mention_plan_mode(tmp_path: Path) -> None:
    state = SessionState(
        session_id="s",
        model="gemini-2.5-flash",
        approval_mode=ApprovalMode.PLAN,
        interactive=False,
        events=CoreEvents(),
        folder_trusted=True,
    )
    parent = ToolRegistry(Settings(), state, plans_folder=lambda: "/plans")
    parent.register(NamedTool("write_file"))
    [declared, _] = toolset(("write_file",), parent).declarations()
    assert declared["description"].startswith("ONLY FOR PLANS")

"""The built-in tools, registered in upstream's order.

The main model does not get `read_many_files` and `get_internal_docs`.

Source: core `Config.createToolRegistry`, and the end of `Config.initialize` for skills.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from services.model.names import is_gemini2_model, is_preview_model
from services.tools.activate_skill import ActivateSkillTool
from services.tools.ask_user import AskUserTool
from services.tools.background_tools import ListBackgroundProcessesTool, ReadBackgroundOutputTool
from services.tools.contract import Tool
from services.tools.enter_plan_mode import EnterPlanModeTool
from services.tools.exit_plan_mode import ExitPlanModeTool
from services.tools.glob_files import GlobTool
from services.tools.grep_search import GrepTool
from services.tools.host import ToolHost
from services.tools.list_directory import LSTool
from services.tools.list_mcp_resources import ListMcpResourcesTool, McpResourceList, ResourceFacts
from services.tools.read_file import ReadFileTool
from services.tools.read_mcp_resource import McpResourceReader, ReadMcpResourceTool
from services.tools.registry import ToolRegistry
from services.tools.replace import EditTool
from services.tools.shell import ShellTool
from services.tools.tracker import register_tracker_tools
from services.tools.update_topic import UpdateTopicTool
from services.tools.web_fetch import WebFetchTool
from services.tools.web_search import WebSearchTool
from services.tools.write_file import WriteFileTool
from services.tools.write_todos import WriteTodosTool

__all__ = ["register_builtin_tools", "register_skills", "reload_skills"]


R = TypeVar("R", bound=ResourceFacts)


class ServerResources(McpResourceList, McpResourceReader[R], Protocol[R]):
    """The part of the MCP servers that the resource tools use."""


def register_builtin_tools(
    registry: ToolRegistry,
    host: ToolHost,
    servers: ServerResources[R] | None = None,
    agents: Tool | None = None,
) -> None:
    """Register every built-in tool that the session's settings allow.

    As upstream, `tools.core` lists the topic tool by its class name only. The model at the start of
    the session decides whether there is a list of steps. Without the tool `agents`, which invokes
    agents, its place in the order is kept.
    """
    settings, model = host.settings, host.state.model
    registry.register(UpdateTopicTool(host), enabled_as=("UpdateTopicTool",))
    registry.register(LSTool(host))
    registry.register(ReadFileTool(host))
    registry.register(GrepTool(host))
    registry.register(GlobTool(host))
    registry.register(ActivateSkillTool(host))
    registry.register(EditTool(host))
    registry.register(WriteFileTool(host))
    registry.register(WebFetchTool(host))
    if servers is not None:
        registry.register(ReadMcpResourceTool(host, servers))
        registry.register(ListMcpResourcesTool(host, servers))
    registry.register(ShellTool(host))
    registry.register(ListBackgroundProcessesTool(host))
    registry.register(ReadBackgroundOutputTool(host))
    registry.register(WebSearchTool(host))
    registry.register(AskUserTool(host))
    steps = settings.use_write_todos and not settings.task_tracker
    if steps and is_gemini2_model(model) and not is_preview_model(model):
        registry.register(WriteTodosTool(host))
    if settings.plan_enabled:
        registry.register(ExitPlanModeTool(host))
        registry.register(EnterPlanModeTool(host))
    if host.tracker is not None:
        register_tracker_tools(registry, host, host.tracker)
    if agents is None:
        registry.announce("invoke_agent", enabled_as=("invoke_agent", "AgentTool"))
    else:
        registry.register(agents)
    register_skills(registry, host)


def register_skills(registry: ToolRegistry, host: ToolHost) -> None:
    """Find the skills and declare their tool after every tool that is registered so far.

    Call this again after MCP servers have added tools, which come before it. If there are skills,
    the tool is declared whatever `tools.core` lists.
    """
    settings = host.settings
    if not (settings.skills_support and settings.admin_skills_enabled):
        return
    workspace = host.workspace
    host.skills.discover(
        home=workspace.home,
        root=workspace.root,
        trusted=settings.folder_trusted,
        disabled=settings.disabled_skills,
    )
    if host.skills.skills:
        registry.unregister(ActivateSkillTool.name)
        registry.register(ActivateSkillTool(host), even_unlisted=True)


def reload_skills(
    registry: ToolRegistry, host: ToolHost, disabled: Sequence[str] | None = None
) -> None:
    """Find the skills anew, and declare their tool again, or not any more.

    Args:
        registry: the session's tools.
        host: has the session's skills.
        disabled: names of skills to switch off; `None`: the same as before.

    Source: core `Config.reloadSkills`.
    """
    settings = host.settings
    if not (settings.skills_support and settings.admin_skills_enabled):
        return
    host.skills.reload(disabled)
    registry.unregister(ActivateSkillTool.name)
    if host.skills.skills:
        registry.register(ActivateSkillTool(host), even_unlisted=True)

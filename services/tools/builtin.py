"""The built-in tools, registered in upstream's order.

Source: core `Config.createToolRegistry`.
"""

from __future__ import annotations

from services.tools.glob_files import GlobTool
from services.tools.grep_search import GrepTool
from services.tools.host import ToolHost
from services.tools.list_directory import LSTool
from services.tools.read_file import ReadFileTool
from services.tools.registry import ToolRegistry
from services.tools.replace import EditTool
from services.tools.shell import ShellTool
from services.tools.update_topic import UpdateTopicTool
from services.tools.write_file import WriteFileTool

__all__ = ["build_registry"]


def build_registry(host: ToolHost) -> ToolRegistry:
    """Make the registry of a session with every built-in tool that its settings allow.

    The topic tool is listed in `tools.core` by its class name only: upstream's oddity.
    """
    registry = ToolRegistry(host.settings, host.state, plans_folder=lambda: str(host.plans))
    registry.register(UpdateTopicTool(host), enabled_as=("UpdateTopicTool",))
    registry.register(LSTool(host))
    registry.register(ReadFileTool(host))
    registry.register(GrepTool(host))
    registry.register(GlobTool(host))
    registry.register(EditTool(host))
    registry.register(WriteFileTool(host))
    registry.register(ShellTool(host))
    return registry

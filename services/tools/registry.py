"""The registered tools of a session; only the active ones are listed and found.

Source: core `tools/tool-registry.ts`, `Config.createToolRegistry`.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

from services.settings import Settings
from services.state import ApprovalMode, SessionState
from services.tools.contract import Tool, as_server_tool
from services.wire import JsonObject

if TYPE_CHECKING:
    from _typeshed import SupportsRichComparison

__all__ = ["ALIASES", "AnnouncedTool", "Named", "ToolRegistry", "names_of"]

logger = logging.getLogger(__name__)

ALIASES: Final = {"search_file_content": "grep_search"}
"""Former names that models and rules may use → the tool's current name."""

_TOPIC: Final = "update_topic"
_ENTER_PLAN_MODE: Final = "enter_plan_mode"
_EXIT_PLAN_MODE: Final = "exit_plan_mode"
_EDITS: Final = frozenset({"write_file", "replace"})
_RESOURCES: Final = frozenset({"read_mcp_resource", "list_mcp_resources"})


def names_of(name: str) -> frozenset[str]:
    """`name`, its current name and every old name of the same tool."""
    current = ALIASES.get(name, name)
    old = {alias for alias, target in ALIASES.items() if target == current}
    return frozenset({name, current, *old})


class Named(Protocol):
    """A tool that a policy may exclude, registered or announced."""

    @property
    def name(self) -> str:
        """The name for the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnouncedTool:
    """A tool that is not implemented."""

    name: str
    listed_as: tuple[str, ...]
    """Its names in `core_tools` and `exclude_tools`."""
    after: str | None
    """The tool before it in the order."""


def _never(_: Named) -> bool:
    return False


async def _settled() -> None:
    """The wait of a session without MCP servers."""


class ToolRegistry:
    """Tools in order of registration; inactive ones are neither listed nor found.

    The setting `core_tools` decides at registration. `exclude_tools`, the approval mode and the
    policy's rules decide at each use.
    """

    def __init__(
        self,
        settings: Settings,
        state: SessionState,
        *,
        plans_folder: Callable[[], str] = str,
        excluded_too: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        """Make an empty registry.

        Args:
            settings: the session's settings.
            state: the session's state; its approval mode changes declarations.
            plans_folder: returns the folder for plans, which the edit tools' declarations name.
            excluded_too: returns what extensions exclude beside `exclude_tools`.
        """
        self._settings = settings
        self._state = state
        self._plans_folder = plans_folder
        self._excluded_too = excluded_too
        self._tools: dict[str, Tool] = {}
        self._announced: dict[str, AnnouncedTool] = {}
        self._excluded: Callable[[Named], bool] = _never
        self._changes = 0
        self._has_resources: Callable[[], bool] = lambda: False
        self._settled: Callable[[], Awaitable[None]] = _settled

    def register(
        self, tool: Tool, *, enabled_as: Iterable[str] = (), even_unlisted: bool = False
    ) -> None:
        """Add `tool`, replacing one of the same name in place.

        If `core_tools` is set, only the tools listed there are added. `enabled_as` are the tool's
        names in that list, by default its name and its class's. With `even_unlisted` the tool is
        added in any case.
        """
        if not even_unlisted and not self._listed(
            tuple(enabled_as) or (tool.name, type(tool).__name__)
        ):
            return
        if tool.name in self._tools:
            logger.warning('Tool with name "%s" is already registered. Overwriting.', tool.name)
        self._tools[tool.name] = tool
        self._changes += 1

    def announce(self, name: str, *, enabled_as: tuple[str, ...]) -> None:
        """Reserve the place of a tool of upstream that is not implemented.

        It is neither declared nor found. Its name is among the names for suggestions. `enabled_as`
        are its names in `core_tools`.
        """
        if self._listed(enabled_as):
            after = next(reversed(self._tools), None)
            self._announced[name] = AnnouncedTool(name=name, listed_as=enabled_as, after=after)

    def unregister(self, name: str) -> None:
        """Remove the tool called `name`, if there is one."""
        if self._tools.pop(name, None) is not None:
            self._changes += 1

    def emptied(self) -> ToolRegistry:
        """An empty registry for a subagent, with the same rules for active tools.

        The setting `main_agent_tools` and announced tools do not apply to it.
        """
        settings = self._settings
        if settings.main_agent_tools is not None:
            settings = replace(settings, main_agent_tools=None)
        registry = ToolRegistry(
            settings,
            self._state,
            plans_folder=self._plans_folder,
            excluded_too=self._excluded_too,
        )
        registry._excluded = self._excluded
        registry._has_resources = self._has_resources
        registry._settled = self._settled
        return registry

    def sort(self, rank: Callable[[Tool], SupportsRichComparison]) -> None:
        """Sort the tools by `rank`; equal ones keep their order."""
        self._tools = dict(sorted(self._tools.items(), key=lambda item: rank(item[1])))
        self._changes += 1

    def set_exclusion(self, excluded: Callable[[Named], bool]) -> None:
        """Let `excluded` decide which tools the policy denies for all arguments."""
        self._excluded = excluded

    def follow_servers(
        self, *, settled: Callable[[], Awaitable[None]], has_resources: Callable[[], bool]
    ) -> None:
        """Follow the MCP servers, which register their own tools.

        Args:
            settled: returns when no server's list is being fetched again.
            has_resources: whether the resource tools have anything to read.
        """
        self._settled = settled
        self._has_resources = has_resources

    @property
    def revision(self) -> tuple[int, bool, tuple[str, ...]]:
        """A value that changes with every added or removed tool, and with it the declarations."""
        return self._changes, self._has_resources(), tuple(self._excluded_too())

    async def settled(self) -> None:
        """Wait until the tools are complete for the next request to the model."""
        await self._settled()

    def get(self, name: str) -> Tool | None:
        """The active tool with the current or former name `name`."""
        tool = self._tools.get(name) or self._tools.get(ALIASES.get(name, name))
        return tool if tool is not None and self._active(tool) else None

    def active(self) -> list[Tool]:
        """The active tools, in order of registration."""
        return [tool for tool in self._tools.values() if self._active(tool)]

    def all_names(self) -> list[str]:
        """The names of the active and announced tools, in order of registration."""
        active = {tool.name for tool in self.active()}
        names: list[str] = []
        for place in (None, *self._tools):
            if place in active:
                names.append(place)
            names += [
                tool.name
                for tool in self._announced.values()
                if tool.after == place and self._to_be_active(tool)
            ]
        return names

    def declarations(self, model: str | None = None) -> list[JsonObject]:
        """The declarations of the active tools for `model`."""
        planning = self._state.approval_mode is ApprovalMode.PLAN
        return [
            self._for_plans(tool.declaration(model))
            if planning and tool.name in _EDITS
            else tool.declaration(model)
            for tool in self.active()
            if self._offered(tool)
        ]

    def _for_plans(self, declaration: JsonObject) -> JsonObject:
        folder = self._plans_folder()
        return {
            **declaration,
            "description": (
                f"ONLY FOR PLANS: {declaration['description']}. You are currently in Plan Mode "
                "and may ONLY use this tool to write or update plans (.md files) in the plans "
                f"directory: {folder}/. You cannot use this tool to modify source code directly."
            ),
        }

    def _active(self, tool: Tool) -> bool:
        if tool.name == _TOPIC and not self._settings.topic_update_narration:
            return False
        if tool.name in _RESOURCES and not self._has_resources():
            return False
        planning = self._state.approval_mode is ApprovalMode.PLAN
        if tool.name == (_ENTER_PLAN_MODE if planning else _EXIT_PLAN_MODE):
            return False
        of_server = as_server_tool(tool)
        names = (
            {*names_of(tool.name), type(tool).__name__}
            if of_server is None
            else of_server.excluded_by
        )
        if names & self._excluded_names():
            return False
        return not self._excluded(tool)

    def _offered(self, tool: Tool) -> bool:
        """Whether an active tool is declared to the main model, which may call any active one."""
        offered = self._settings.main_agent_tools
        if offered is None:
            return True
        kind = type(tool).__name__
        return any(entry in (tool.name, kind) or entry.startswith(f"{kind}(") for entry in offered)

    def _to_be_active(self, tool: AnnouncedTool) -> bool:
        if {tool.name, *tool.listed_as} & self._excluded_names():
            return False
        return not self._excluded(tool)

    def _excluded_names(self) -> set[str]:
        return {*self._settings.exclude_tools, *self._excluded_too()}

    def _listed(self, names: tuple[str, ...]) -> bool:
        core = self._settings.core_tools
        if core is None:
            return True
        return any(
            entry == name or entry.startswith(f"{name}(") for entry in core for name in names
        )

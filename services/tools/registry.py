"""The tools of a session: all that are registered, and which of them are active now.

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
"""Names that models and rules may still use → the tool's name now."""

_TOPIC: Final = "update_topic"
_EDITS: Final = frozenset({"write_file", "replace"})
_RESOURCES: Final = frozenset({"read_mcp_resource", "list_mcp_resources"})


def names_of(name: str) -> frozenset[str]:
    """`name`, its current name and every old name of the same tool."""
    current = ALIASES.get(name, name)
    old = {alias for alias, target in ALIASES.items() if target == current}
    return frozenset({name, current, *old})


class Named(Protocol):
    """What a policy excludes: a tool, here or still to come."""

    @property
    def name(self) -> str:
        """The name that the model calls it by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnouncedTool:
    """A tool that a later phase builds."""

    name: str
    listed_as: tuple[str, ...]
    """The names by which `core_tools` and `exclude_tools` speak of it."""
    modes: frozenset[ApprovalMode]
    after: str | None
    """The tool that it is listed after."""


def _never(_: Named) -> bool:
    return False


async def _settled() -> None:
    """What there is to wait for where no tool comes from elsewhere."""


class ToolRegistry:
    """Tools in order of registration; what is not active is neither listed nor found.

    Activity is asked for every time: it depends on the approval mode and on the policy's rules.
    Session settings (`core_tools`) decide at registration, `exclude_tools` and the policy later.
    """

    def __init__(
        self,
        settings: Settings,
        state: SessionState,
        *,
        plans_folder: Callable[[], str] | None = None,
    ) -> None:
        """Make an empty registry.

        Args:
            settings: the session's settings.
            state: the session's state; its approval mode changes declarations.
            plans_folder: where plan mode may write, for the declarations of the edit tools.
        """
        self._settings = settings
        self._state = state
        self._plans_folder = plans_folder
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

        With `core_tools` set, only a tool listed there is added; `enabled_as` are the names it is
        listed by: unless given, the tool's name and its class's. `even_unlisted` is for tools that
        the list does not speak of.
        """
        if not even_unlisted and not self._listed(
            tuple(enabled_as) or (tool.name, type(tool).__name__)
        ):
            return
        if tool.name in self._tools:
            logger.warning('Tool with name "%s" is already registered. Overwriting.', tool.name)
        self._tools[tool.name] = tool
        self._changes += 1

    def announce(
        self,
        name: str,
        *,
        enabled_as: tuple[str, ...],
        modes: frozenset[ApprovalMode] = frozenset(ApprovalMode),
    ) -> None:
        """Reserve the place of a tool that a later phase builds.

        It is neither declared nor found. Its name counts where names are compared with one that
        the model made up, so that those suggestions stay what they are when it is built.

        Args:
            name: the tool's name.
            enabled_as: the names by which `core_tools` lists it.
            modes: the approval modes in which it is active.
        """
        if self._listed(enabled_as):
            after = next(reversed(self._tools), None)
            self._announced[name] = AnnouncedTool(
                name=name, listed_as=enabled_as, modes=modes, after=after
            )

    def unregister(self, name: str) -> None:
        """Remove the tool called `name`, if there is one."""
        if self._tools.pop(name, None) is not None:
            self._changes += 1

    def emptied(self) -> ToolRegistry:
        """An agent's registry: without a tool yet, and what is active here is active there.

        What the main agent is offered, and what is only announced, is not its business.
        """
        settings = self._settings
        if settings.main_agent_tools is not None:
            settings = replace(settings, main_agent_tools=None)
        registry = ToolRegistry(settings, self._state, plans_folder=self._plans_folder)
        registry._excluded = self._excluded
        registry._has_resources = self._has_resources
        registry._settled = self._settled
        return registry

    def sort(self, rank: Callable[[Tool], SupportsRichComparison]) -> None:
        """Put the tools in order of `rank`; equals stay as they are."""
        self._tools = dict(sorted(self._tools.items(), key=lambda item: rank(item[1])))
        self._changes += 1

    def set_exclusion(self, excluded: Callable[[Named], bool]) -> None:
        """Let `excluded` decide which tools are denied whatever their arguments."""
        self._excluded = excluded

    def follow_servers(
        self, *, settled: Callable[[], Awaitable[None]], has_resources: Callable[[], bool]
    ) -> None:
        """Have MCP servers bring tools of their own.

        Args:
            settled: returns when no server's list is being fetched again.
            has_resources: whether there is anything for the resource tools to read.
        """
        self._settled = settled
        self._has_resources = has_resources

    @property
    def revision(self) -> tuple[int, bool]:
        """Another one whenever a tool has come or gone; declarations are good for one of them."""
        return self._changes, self._has_resources()

    async def settled(self) -> None:
        """Return when the tools are what they are to be for the next request to the model."""
        await self._settled()

    def get(self, name: str) -> Tool | None:
        """The active tool called `name`, now or formerly."""
        tool = self._tools.get(name) or self._tools.get(ALIASES.get(name, name))
        return tool if tool is not None and self._active(tool) else None

    def active(self) -> list[Tool]:
        """The active tools, in order of registration."""
        return [tool for tool in self._tools.values() if self._active(tool)]

    def all_names(self) -> list[str]:
        """The names of the active tools, and of those announced, in order of registration."""
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
        """What `model` is told of the active tools."""
        planning = self._state.approval_mode is ApprovalMode.PLAN
        return [
            self._for_plans(tool.declaration(model))
            if planning and tool.name in _EDITS
            else tool.declaration(model)
            for tool in self.active()
            if self._offered(tool)
        ]

    def _for_plans(self, declaration: JsonObject) -> JsonObject:
        folder = self._plans_folder() if self._plans_folder is not None else ""
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
        of_server = as_server_tool(tool)
        names = (
            {*names_of(tool.name), type(tool).__name__}
            if of_server is None
            else of_server.excluded_by
        )
        if names & set(self._settings.exclude_tools):
            return False
        return not self._excluded(tool)

    def _offered(self, tool: Tool) -> bool:
        """Whether the main loop's model is told of an active tool; it may call any all the same."""
        offered = self._settings.main_agent_tools
        if offered is None:
            return True
        kind = type(tool).__name__
        return any(entry in (tool.name, kind) or entry.startswith(f"{kind}(") for entry in offered)

    def _to_be_active(self, tool: AnnouncedTool) -> bool:
        if self._state.approval_mode not in tool.modes:
            return False
        if {tool.name, *tool.listed_as} & set(self._settings.exclude_tools):
            return False
        return not self._excluded(tool)

    def _listed(self, names: tuple[str, ...]) -> bool:
        core = self._settings.core_tools
        if core is None:
            return True
        return any(
            entry == name or entry.startswith(f"{name}(") for entry in core for name in names
        )

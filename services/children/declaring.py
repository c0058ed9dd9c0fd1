"""The tool declarations of a subagent's requests."""

from __future__ import annotations

from services.subagents.toolset import Toolset
from services.wire import JsonObject

__all__ = ["ChildDeclarations"]


class ChildDeclarations:
    """Made once for all requests, as upstream gives its list to the chat once."""

    def __init__(self, toolset: Toolset) -> None:
        self._toolset = toolset
        self._wire: list[JsonObject] | None = None

    def current(self, model: str) -> list[JsonObject]:
        """The `tools` of a request."""
        if self._wire is None:
            self._wire = [{"functionDeclarations": self._toolset.declarations()}]
        return self._wire

    def taken(self, model: str) -> list[JsonObject]:
        """The same."""
        return self.current(model)

"""`ToolDeclarations`: which tools a request declares, in one conversation.

Upstream keeps a list that it renews behind each request: what a change of approval mode allows or
forbids is declared from the second request after it on. Entering or leaving plan or yolo mode,
another model, tools that come or go, and a conversation begun anew renew it at once.

Source: core `core/client.ts` (`setTools`, `startChat`), `core/geminiChat.ts` (`onModelChanged`),
`config/config.ts` (`setApprovalMode`).
"""

from __future__ import annotations

from services.state import (
    ApprovalMode,
    ApprovalModeChanged,
    CoreEvent,
    CoreEvents,
    SessionState,
)
from services.tools.registry import ToolRegistry
from services.wire import JsonObject

__all__ = ["ToolDeclarations"]


class ToolDeclarations:
    """The declarations of one conversation; the same object as long as nothing changed."""

    def __init__(self, tools: ToolRegistry, state: SessionState, events: CoreEvents) -> None:
        """Follow the session's mode.

        Args:
            tools: what is declared.
            state: says which mode it is.
            events: tell when it has changed.
        """
        self._tools = tools
        self._state = state
        self._made_for: tuple[str, int, object] | None = None
        self._mode: ApprovalMode | None = None
        self._declared: list[JsonObject] = []
        events.subscribe(self._follow)

    def restart(self) -> None:
        """The conversation begins anew: forget what was declared."""
        self._made_for = None

    def current(self, model: str) -> list[JsonObject]:
        """What the next request to `model` declares: its `tools`."""
        made_for = (model, self._state.mode_breaks, self._tools.revision)
        if made_for != self._made_for:
            self._made_for = made_for
            self._renew(model)
        return self._declared

    def taken(self, model: str) -> list[JsonObject]:
        """The same, for a request that is made now: the ones after it know the mode of now."""
        declared = self.current(model)
        if self._mode is not self._state.approval_mode:
            self._renew(model)
        return declared

    def _follow(self, event: CoreEvent) -> None:
        """Renew where plan or yolo mode is entered or left: the mode of now counts, not a later."""
        if isinstance(event, ApprovalModeChanged) and self._made_for is not None:
            model, breaks, _ = self._made_for
            if breaks != self._state.mode_breaks:
                self.current(model)

    def _renew(self, model: str) -> None:
        self._mode = self._state.approval_mode
        self._declared = [{"functionDeclarations": self._tools.declarations(model)}]

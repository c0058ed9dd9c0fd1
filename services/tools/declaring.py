"""`ToolDeclarations`: which tools a request declares, in one conversation.

Upstream keeps a list that it renews behind each request: what a change of approval mode allows or
forbids is declared from the second request after it on. Entering or leaving plan or yolo mode,
another model, tools that come or go, and a conversation begun anew have the next turn renew it as
it begins, even a turn that is aborted before it asks the model.

Source: core `core/client.ts` (`setTools`, `startChat`, `processTurn`), `core/geminiChat.ts`
(`onModelChanged`), `config/config.ts` (`setApprovalMode`).
"""

from __future__ import annotations

from services.state import ApprovalMode, SessionState
from services.tools.registry import ToolRegistry
from services.wire import JsonObject

__all__ = ["ToolDeclarations"]


class ToolDeclarations:
    """The declarations of one conversation; the same object as long as nothing changed."""

    def __init__(self, tools: ToolRegistry, state: SessionState) -> None:
        """Follow the session's mode.

        Args:
            tools: what is declared.
            state: says which mode it is.
        """
        self._tools = tools
        self._state = state
        self._made_for: tuple[str, int, object] | None = None
        self._mode: ApprovalMode | None = None
        self._declared: list[JsonObject] = []

    def restart(self) -> None:
        """The conversation begins anew: forget what was declared."""
        self._made_for = None

    def current(self, model: str) -> list[JsonObject]:
        """What the next request to `model` declares: its `tools`.

        To be asked as each turn begins, once its model is chosen: what is in force then is declared
        until a request has been made, be it a later turn's.
        """
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

    def _renew(self, model: str) -> None:
        self._mode = self._state.approval_mode
        self._declared = [{"functionDeclarations": self._tools.declarations(model)}]

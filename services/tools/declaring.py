"""`ToolDeclarations`: the tools that the requests of one conversation declare.

Upstream renews its list after each request, so a change of the approval mode shows in the second
request after it. At the start of a turn the list is renewed too, if plan or yolo mode began or
ended, if the model or the tools changed, or if the conversation was restarted. This happens even in
a turn that is aborted before its request.

Source: core `core/client.ts` (`setTools`, `startChat`, `processTurn`), `core/geminiChat.ts`
(`onModelChanged`), `config/config.ts` (`setApprovalMode`).
"""

from __future__ import annotations

from services.state import ApprovalMode, SessionState
from services.tools.registry import ToolRegistry
from services.wire import JsonObject

__all__ = ["ToolDeclarations"]


class ToolDeclarations:
    """The declarations of one conversation; the same object until something changes."""

    def __init__(self, tools: ToolRegistry, state: SessionState) -> None:
        self._tools = tools
        self._state = state
        self._made_for: tuple[str, int, object] | None = None
        self._mode: ApprovalMode | None = None
        self._declared: list[JsonObject] = []

    def restart(self) -> None:
        """Forget the declarations: the conversation is restarted."""
        self._made_for = None

    def current(self, model: str) -> list[JsonObject]:
        """The `tools` of the next request to `model`.

        Call this at the start of each turn, after its model is chosen. The approval mode at that
        time counts until a request is made, in this turn or a later one.
        """
        made_for = (model, self._state.mode_breaks, self._tools.revision)
        if made_for != self._made_for:
            self._made_for = made_for
            self._renew(model)
        return self._declared

    def taken(self, model: str) -> list[JsonObject]:
        """The same for a request that is made now; later requests follow the current mode."""
        declared = self.current(model)
        if self._mode is not self._state.approval_mode:
            self._renew(model)
        return declared

    def _renew(self, model: str) -> None:
        self._mode = self._state.approval_mode
        self._declared = [{"functionDeclarations": self._tools.declarations(model)}]

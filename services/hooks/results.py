"""The output of an event's hooks, as callers use it.

Source: core `hooks/types.ts`, `hooks/hookSystem.ts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from services.hooks.events import HookEvent
from services.hooks.values import mapping
from services.wire import Json, JsonObject, js_text, js_trim, js_truthy

__all__ = ["HookOutput"]


class HookOutput:
    """The merged output of an event's hooks.

    Read `stops` before `blocks`: an output may do both, and stopping goes first.
    """

    __slots__ = ("_event", "_fields", "_specific")

    def __init__(self, event: HookEvent, fields: Mapping[str, Any]) -> None:
        self._event = event
        self._fields = fields
        self._specific: Mapping[str, Any] = mapping(fields.get("hookSpecificOutput"))

    @property
    def stops(self) -> bool:
        """The whole run is to end (`continue` is false)."""
        return self._fields.get("continue") is False

    @property
    def blocks(self) -> bool:
        """The request or call is refused (`decision` is `block` or `deny`)."""
        return self._fields.get("decision") in ("block", "deny")

    @property
    def asks(self) -> bool:
        """The user is to be asked (`decision` is `ask`)."""
        return bool(self._fields.get("decision") == "ask")

    @property
    def reason(self) -> str:
        """Why it stops or blocks; never empty."""
        for key in ("stopReason", "reason"):
            if js_truthy(self._fields.get(key)):
                return js_text(self._fields[key])
        return "No reason provided"

    @property
    def system_message(self) -> str | None:
        """The message for the user."""
        said = self._fields.get("systemMessage")
        return None if said is None else js_text(said)

    @property
    def shown_reason(self) -> str:
        """The reason for clients: the message for the user, or else `reason`."""
        return js_trim(self.system_message or "") or self.reason

    @property
    def suppress_output(self) -> bool:
        """The message is not for the debug log. Nothing else depends on it."""
        return js_truthy(self._fields.get("suppressOutput"))

    @property
    def additional_context(self) -> str | None:
        """Text for the model, its angle brackets escaped; may be empty."""
        said = self._specific.get("additionalContext")
        if not isinstance(said, str):
            return None
        return said.replace("<", "&lt;").replace(">", "&gt;")

    @property
    def clears_context(self) -> bool:
        """AfterAgent: the chat is to be reset."""
        return self._event is HookEvent.AFTER_AGENT and self._specific.get("clearContext") is True

    @property
    def tool_input(self) -> JsonObject | None:
        """BeforeTool: the arguments to use instead, all of them."""
        return self._object("tool_input") if self._event is HookEvent.BEFORE_TOOL else None

    @property
    def tail_tool_call(self) -> JsonObject | None:
        """AfterTool: `{name, args}` of the call whose result replaces this one's."""
        return self._object("tailToolCallRequest")

    def specific(self, key: str) -> Json:
        """A field of the event's own."""
        return self._specific.get(key)

    def _object(self, key: str) -> JsonObject | None:
        value = self._specific.get(key)
        return value if isinstance(value, dict) else None

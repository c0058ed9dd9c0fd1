"""A tool call as the members of ACP updates.

Source: `packages/cli` `acp/acpUtils.ts` (`toToolCallContent`, `toAcpToolKind`), `acp/acpSession.ts`
(`runTool`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from services.scheduler.states import ToolCall
from services.tools.contract import (
    ConfirmationDetails,
    LocatedInvocation,
    TitledInvocation,
    Tool,
    ToolKind,
)
from services.wire import Json, JsonObject

__all__ = [
    "asked_call",
    "call_shown",
    "content_of",
    "explained",
    "failed_update",
    "kind_of",
    "plan_of",
    "text_content",
]

_OTHER: Final = (ToolKind.PLAN, ToolKind.COMMUNICATE)
_TODO_STATES: Final[Mapping[str, str]] = {
    "pending": "pending",
    "blocked": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
}
"""The states of tasks that have one in ACP; a cancelled task has none."""


def kind_of(tool: Tool | None) -> str:
    """The kind of a tool, which clients draw as an icon."""
    if tool is None or tool.kind in _OTHER:
        return "other"
    return "think" if tool.kind is ToolKind.AGENT else str(tool.kind)


def text_content(text: str) -> JsonObject:
    """One text in the content of a call."""
    return {"type": "content", "content": {"type": "text", "text": text}}


def call_shown(call: ToolCall) -> JsonObject:
    """The call's title, files and kind."""
    title = call.name if call.invocation is None else call.invocation.description()
    found: object = call.invocation
    if isinstance(found, TitledInvocation):
        title = found.display_title()
    return {
        "toolCallId": call.call_id,
        "title": title,
        "locations": found.locations() if isinstance(found, LocatedInvocation) else [],
        "kind": kind_of(call.tool),
    }


def explained(call: ToolCall) -> list[JsonObject]:
    """The content of a call that has no result yet."""
    found: object = call.invocation
    words = found.explanation() if isinstance(found, TitledInvocation) else ""
    return [text_content(words)] if words else []


def asked_call(call: ToolCall, details: ConfirmationDetails) -> JsonObject:
    """The call in a question about it; an edit has its change."""
    content = explained(call)
    if details.type == "edit":
        content = [_diff(details.fields, str(details.fields.get("filePath") or ""))]
    return {**call_shown(call), "status": "pending", "content": content}


def content_of(display: Json) -> list[JsonObject]:
    """The content of an ended call: its text, or its change."""
    if isinstance(display, str) and display:
        return [text_content(display)]
    if isinstance(display, dict) and "fileName" in display:
        return [_diff(display, str(display.get("filePath") or display["fileName"]))]
    return []


def failed_update(call_id: str, tool: Tool | None, message: str) -> JsonObject:
    """The update of a call that failed."""
    return {
        "sessionUpdate": "tool_call_update",
        "toolCallId": call_id,
        "status": "failed",
        "content": [text_content(message)],
        "kind": kind_of(tool),
    }


def plan_of(display: Json) -> JsonObject | None:
    """The plan in the result of a tool that writes the list of tasks; `None` for other results."""
    todos = display.get("todos") if isinstance(display, dict) else None
    if not isinstance(todos, list):
        return None
    entries: list[Json] = []
    for todo in todos:
        status = _TODO_STATES.get(str(todo.get("status"))) if isinstance(todo, dict) else None
        if status is not None:
            words = str(todo.get("description"))
            entries.append({"content": words, "priority": "medium", "status": status})
    return {"sessionUpdate": "plan", "entries": entries}


def _diff(change: Mapping[str, Any], path: str) -> JsonObject:
    before, after = change.get("originalContent"), change.get("newContent")
    kind = "add" if not before else "delete" if after == "" else "modify"
    return {
        "type": "diff",
        "path": path,
        "oldText": before,
        "newText": after,
        "_meta": {"kind": kind},
    }

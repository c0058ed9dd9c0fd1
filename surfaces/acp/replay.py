"""The updates that show a client a conversation of the past.

Source: `packages/cli` `acp/acpSession.ts` (`streamHistory`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from services.model.parts import part_list_to_string
from services.tools.contract import Tool
from services.wire import JsonObject
from surfaces.acp.call_updates import content_of, kind_of
from surfaces.acp.outbox import text_chunk
from surfaces.commands.histories import is_own_text

__all__ = ["replayed"]


def replayed(
    messages: Iterable[JsonObject], find_tool: Callable[[str], Tool | None]
) -> Iterator[JsonObject]:
    """The updates for the messages of a chat recording, oldest first.

    What the program wrote in the user's place is left out, and so is what has another shape: a
    recording may come from another program.
    """
    for message in messages:
        text = _text(message.get("content"))
        if message.get("type") == "user" and text.strip() and not is_own_text(text):
            yield text_chunk("user_message_chunk", text)
        if message.get("type") != "gemini":
            continue
        for thought in _objects(message.get("thoughts")):
            words = f"**{thought.get('subject', '')}**\n{thought.get('description', '')}"
            yield text_chunk("agent_thought_chunk", words)
        if text.strip():
            yield text_chunk("agent_message_chunk", text)
        for call in _objects(message.get("toolCalls")):
            yield _call(call, find_tool)


def _call(call: JsonObject, find_tool: Callable[[str], Tool | None]) -> JsonObject:
    name = str(call.get("name"))
    return {
        "sessionUpdate": "tool_call",
        "toolCallId": str(call.get("id")),
        "status": "completed" if call.get("status") == "success" else "failed",
        "title": str(call.get("displayName") or name),
        "content": content_of(call.get("resultDisplay")),
        "kind": kind_of(find_tool(name)),
    }


def _text(content: Any) -> str:
    parts = content if isinstance(content, list) else [content]
    if not all(isinstance(part, str | dict) for part in parts):
        return ""
    return part_list_to_string(parts, verbose=True)


def _objects(value: Any) -> list[JsonObject]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []

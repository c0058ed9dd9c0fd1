"""Tool calls and token counts in the form of a recording.

Source: core `services/chatRecordingService.ts` (`recordToolCalls`, `recordMessageTokens`),
`core/geminiChat.ts` (`recordCompletedToolCalls`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from services.recording.records import tool_calls_of
from services.scheduler.calls import CompletedToolCall
from services.tools.contract import Tool
from services.wire import JsonObject, js_trim

__all__ = ["merged_tool_calls", "token_record", "tool_record"]

_TOKENS: Final = (
    ("input", "promptTokenCount"),
    ("output", "candidatesTokenCount"),
    ("cached", "cachedContentTokenCount"),
    ("thoughts", "thoughtsTokenCount"),
    ("tool", "toolUsePromptTokenCount"),
    ("total", "totalTokenCount"),
)


def tool_record(
    call: CompletedToolCall, find_tool: Callable[[str], Tool | None], timestamp: str
) -> JsonObject:
    """The record of a completed call, with what the registry knows of its tool."""
    request = call.request
    name = request.shown_name
    tool = find_tool(name)
    description = call.invocation.description() if call.invocation else ""
    record: JsonObject = {
        "id": request.call_id,
        "name": name,
        "args": request.original_request_args or request.args,
        "result": list(call.response.response_parts),
        "status": str(call.status),
        "timestamp": timestamp,
    }
    agent_id = (call.response.data or {}).get("agentId")
    if isinstance(agent_id, str):
        record["agentId"] = agent_id
    if isinstance(call.response.result_display, (str, dict, list)):
        record["resultDisplay"] = call.response.result_display
    record["description"] = js_trim(description) or (tool.description if tool else "")
    record["displayName"] = tool.display_name if tool and tool.display_name else name
    record["renderOutputAsMarkdown"] = bool(tool and tool.is_output_markdown)
    return record


def token_record(usage: JsonObject) -> JsonObject:
    """A response's `usageMetadata` under the recording's names; what it lacks is 0."""
    return {name: usage.get(count) or 0 for name, count in _TOKENS}


def merged_tool_calls(message: JsonObject, records: Iterable[JsonObject]) -> list[JsonObject]:
    """The message's tool calls with `records` put over those of the same id, or at the end."""
    merged = list(tool_calls_of(message))
    places: dict[str, int] = {}
    for place, old in enumerate(merged):
        # A recording to resume from may hold anything as an id.
        if isinstance(old.get("id"), str):
            places.setdefault(old["id"], place)
    for record in records:
        known = places.setdefault(record["id"], len(merged))
        if known == len(merged):
            merged.append(record)
        else:
            merged[known] = {**merged[known], **record}
    return merged

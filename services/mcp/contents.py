"""A server's tool result, for the model and for the user.

Source: core `tools/mcp-tool.ts` (`transformMcpContentToParts`, `getStringifiedResultForDisplay`).
"""

from __future__ import annotations

from services.tools.texts import wrap_untrusted
from services.wire import Json, JsonObject, Part, js_json_pretty

__all__ = ["is_tool_error", "parts_of", "shown_result"]


def is_tool_error(response: JsonObject) -> bool:
    """True when the server or the connection reports a failed call."""
    error = response.get("error")
    return _is_set(response) or (isinstance(error, dict) and _is_set(error))


def _is_set(flagged: JsonObject) -> bool:
    flag: Json = flagged.get("isError")
    return flag is True or flag == "true"


def parts_of(response: JsonObject, tool: str) -> list[Part]:
    """The blocks of `response` as parts: texts marked as untrusted, media announced.

    Args:
        response: the result of `tools/call`, checked.
        tool: the server's own name for the tool.
    """
    content = response.get("content")
    if not isinstance(content, list):
        return [{"text": "[Error: Could not parse tool response]"}]
    return [part for block in content for part in _block_parts(block, tool)]


def shown_result(response: JsonObject, tool: str) -> str:
    """The blocks of `response` as lines for the user; media by type only."""
    content = response.get("content")
    if not isinstance(content, list):
        parts = [{"functionResponse": {"name": tool, "response": response}}]
        return f"```json\n{js_json_pretty(parts)}\n```"
    return "\n".join(_block_line(block) for block in content)


def _block_parts(block: JsonObject, tool: str) -> list[Part]:
    kind = block.get("type")
    if kind == "text":
        return [{"text": wrap_untrusted(block["text"])}]
    if kind in ("image", "audio"):
        return _media(f"{kind} data", block["mimeType"], block["data"], tool)
    if kind == "resource":
        resource: JsonObject = block.get("resource") or {}
        if resource.get("text"):
            return [{"text": wrap_untrusted(resource["text"])}]
        if resource.get("blob"):
            mime = resource.get("mimeType") or "application/octet-stream"
            return _media("embedded resource", mime, resource["blob"], tool)
    if kind == "resource_link":
        return [{"text": f"Resource Link: {_title(block)} at {block['uri']}"}]
    return []


def _media(what: str, mime: str, data: str, tool: str) -> list[Part]:
    return [
        {"text": f"[Tool '{tool}' provided the following {what} with mime-type: {mime}]"},
        {"inlineData": {"mimeType": mime, "data": data}},
    ]


def _block_line(block: JsonObject) -> str:
    kind = block.get("type")
    if kind == "text":
        return str(block["text"])
    if kind == "image":
        return f"[Image: {block['mimeType']}]"
    if kind == "audio":
        return f"[Audio: {block['mimeType']}]"
    if kind == "resource_link":
        return f"[Link to {_title(block)}: {block['uri']}]"
    if kind == "resource":
        resource: JsonObject = block.get("resource") or {}
        text: Json = resource.get("text")
        return (
            str(text)
            if text
            else (f"[Embedded Resource: {resource.get('mimeType') or 'unknown type'}]")
        )
    return f"[Unknown content type: {kind}]"


def _title(block: JsonObject) -> str:
    return str(block.get("title") or block["name"])

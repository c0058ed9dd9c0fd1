"""The shapes of a server's answers.

Source: the MCP TypeScript SDK's `types`, protocol version 2025-06-18.
"""

from __future__ import annotations

from typing import Final

from services.mcp.json_text import parse_json
from services.mcp.shapes import (
    ArrayOf,
    Base64Text,
    Boolean,
    Literal,
    MapOf,
    Object,
    Open,
    Shape,
    Text,
    Union,
    Unknown,
    checked,
)
from services.wire import Json, JsonObject

__all__ = [
    "CALL_TOOL",
    "GET_PROMPT",
    "INITIALIZE",
    "LIST_PROMPTS",
    "LIST_RESOURCES",
    "LIST_TOOLS",
    "PROTOCOL_VERSION",
    "READ_RESOURCE",
    "SUPPORTED_VERSIONS",
    "checked",
    "compliant",
]

PROTOCOL_VERSION: Final = "2025-06-18"
SUPPORTED_VERSIONS: Final = (PROTOCOL_VERSION, "2025-03-26", "2024-11-05", "2024-10-07")

_TEXT: Final = Text()
_ANY_MAP: Final = MapOf(Unknown())
_LOOSE: Final = Object(loose=True)
_ICONS: Final = ArrayOf(Object({"src": _TEXT}, {"mimeType": _TEXT, "sizes": ArrayOf(_TEXT)}))
_NAMED: Final[dict[str, Shape]] = {"title": _TEXT, "icons": _ICONS}


def _result(
    required: dict[str, Shape],
    optional: dict[str, Shape] | None = None,
    *,
    first: tuple[str, ...] = (),
) -> Object:
    return Object(
        required,
        {"_meta": _ANY_MAP, **(optional or {})},
        order=("_meta", *first),
        loose=True,
    )


_RESOURCE_FIELDS: Final[dict[str, Shape]] = {
    **_NAMED,
    "description": _TEXT,
    "mimeType": _TEXT,
    "_meta": _LOOSE,
}
_RESOURCE_ORDER: Final = ("name", "title", "icons", "uri", "description", "mimeType", "_meta")
_RESOURCE: Final = Object({"name": _TEXT, "uri": _TEXT}, _RESOURCE_FIELDS, order=_RESOURCE_ORDER)
_CONTENTS_ORDER: Final = ("uri", "mimeType", "_meta")
_CONTENTS: Final = Union(
    Object(
        {"uri": _TEXT, "text": _TEXT},
        {"mimeType": _TEXT, "_meta": _ANY_MAP},
        order=_CONTENTS_ORDER,
    ),
    Object(
        {"uri": _TEXT, "blob": Base64Text()},
        {"mimeType": _TEXT, "_meta": _ANY_MAP},
        order=_CONTENTS_ORDER,
    ),
)
_BLOCK_META: Final[dict[str, Shape]] = {"_meta": _ANY_MAP}


def _media(kind: str) -> Object:
    return Object({"type": Literal(kind), "data": Base64Text(), "mimeType": _TEXT}, _BLOCK_META)


_BLOCK: Final = Union(
    Object({"type": Literal("text"), "text": _TEXT}, _BLOCK_META),
    _media("image"),
    _media("audio"),
    Object(
        {"name": _TEXT, "uri": _TEXT, "type": Literal("resource_link")},
        _RESOURCE_FIELDS,
        order=(*_RESOURCE_ORDER, "type"),
    ),
    Object({"type": Literal("resource"), "resource": _CONTENTS}, _BLOCK_META),
)
_SCHEMA: Final = Object(
    {"type": Literal("object")},
    {"properties": MapOf(Open()), "required": ArrayOf(_TEXT)},
    loose=True,
)
_TOOL: Final = Object(
    {"name": _TEXT, "inputSchema": _SCHEMA},
    {
        **_NAMED,
        "description": _TEXT,
        "outputSchema": _SCHEMA,
        "annotations": Object(
            optional={
                "title": _TEXT,
                "readOnlyHint": Boolean(),
                "destructiveHint": Boolean(),
                "idempotentHint": Boolean(),
                "openWorldHint": Boolean(),
            }
        ),
        "_meta": _ANY_MAP,
    },
    order=("name", "title", "icons", "description", "inputSchema"),
)
_PROMPT: Final = Object(
    {"name": _TEXT},
    {
        **_NAMED,
        "description": _TEXT,
        "arguments": ArrayOf(
            Object({"name": _TEXT}, {"description": _TEXT, "required": Boolean()})
        ),
        "_meta": _LOOSE,
    },
)
_PAGE: Final[dict[str, Shape]] = {"nextCursor": _TEXT}
_CHANGES: Final = Object(optional={"listChanged": Boolean()})

INITIALIZE: Final = _result(
    {
        "protocolVersion": _TEXT,
        "capabilities": Object(
            optional={
                "experimental": MapOf(Open()),
                "logging": Open(),
                "completions": Open(),
                "prompts": _CHANGES,
                "resources": Object(optional={"subscribe": Boolean(), "listChanged": Boolean()}),
                "tools": _CHANGES,
            }
        ),
        "serverInfo": Object(
            {"name": _TEXT, "version": _TEXT},
            {**_NAMED, "websiteUrl": _TEXT},
            order=("name", "title", "icons", "version"),
        ),
    },
    {"instructions": _TEXT},
)
LIST_TOOLS: Final = _result({"tools": ArrayOf(_TOOL)}, _PAGE, first=("nextCursor",))
LIST_PROMPTS: Final = _result({"prompts": ArrayOf(_PROMPT)}, _PAGE, first=("nextCursor",))
LIST_RESOURCES: Final = _result({"resources": ArrayOf(_RESOURCE)}, _PAGE, first=("nextCursor",))
READ_RESOURCE: Final = _result({"contents": ArrayOf(_CONTENTS)})
GET_PROMPT: Final = _result(
    {"messages": ArrayOf(Object({"role": Literal("user", "assistant"), "content": _BLOCK}))},
    {"description": _TEXT},
    first=("description",),
)
CALL_TOOL: Final = Object(
    {"content": ArrayOf(_BLOCK)},
    {"_meta": _ANY_MAP, "structuredContent": _ANY_MAP, "isError": Boolean()},
    order=("_meta", "content", "structuredContent", "isError"),
    defaults={"content": []},
    loose=True,
)


def compliant(result: JsonObject) -> JsonObject:
    """`result` with `structuredContent` from the JSON in its first text, where it has none.

    Whatever the JSON is becomes the content, a number too; the shape then refuses it.
    Source: core `tools/mcp-compliance-transport.ts`.
    """
    content = result.get("content")
    if not isinstance(content, list) or not content or _truthy(result.get("structuredContent")):
        return result
    first = content[0]
    text = first.get("text") if isinstance(first, dict) and first.get("type") == "text" else None
    if not isinstance(text, str):
        return result
    try:
        return {**result, "structuredContent": parse_json(text)}
    except ValueError:
        return result


def _truthy(value: Json) -> bool:
    """As JavaScript asks: empty lists and objects count."""
    return isinstance(value, (dict, list)) or bool(value)

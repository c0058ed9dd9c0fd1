"""The shapes of a server's answers.

Source: the MCP TypeScript SDK's `types`, protocol version 2025-06-18.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from services.mcp.json_text import parse_json
from services.wire import Json, JsonObject, js_json_pretty
from services.zod import ZOD4, Issue, Path, Shape

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
    "ShapeError",
    "checked",
    "compliant",
]

PROTOCOL_VERSION: Final = "2025-06-18"
SUPPORTED_VERSIONS: Final = (PROTOCOL_VERSION, "2025-03-26", "2024-11-05", "2024-10-07")


class ShapeError(Exception):
    """A value of another shape; the message is the list of issues as JSON."""

    def __init__(self, issues: Sequence[Issue]) -> None:
        self.issues = tuple(issue.to_json() for issue in issues)
        super().__init__(js_json_pretty(list(self.issues)))


def checked(shape: Shape, value: Json) -> Json:
    """`value` as `shape` returns it.

    Raises:
        ShapeError: it has another shape.
    """
    issues: list[Issue] = []
    passed = shape(value, (), issues)
    if issues:
        raise ShapeError(issues)
    return passed


def _is_base64(value: Json) -> bool:
    """Whether `atob` accepts it: base64 with or without padding, white space ignored."""
    bare = re.sub(r"[\t\n\f\r ]", "", value)
    if len(bare) % 4 == 0:
        bare = re.sub(r"={1,2}\Z", "", bare)
    return len(bare) % 4 != 1 and _NOT_BASE64.search(bare) is None


def _base64(value: Json, path: Path, issues: list[Issue]) -> Json:
    shape = _TEXT
    if isinstance(value, str):
        shape = ZOD4.custom(_is_base64, "Invalid Base64 string")
    return shape(value, path, issues)


def _maybe(**fields: Shape) -> dict[str, Shape]:
    return {name: ZOD4.optional(shape) for name, shape in fields.items()}


_NOT_BASE64: Final = re.compile(r"[^A-Za-z0-9+/]")
_TEXT: Final = ZOD4.text()
_TEXTS: Final = ZOD4.array(_TEXT)
_FLAG: Final = ZOD4.boolean()
_OPEN: Final = ZOD4.custom(lambda value: isinstance(value, (dict, list)), "Invalid input")
"""Any object, kept whole (or an array, as JavaScript has it): the SDK's asserted object."""
_ANY_MAP: Final = ZOD4.record(ZOD4.anything())
_META: Final = _maybe(_meta=_ANY_MAP)
_LOOSE_META: Final = _maybe(_meta=ZOD4.mapping({}, loose=True))
_ICON: Final = ZOD4.mapping({"src": _TEXT, **_maybe(mimeType=_TEXT, sizes=_TEXTS)})
_NAMED: Final = {"name": _TEXT, **_maybe(title=_TEXT, icons=ZOD4.array(_ICON))}
_DESCRIBED: Final = _maybe(description=_TEXT)
_RESOURCE_FIELDS: Final = {
    **_NAMED,
    "uri": _TEXT,
    **_DESCRIBED,
    **_maybe(mimeType=_TEXT),
    **_LOOSE_META,
}
_CONTENTS_FIELDS: Final = {"uri": _TEXT, **_maybe(mimeType=_TEXT), **_META}
_CONTENTS: Final = ZOD4.union(
    ZOD4.mapping({**_CONTENTS_FIELDS, "text": _TEXT}),
    ZOD4.mapping({**_CONTENTS_FIELDS, "blob": _base64}),
)


def _typed(kind: str, **fields: Shape) -> Shape:
    return ZOD4.mapping({"type": ZOD4.literal(kind), **fields, **_META})


_BLOCK: Final = ZOD4.union(
    _typed("text", text=_TEXT),
    _typed("image", data=_base64, mimeType=_TEXT),
    _typed("audio", data=_base64, mimeType=_TEXT),
    ZOD4.mapping({**_RESOURCE_FIELDS, "type": ZOD4.literal("resource_link")}),
    _typed("resource", resource=_CONTENTS),
)
_SCHEMA: Final = ZOD4.mapping(
    {
        "type": ZOD4.literal("object"),
        **_maybe(properties=ZOD4.record(_OPEN), required=_TEXTS),
    },
    loose=True,
)
_ANNOTATIONS: Final = ZOD4.mapping(
    _maybe(
        title=_TEXT,
        readOnlyHint=_FLAG,
        destructiveHint=_FLAG,
        idempotentHint=_FLAG,
        openWorldHint=_FLAG,
    )
)
_TOOL: Final = ZOD4.mapping(
    {
        **_NAMED,
        **_DESCRIBED,
        "inputSchema": _SCHEMA,
        **_maybe(outputSchema=_SCHEMA, annotations=_ANNOTATIONS),
        **_META,
    }
)
_ARGUMENT: Final = ZOD4.mapping({"name": _TEXT, **_maybe(description=_TEXT, required=_FLAG)})
_PROMPT: Final = ZOD4.mapping(
    {**_NAMED, **_DESCRIBED, **_maybe(arguments=ZOD4.array(_ARGUMENT)), **_LOOSE_META}
)
_CHANGES: Final = ZOD4.mapping(_maybe(listChanged=_FLAG))
_CAPABILITIES: Final = ZOD4.mapping(
    _maybe(
        experimental=ZOD4.record(_OPEN),
        logging=_OPEN,
        completions=_OPEN,
        prompts=_CHANGES,
        resources=ZOD4.mapping(_maybe(subscribe=_FLAG, listChanged=_FLAG)),
        tools=_CHANGES,
    )
)
_SERVER: Final = ZOD4.mapping({**_NAMED, "version": _TEXT, **_maybe(websiteUrl=_TEXT)})
_MESSAGE: Final = ZOD4.mapping({"role": ZOD4.one_of("user", "assistant"), "content": _BLOCK})


def _result(fields: dict[str, Shape]) -> Shape:
    return ZOD4.mapping({**_META, **fields}, loose=True)


def _page(**items: Shape) -> Shape:
    lists = {name: ZOD4.array(item) for name, item in items.items()}
    return _result({**_maybe(nextCursor=_TEXT), **lists})


INITIALIZE: Final = _result(
    {
        "protocolVersion": _TEXT,
        "capabilities": _CAPABILITIES,
        "serverInfo": _SERVER,
        **_maybe(instructions=_TEXT),
    }
)
LIST_TOOLS: Final = _page(tools=_TOOL)
LIST_PROMPTS: Final = _page(prompts=_PROMPT)
LIST_RESOURCES: Final = _page(resources=ZOD4.mapping(_RESOURCE_FIELDS))
READ_RESOURCE: Final = _result({"contents": ZOD4.array(_CONTENTS)})
GET_PROMPT: Final = _result({**_DESCRIBED, "messages": ZOD4.array(_MESSAGE)})
CALL_TOOL: Final = _result(
    {
        "content": ZOD4.default(ZOD4.array(_BLOCK), []),
        **_maybe(structuredContent=_ANY_MAP, isError=_FLAG),
    }
)


def compliant(result: JsonObject) -> JsonObject:
    """`result` with `structuredContent` from the JSON in its first text, where it has none.

    Any JSON becomes the content; the shape then refuses what is no object.
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

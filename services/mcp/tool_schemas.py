"""The parameters of a server's tool: for the model, and for the validation of arguments.

Source: core `tools/mcp-client.ts` (`discoverTools`), `tools/tools.ts`
(`addWaitForPreviousParameter`).
"""

from __future__ import annotations

from typing import Final

from services.wire import Json, JsonObject

__all__ = ["judging_schema", "nullable_schema", "with_wait_parameter"]

_WAIT: Final = {
    "type": "boolean",
    "description": (
        "Set to true to wait for all previously requested tools in this turn to complete before "
        "starting. Set to false (or omit) to run in parallel. Use true when this tool depends on "
        "the output of previous tools."
    ),
}


def nullable_schema(schema: Json) -> Json:
    """`schema` with every `type: [x, null]` as `type: x, nullable: true`."""
    if isinstance(schema, list):
        return [nullable_schema(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    changed = dict(schema)
    kinds = changed.get("type")
    if isinstance(kinds, list) and len(kinds) == 2 and "null" in kinds:
        other = kinds[1 - kinds.index("null")]
        if isinstance(other, str):
            changed["type"] = other
            changed["nullable"] = True
    return {key: nullable_schema(value) for key, value in changed.items()}


def judging_schema(schema: Json) -> Json:
    """`schema` with every `nullable: true` as a type that includes null, for the validator."""
    if isinstance(schema, list):
        return [judging_schema(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    changed = {key: judging_schema(value) for key, value in schema.items()}
    if schema.get("nullable") is True and isinstance(schema.get("type"), str):
        changed["type"] = [schema["type"], "null"]
    return changed


def with_wait_parameter(schema: JsonObject) -> JsonObject:
    """`schema` with the parameter `wait_for_previous`, by which a model orders its calls."""
    if schema.get("type") != "object":
        return schema
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        return schema
    return {**schema, "properties": {**properties, "wait_for_previous": _WAIT}}

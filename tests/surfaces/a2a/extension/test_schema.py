"""Section 3.2, "Schema Definitions": the messages, both directions."""

import re
from pathlib import Path
from typing import Any

import pytest

from surfaces.a2a.extension import schema
from surfaces.a2a.extension.schema import Schema
from surfaces.a2a.wire import RpcError

DOCUMENT = Path(__file__).parents[5] / "shared" / "sources" / "a2a_development_tool_extension.txt"
SCHEMAS = {name: getattr(schema, name) for name in schema.__all__}
CALL = {"toolCallId": "1", "status": "PENDING", "toolName": "t", "inputParameters": {"a": [1]}}
MCP = {"serverName": "s", "toolName": "t"}
FILE = {"fileName": "a", "filePath": "/a", "newContent": "x"}


def test_3_2_schema_agent_settings() -> None:
    read = schema.AgentSettings.read({"workspace_path": "/w", "mcpServers": {}})

    assert read.on_wire() == {"workspacePath": "/w"}


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("ToolCall", {**CALL, "description": "d", "liveContent": "l"}),
        ("ToolCall", {**CALL, "status": "SUCCEEDED", "output": {"text": ""}}),
        ("ToolCall", {**CALL, "status": "SUCCEEDED", "output": {"structuredData": {"a": None}}}),
        (
            "ToolCall",
            {**CALL, "output": {"diff": {**FILE, "oldContent": "", "formattedDiff": "-"}}},
        ),
        ("ToolCall", {**CALL, "error": {"message": "m", "type": "t", "statusCode": 4}}),
        ("ConfirmationRequest", {"options": [{"id": "a", "name": "b", "description": "c"}]}),
        (
            "ConfirmationRequest",
            {"options": [], "executeDetails": {"command": "c", "workingDirectory": "/"}},
        ),
        ("ConfirmationRequest", {"options": [], "fileEditDetails": FILE}),
        (
            "ConfirmationRequest",
            {"options": [], "mcpDetails": MCP},
        ),
        ("ConfirmationRequest", {"options": [], "genericDetails": {"description": "d"}}),
        ("AgentThought", {"subject": "s", "description": "d"}),
        ("DevelopmentToolEvent", {"kind": "THOUGHT", "model": "m", "userTier": "u", "error": "e"}),
        (
            "ToolCallConfirmation",
            {"toolCallId": "1", "selectedOptionId": "o", "fileDetails": {"newContent": "n"}},
        ),
    ],
)
def test_3_2_schema_both_directions(name: str, document: dict[str, Any]) -> None:
    message: type[Schema] = SCHEMAS[name]

    assert message.read(document).on_wire() == document


@pytest.mark.parametrize(
    ("name", "document", "where"),
    [
        ("ToolCall", {**CALL, "status": "pending"}, "ToolCall.status"),
        ("ToolCall", {**CALL, "status": "STATUS_UNSPECIFIED"}, "ToolCall.status"),
        ("ToolCall", {**CALL, "output": {"text": "a"}, "error": {"message": "m"}}, "output, error"),
        ("ToolCall", {**CALL, "output": {"text": "", "structuredData": {}}}, "only one of"),
        ("ToolCall", {**CALL, "unknown": 1}, "ToolCall.unknown"),
        ("ErrorDetails", {"message": "m", "statusCode": 2**31}, "ErrorDetails.statusCode"),
        (
            "ConfirmationRequest",
            {
                "genericDetails": {"description": ""},
                "mcpDetails": MCP,
            },
            "only one of",
        ),
        ("ToolCallConfirmation", {"toolCallId": "1"}, "selectedOptionId"),
        ("ToolCallConfirmation", {"toolCallId": 1, "selectedOptionId": "o"}, "toolCallId"),
        ("AgentSettings", {"workspacePath": 5}, "AgentSettings.workspacePath"),
        ("AgentSettings", "/w", "AgentSettings"),
        ("DevelopmentToolEvent", {"kind": "NONE", "model": "m"}, "DevelopmentToolEvent.kind"),
    ],
)
def test_3_2_schema_refuses(name: str, document: Any, where: str) -> None:
    with pytest.raises(RpcError, match=re.escape(where)) as caught:
        SCHEMAS[name].read(document)

    assert caught.value.code == -32602


def test_3_2_schema_has_every_field_of_the_document() -> None:
    if not DOCUMENT.exists():
        pytest.skip("the specification is not beside the repository")
    text = re.sub(r"^\|\|?", "", DOCUMENT.read_text(), flags=re.MULTILINE)
    section = text[text.index("### 3.2") : text.index("### 3.3")]
    messages = re.findall(r"^message (\w+) \{((?:[^{}]|\{[^{}]*\})*)\}", section, re.MULTILINE)
    found = {
        name: set(re.findall(r"(\w+) = \d+;", re.sub(r"enum \w+ \{[^}]*\}", "", body)))
        for name, body in messages
    }

    assert len(found) == 14
    assert {name: set(SCHEMAS[name].model_fields) for name in found} == found

"""Section 3.2, "Schema Definitions": the messages, both directions."""

import re
from enum import StrEnum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.json_format import ParseError

from surfaces.a2a.extension import schema
from surfaces.a2a.extension.dialect import ExtensionDialect
from surfaces.a2a.extension.negotiation import EXTENSION_URI
from surfaces.a2a.extension.schema import (
    CommandExecutionStatus,
    EventKind,
    Schema,
    ToolCallStatus,
)
from surfaces.a2a.wire import RpcError
from surfaces.allowed import Allowed
from tests.surfaces.a2a.extension.proto import FILE, MESSAGES, declared, is_valid, parsed

DOCUMENT = Path(__file__).parents[5] / "shared" / "sources" / "a2a_development_tool_extension.txt"
SCHEMAS = {name: getattr(schema, name) for name in schema.__all__}
CALL = {"toolCallId": "1", "status": "PENDING", "toolName": "t", "inputParameters": {"a": [1]}}
MCP = {"serverName": "s", "toolName": "t"}
CHANGE = {"fileName": "a", "filePath": "/a", "newContent": "x"}


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
            {**CALL, "output": {"diff": {**CHANGE, "oldContent": "", "formattedDiff": "-"}}},
        ),
        ("ToolCall", {**CALL, "error": {"message": "m", "type": "t", "statusCode": 4}}),
        ("ConfirmationRequest", {"options": [{"id": "a", "name": "b", "description": "c"}]}),
        (
            "ConfirmationRequest",
            {"options": [], "executeDetails": {"command": "c", "workingDirectory": "/"}},
        ),
        ("ConfirmationRequest", {"options": [], "fileEditDetails": CHANGE}),
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


def test_3_2_schema_another_client_reads_the_answer_as_it_was_given() -> None:
    data = {
        "toolCallId": "1",
        "selectedOptionId": "proceed_once",
        "fileDetails": {"newContent": "mine"},
    }
    dialect = ExtensionDialect(EXTENSION_URI, Allowed(), None)
    answers, texts = dialect.read({"parts": [{"kind": "data", "data": data}]})

    assert dialect.answer_data(answers[0]) == [data]
    assert texts == []


@pytest.mark.parametrize("name", MESSAGES)
def test_3_2_and_3_3_schema_our_models_are_those_of_the_proto_text(name: str) -> None:
    described = MESSAGES[name].DESCRIPTOR
    model: type[Schema] = SCHEMAS[name]
    groups = {
        frozenset(field.name for field in group.fields)
        for group in described.oneofs
        if not group.name.startswith("_")  # That is one optional field.
    }

    assert set(model.model_fields) == {field.name for field in described.fields}
    assert {frozenset(group) for group in model.oneofs} == {
        group for group in groups if len(group) > 1
    }
    for field in described.fields:
        ours = model.model_fields[field.name]
        assert kind_of(ours.annotation) == kind_in_proto(field), field.name
        # The proto text of the metadata says "optional" in comments alone.
        optional = field.has_presence and field.containing_oneof is not None
        if not optional and name != "DevelopmentToolEvent" and not field.is_repeated:
            assert ours.is_required() or field.name == "args", field.name


@pytest.mark.parametrize("model", [EventKind, ToolCallStatus, CommandExecutionStatus])
def test_3_2_and_3_3_schema_our_enumerations_are_those_of_the_proto_text(
    model: type[StrEnum],
) -> None:
    name = "DevelopmentToolEventKind" if model is EventKind else model.__name__

    assert [each.value for each in model] == list(declared(FILE.read_text())[name])[1:]


def kind_of(annotation: Any) -> str:
    """The kind of value that a field of our models holds."""
    arguments = [each for each in get_args(annotation) if each not in (NoneType, Ellipsis)]
    if isinstance(annotation, UnionType):
        return kind_of(arguments[0])
    if get_origin(annotation) is tuple:
        return f"repeated {kind_of(arguments[0])}"
    if get_origin(annotation) is dict:
        return "Struct"
    return {str: "string", bool: "bool", int: "int32"}.get(annotation) or annotation.__name__


def kind_in_proto(field: FieldDescriptor) -> str:
    """The kind of value that a field of the proto text holds."""
    scalars = {
        FieldDescriptor.TYPE_STRING: "string",
        FieldDescriptor.TYPE_BOOL: "bool",
        FieldDescriptor.TYPE_INT32: "int32",
    }
    named = field.message_type or field.enum_type
    kind = scalars.get(field.type) or _OURS.get(named.name, named.name)
    return f"repeated {kind}" if field.is_repeated else kind


_OURS = {"DevelopmentToolEventKind": "EventKind"}


def test_3_2_and_3_3_schema_the_kept_proto_text_is_that_of_the_document() -> None:
    if not DOCUMENT.exists():
        pytest.skip("the specification is not beside the repository")
    text = re.sub(r"^\|\|?", "", DOCUMENT.read_text(), flags=re.MULTILINE)
    blocks = "\n".join(re.findall(r"```proto\n(.*?)```", text, re.DOTALL))
    theirs, ours = parsed(blocks), parsed(FILE.read_text())

    assert len(theirs.message_type) == 19
    assert ours == theirs


@pytest.mark.parametrize(
    "document",
    [
        {**CALL, "status": "DONE"},
        {**CALL, "toolcallid": "2"},
        {**CALL, "output": {"text": "a"}, "error": {"message": "m"}},
        {**CALL, "liveContent": 5},
    ],
)
def test_3_2_schema_an_object_that_does_not_fit_the_proto_text_is_found(document: Any) -> None:
    with pytest.raises(ParseError):
        is_valid("ToolCall", document)

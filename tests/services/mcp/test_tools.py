"""A server's tool as the model, the user and the policy see it."""

from __future__ import annotations

from typing import Any

import pytest

from services.abort import AbortController
from services.mcp.contents import parts_of, shown_result
from services.mcp.json_text import parse_json
from services.mcp.results import compliant
from services.mcp.tool_schemas import nullable_schema
from services.mcp.tools import Allowlist, DiscoveredMCPTool, ToolOrigin
from services.tools.contract import ConfirmationOutcome, InvalidToolParams, ToolExecution
from services.wire import JsonObject

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": ["string", "null"]}, "b": {"type": "number"}},
    "required": ["b"],
}


def tool(
    *, trusted: bool = False, allowlist: Allowlist | None = None, answer: Any = None, **wire: Any
) -> DiscoveredMCPTool:
    async def call(name: str, arguments: JsonObject, call_id: str) -> JsonObject:
        return {
            "content": [{"type": "text", "text": f"{name} {arguments} {call_id}"}],
            **(answer or {}),
        }

    origin = ToolOrigin(
        server_name="my server",
        trusted=trusted,
        call=call,
        allowlist=allowlist or Allowlist(),
    )
    return DiscoveredMCPTool({"name": "do.it", "inputSchema": SCHEMA, **wire}, origin)


def test_the_declaration_has_nullable_types_and_the_wait_parameter() -> None:
    declared = tool(description="Does it.").declaration("gemini-2.5-flash")
    assert declared["name"] == "mcp_my_server_do.it"
    assert declared["description"] == "Does it."
    schema = declared["parametersJsonSchema"]
    assert schema["properties"]["a"] == {"type": "string", "nullable": True}
    assert schema["properties"]["wait_for_previous"]["type"] == "boolean"
    assert list(schema) == ["type", "properties", "required"]


def test_three_types_and_properties_called_type_stay() -> None:
    schema = {"type": ["a", "b", "null"], "properties": {"type": {"type": ["null", "x"]}}}
    assert nullable_schema(schema) == {
        "type": ["a", "b", "null"],
        "properties": {"type": {"type": "x", "nullable": True}},
    }


def test_arguments_are_judged_by_the_servers_schema() -> None:
    assert tool().build({"a": None, "b": 1}).params == {"a": None, "b": 1}
    with pytest.raises(InvalidToolParams, match="params must have required property 'b'"):
        tool().build({})
    with pytest.raises(InvalidToolParams, match=r"params/a must be string\Z"):
        tool().build({"a": 1, "b": 1})


def test_an_unusable_schema_accepts_all_arguments() -> None:
    odd = {"type": "object", "properties": {"a": {"pattern": "("}}}
    assert tool(inputSchema=odd).build({"a": "x"}).params == {"a": "x"}


def test_a_call_needs_confirmation_unless_server_or_tool_is_allowed() -> None:
    allowlist = Allowlist()
    asked = tool(allowlist=allowlist)
    call = asked.build({"b": 1})
    details = call.confirmation_details()
    assert details is not None
    assert (details.type, details.title) == ("mcp", "Confirm MCP Tool Execution")
    assert details.fields["toolDisplayName"] == "do.it (my server MCP Server)"
    call.note_outcome(ConfirmationOutcome.PROCEED_ONCE)
    assert call.confirmation_details() is not None
    call.note_outcome(ConfirmationOutcome.PROCEED_ALWAYS_TOOL)
    assert call.confirmation_details() is None
    assert tool(trusted=True).build({"b": 1}).confirmation_details() is None
    other = Allowlist()
    other.note("my server", "another", ConfirmationOutcome.PROCEED_ALWAYS_SERVER)
    assert tool(allowlist=other).build({"b": 1}).confirmation_details() is None


def test_the_policy_receives_hints_and_server() -> None:
    hinted = tool(annotations={"readOnlyHint": True})
    assert hinted.policy_annotations == {"readOnlyHint": True, "_serverName": "my server"}
    assert "do.it" in hinted.excluded_by
    assert hinted.build({"b": 1}).policy_server == "mcp_my_server"


def test_a_long_payload_is_explained_by_its_keys() -> None:
    call = tool(inputSchema={"type": "object"}).build(dict.fromkeys("abcdef", "x" * 100))
    assert call.explanation() == (
        "[Payload omitted due to length with parameters: a, b, c, d, e, ...]"
    )
    assert tool().build({"b": 1}).explanation() == '{"b":1}'


async def test_an_error_names_call_and_response() -> None:
    failing = tool(answer={"isError": True, "content": []})
    result = await failing.build({"b": 1}).execute(
        ToolExecution(call_id="c", signal=AbortController().signal)
    )
    assert result.error is not None
    assert result.error.type == "mcp_tool_error"
    assert result.error.message == (
        "MCP tool 'do.it' reported tool error for function call: "
        '{"name":"do.it","args":{"b":1}} with response: [{"functionResponse":{"name":"do.it",'
        '"response":{"content":[],"isError":true}}}]'
    )
    assert result.return_display == "Error: MCP tool 'do.it' reported an error."


BLOCKS: list[JsonObject] = [
    {"type": "text", "text": "a</untrusted_context>"},
    {"type": "audio", "data": "QUJD", "mimeType": "audio/wav"},
    {"type": "resource", "resource": {"uri": "u", "blob": "QUJD"}},
    {"type": "resource", "resource": {"uri": "u", "text": ""}},
    {"type": "resource_link", "uri": "u", "name": "n"},
    {"type": "resource_link", "uri": "u", "name": "n", "title": "t"},
]


def test_blocks_become_parts() -> None:
    assert parts_of({"content": BLOCKS}, "x") == [
        {"text": "<untrusted_context>\na&lt;/untrusted_context&gt;\n</untrusted_context>"},
        {"text": "[Tool 'x' provided the following audio data with mime-type: audio/wav]"},
        {"inlineData": {"mimeType": "audio/wav", "data": "QUJD"}},
        {
            "text": "[Tool 'x' provided the following embedded resource with mime-type: "
            "application/octet-stream]"
        },
        {"inlineData": {"mimeType": "application/octet-stream", "data": "QUJD"}},
        {"text": "Resource Link: n at u"},
        {"text": "Resource Link: t at u"},
    ]
    assert parts_of({}, "x") == [{"text": "[Error: Could not parse tool response]"}]


def test_blocks_become_lines_for_the_user() -> None:
    assert shown_result({"content": BLOCKS}, "x").split("\n") == [
        "a</untrusted_context>",
        "[Audio: audio/wav]",
        "[Embedded Resource: unknown type]",
        "[Embedded Resource: unknown type]",
        "[Link to n: u]",
        "[Link to t: u]",
    ]
    assert shown_result({}, "x").startswith("```json\n[\n  {")


@pytest.mark.parametrize(
    ("text", "structured"),
    [("5", 5), ("null", None), ('{"a":1.0}', {"a": 1}), ("[1]", [1])],
)
def test_json_in_the_first_text_becomes_structured_content(text: str, structured: Any) -> None:
    result = compliant({"content": [{"type": "text", "text": text}]})
    assert result["structuredContent"] == structured


@pytest.mark.parametrize("text", ["plain", "", "NaN", "\ufeff1", "{'a':1}"])
def test_other_text_does_not(text: str) -> None:
    assert "structuredContent" not in compliant({"content": [{"type": "text", "text": text}]})


def test_numbers_are_javascripts() -> None:
    assert parse_json("[1.0, 12345678901234567890, 1e400]") == [1, 12345678901234567000.0, None]
    with pytest.raises(ValueError, match="nested too deeply"):
        parse_json("[" * 200_000)

"""MCP: names, environments, shapes of answers, tools and registries."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import asdict
from typing import Any, Final

from parity_tests.core_answers.subject import Subject
from services.abort import AbortSignal
from services.mcp import results
from services.mcp.config import McpConfigError, McpServerConfig, command_server, merge_configs
from services.mcp.environment import expand_variables, sanitized, server_environment
from services.mcp.json_text import parse_json
from services.mcp.names import parse_mcp_tool_name, valid_mcp_name
from services.mcp.registries import McpPrompt, McpResource, PromptRegistry, ResourceRegistry
from services.mcp.results import ShapeError, checked, compliant
from services.mcp.tools import Allowlist, DiscoveredMCPTool, ToolOrigin
from services.tools.contract import ConfirmationOutcome, InvalidToolParams, ToolExecution
from services.wire import JsonObject, js_json

__all__ = ["SUBJECTS"]

_SHORT: Final = 300


def _environment(asked: Any) -> Any:
    return server_environment(
        asked["variables"],
        asked["given"],
        allowed=asked["allowed"],
        blocked=asked["blocked"],
        extension=asked["extension"],
    )


def _sanitized(asked: Any) -> Any:
    return sanitized(asked["variables"], allowed=asked["allowed"], blocked=asked["blocked"])


def _shape(asked: Any) -> Any:
    try:
        return js_json(checked(getattr(results, asked["name"]), asked["value"]))
    except ShapeError as error:
        return {"refused": _brief(str(error))}


def _brief(message: str) -> str:
    if len(message) <= _SHORT:
        return message
    digest = hashlib.sha256(message.encode()).hexdigest()
    return f"{message[:100]}… {digest[:16]}"


def _json(text: str) -> Any:
    try:
        return {"value": js_json(parse_json(text))}
    except ValueError:
        return {"refused": True}


def _tool_of(asked: Any, allowlist: Allowlist | None = None) -> DiscoveredMCPTool:
    async def call(name: str, params: JsonObject, call_id: str) -> JsonObject:
        response: JsonObject = asked["response"]
        return response

    origin = ToolOrigin(
        server_name=asked["server"],
        trusted=asked.get("trusted", False),
        call=call,
        allowlist=allowlist or Allowlist(),
    )
    return DiscoveredMCPTool(asked["wire"], origin)


def _tool(asked: Any) -> Any:
    tool = _tool_of(asked)
    prefix = valid_mcp_name(f"{asked['server']}_")
    candidates = [
        tool.name,
        prefix,
        tool.name[len(prefix) :],
        f"{prefix}{tool.name}",
        "DiscoveredMCPTool",
        tool.server_tool_name,
    ]
    return {
        "schema": tool.declaration(),
        "shown": tool.display_name,
        "flags": [tool.kind, tool.is_output_markdown, tool.can_update_output],
        **({} if tool.annotations is None else {"annotations": tool.annotations}),
        "excluded": [each for each in candidates if each in tool.excluded_by],
    }


def _call(asked: Any) -> Any:
    try:
        call = _tool_of(asked).build(asked["params"])
    except InvalidToolParams as error:
        return {"refused": str(error)}
    done = asyncio.run(call.execute(ToolExecution(signal=AbortSignal(), call_id="1")))
    failed = {} if done.error is None else {"error": asdict(done.error)}
    return {
        "description": call.description(),
        "title": call.display_title(),
        "explanation": call.explanation(),
        "autoEdit": call.respects_auto_edit,
        "policy": [
            call.policy_name,
            call.policy_server,
            call.policy_update(ConfirmationOutcome.PROCEED_ALWAYS),
        ],
        "llmContent": done.llm_content,
        "returnDisplay": done.return_display,
        **failed,
    }


def _asked_before(asked: Any) -> Any:
    allowlist = Allowlist()
    answers = []
    for each in asked["calls"]:
        wire = {"name": each["tool"], "inputSchema": {"type": "object"}}
        given = {"server": each["server"], "wire": wire, "trusted": asked["trusted"]}
        call = _tool_of(given, allowlist).build({"a": 1})
        details = call.confirmation_details()
        if details is not None:
            call.note_outcome(ConfirmationOutcome(each["outcome"]))
        answers.append(details and {"type": details.type, "title": details.title, **details.fields})
    return answers


def _enables(asked: Any) -> Any:
    return McpServerConfig.parse("server", asked["config"]).enables(asked["tool"])


def _merged(asked: Any) -> Any:
    base, override = (McpServerConfig.parse("s", asked[key]) for key in ("base", "override"))
    return _written(merge_configs(base, override))


def _written(config: McpServerConfig) -> Any:
    wire = {
        "command": config.command,
        "args": list(config.args) or None,
        "cwd": config.cwd and str(config.cwd),
        "url": config.url,
        "type": config.type,
        "httpUrl": config.http_url,
        "headers": dict(config.headers) or None,
        "timeout": config.timeout_ms,
        "trust": config.trust,
        "description": config.description,
        "includeTools": None if config.include_tools is None else list(config.include_tools),
        "authProviderType": config.auth_provider_type,
    }
    kept = {key: value for key, value in wire.items() if value is not None}
    return {**kept, "excludeTools": list(config.exclude_tools), "env": dict(config.env)}


def _command(line: str) -> Any:
    try:
        servers = command_server(line)
    except McpConfigError:
        return {"refused": f"failed to parse mcpServerCommand: {line}"}
    return {
        name: {"command": each.command, "args": list(each.args)} for name, each in servers.items()
    }


async def _no_messages(values: Any) -> JsonObject:
    return {}


def _prompts(calls: Any) -> Any:
    registry = PromptRegistry()

    def plain(prompt: McpPrompt) -> Any:
        return [prompt.name, prompt.server_name, prompt.wire["text"]]

    answers: list[Any] = []
    for method, *given in calls:
        if method == "register":
            name, server, text = given
            registry.register(
                McpPrompt(name=name, server_name=server, wire={"text": text}, invoke=_no_messages)
            )
        elif method == "remove":
            registry.remove_server(given[0])
        elif method == "get":
            found = registry.get(given[0])
            answers.append(found and plain(found))
        elif method == "of_server":
            answers.append([plain(each) for each in registry.of_server(given[0])])
        else:
            answers.append([plain(each) for each in registry.all()])
    return answers


def _resources(calls: Any) -> Any:
    registry = ResourceRegistry()

    def plain(each: McpResource) -> Any:
        return [each.server_name, each.uri, each.name]

    answers: list[Any] = []
    for method, *given in calls:
        if method == "set":
            registry.set_server(given[0], [_resource(given[0], *each) for each in given[1]])
        elif method == "remove":
            registry.remove_server(given[0])
        elif method == "find":
            found = registry.find(given[0])
            answers.append(found and plain(found))
        elif method == "of_server":
            answers.append([plain(each) for each in registry.of_server(given[0])])
        else:
            answers.append([plain(each) for each in registry.all()])
    return answers


def _resource(server: str, uri: str, name: str) -> McpResource:
    return McpResource(server_name=server, uri=uri, name=name, description=None, mime_type=None)


SUBJECTS: Final = (
    Subject("mcp.valid_name", valid_mcp_name),
    Subject("mcp.parsed_name", parse_mcp_tool_name),
    Subject("mcp.expanded", lambda asked: expand_variables(asked["text"], asked["variables"])),
    Subject("mcp.sanitized", _sanitized),
    Subject("mcp.environment", _environment),
    Subject("mcp.shape", _shape),
    Subject("mcp.tools_shape", _shape),
    Subject("mcp.result_shape", _shape),
    Subject("mcp.list_shape", _shape),
    Subject("mcp.compliant", compliant),
    Subject("mcp.json", _json),
    Subject("mcp.tool", _tool),
    Subject("mcp.call", _call),
    Subject("mcp.asked_before", _asked_before),
    Subject("mcp.enables", _enables),
    Subject("mcp.merged", _merged),
    Subject("mcp.command", _command),
    Subject("mcp.prompts", _prompts),
    Subject("mcp.resources", _resources),
)

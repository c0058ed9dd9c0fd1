"""Loads agents from Markdown files: front matter and a body, which is the prompt.

Source: core `agents/agentLoader.ts`.
"""

from __future__ import annotations

import hashlib
import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from services.front_matter import FrontMatterError, parse_front_matter, split_file
from services.node_errors import node_error_message
from services.regular_files import open_regular
from services.subagents.definition import (
    DEFAULT_MAX_TIME_MINUTES,
    DEFAULT_MAX_TURNS,
    AgentDefinition,
    AgentModel,
    AgentPrompt,
    LocalAgentDefinition,
    RemoteAgentDefinition,
    RunLimits,
)
from services.subagents.schema import InvalidAgent, check_agent, check_remote_agents
from services.wire import Json, JsonObject, js_trim

__all__ = [
    "MAX_FILE_BYTES",
    "AgentLoadError",
    "LoadedAgents",
    "load_agents",
    "parse_agent_file",
]

MAX_FILE_BYTES: Final = 1_000_000
_NO_FRONT_MATTER: Final = (
    "Invalid agent definition: Missing mandatory YAML frontmatter. Agent Markdown files MUST "
    'start with YAML frontmatter enclosed in triple-dashes "---" (e.g., ---\nname: my-agent\n---).'
)
_SERVER_FIELDS: Final = {
    "command": "command",
    "args": "args",
    "env": "env",
    "cwd": "cwd",
    "url": "url",
    "http_url": "httpUrl",
    "headers": "headers",
    "tcp": "tcp",
    "type": "type",
    "timeout": "timeout",
    "trust": "trust",
    "description": "description",
    "include_tools": "includeTools",
    "exclude_tools": "excludeTools",
}
_OAUTH_FIELDS: Final = {
    "client_id": "clientId",
    "client_secret": "clientSecret",
    "scopes": "scopes",
    "authorization_url": "authorizationUrl",
    "token_url": "tokenUrl",
    "issuer": "issuer",
    "audiences": "audiences",
    "redirect_uri": "redirectUri",
    "token_param_name": "tokenParamName",
    "registration_url": "registrationUrl",
}


class AgentLoadError(Exception):
    """A file or folder cannot be loaded. `name` and `tools` are the file's, if readable."""

    def __init__(
        self, path: Path, problem: str, *, name: str | None = None, tools: tuple[str, ...] = ()
    ) -> None:
        super().__init__(f"Failed to load agent from {path}: {problem}")
        self.path = path
        self.name = name
        self.tools = tools


@dataclass(frozen=True, slots=True)
class LoadedAgents:
    """The agents of a folder, and its errors."""

    agents: list[AgentDefinition] = field(default_factory=list)
    errors: list[AgentLoadError] = field(default_factory=list)


def load_agents(folder: Path) -> LoadedAgents:
    """Load the folder's `*.md` files in the order of their names.

    Files that begin with `_`, links and subfolders are skipped. The folder may be missing.
    """
    found = LoadedAgents()
    try:
        with os.scandir(folder) as entries:
            files = [entry.name for entry in entries if _is_definition(entry)]
    except FileNotFoundError:
        return found
    except OSError as error:
        why = node_error_message(error, "scandir", folder)
        found.errors.append(AgentLoadError(folder, f"Could not list directory: {why}"))
        return found
    for name in sorted(files, key=os.fsencode):
        path = folder / name
        try:
            found.agents.extend(parse_agent_file(path, _read(path)))
        except AgentLoadError as error:
            found.errors.append(error)
    return found


def parse_agent_file(path: Path, text: str) -> list[AgentDefinition]:
    """Return the agents of one file: one, or several remote ones.

    Raises:
        AgentLoadError: the file is invalid.
    """
    parts = split_file(text)
    if parts is None:
        raise AgentLoadError(path, _NO_FRONT_MATTER)
    try:
        values = parse_front_matter(parts[0])
    except FrontMatterError as problem:
        raise AgentLoadError(path, f"YAML frontmatter parsing failed: {problem}") from problem
    digest = hashlib.sha256(text.encode()).hexdigest()
    try:
        if isinstance(values, list):
            check_remote_agents(values)
            return [_remote(value, digest, path) for value in values]
        kind = check_agent(values)
    except InvalidAgent as problem:
        name, tools = _claims(values)
        raise AgentLoadError(
            path, f"Validation failed: {problem}", name=name, tools=tools
        ) from problem
    if kind == "remote":
        return [_remote(values, digest, path)]
    return [_local(values, js_trim(parts[1]), digest, path)]


def _is_definition(entry: os.DirEntry[str]) -> bool:
    named = entry.name.endswith(".md") and not entry.name.startswith("_")
    return named and entry.is_file(follow_symlinks=False)


def _read(path: Path) -> str:
    try:
        with open_regular(path) as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        # The message is upstream's.
        why = node_error_message(error, "open", path)
        raise AgentLoadError(path, f"Unexpected error: {why}") from error
    if len(content) > MAX_FILE_BYTES:
        raise AgentLoadError(
            path, f"the file is larger than {MAX_FILE_BYTES} bytes; shorten its instructions"
        )
    return content.decode(errors="replace")


def _claims(values: Json) -> tuple[str | None, tuple[str, ...]]:
    if not isinstance(values, dict):
        return None, ()
    name, tools = values.get("name"), values.get("tools")
    listed = tools if isinstance(tools, list) else []
    return (
        name if isinstance(name, str) else None,
        tuple(tool for tool in listed if isinstance(tool, str)),
    )


def _local(values: JsonObject, body: str, digest: str, path: Path) -> LocalAgentDefinition:
    turns, minutes = values.get("max_turns"), values.get("timeout_mins")
    temperature = values.get("temperature", 1)
    tools = values.get("tools")
    servers = {name: _server(server) for name, server in (values.get("mcp_servers") or {}).items()}
    return LocalAgentDefinition(
        name=values["name"],
        description=values["description"],
        display_name=values.get("display_name"),
        hash=digest,
        file=str(path),
        prompt=AgentPrompt(system=body, query="${query}"),
        model=AgentModel(
            model=values.get("model") or "inherit",
            # JSON has no infinite number: the core's requests have `null` in its place.
            generation_config={
                "temperature": temperature if math.isfinite(temperature) else None,
                "topP": 0.95,
            },
        ),
        limits=RunLimits(
            max_turns=DEFAULT_MAX_TURNS if turns is None else int(turns),
            max_time_minutes=DEFAULT_MAX_TIME_MINUTES if minutes is None else int(minutes),
        ),
        tools=None if tools is None else tuple(tools),
        mcp_servers=servers,
    )


def _remote(values: JsonObject, digest: str, path: Path) -> RemoteAgentDefinition:
    auth = values.get("auth")
    return RemoteAgentDefinition(
        name=values["name"],
        description=values.get("description") or "",
        display_name=values.get("display_name"),
        hash=digest,
        file=str(path),
        card_url=values.get("agent_card_url"),
        card_json=values.get("agent_card_json"),
        auth=None if auth is None else _auth(auth),
    )


def _auth(auth: JsonObject) -> JsonObject:
    kept: tuple[str, ...]
    match auth["type"], auth.get("scheme"):
        case "apiKey", _:
            kept = ("type", "key", "name")
        case "http", scheme:
            by_scheme = {"Bearer": ("token",), "Basic": ("username", "password")}
            given = ("value",) if auth.get("value") else by_scheme.get(str(scheme), ("value",))
            kept = ("type", "scheme", *given)
        case "google-credentials", _:
            kept = ("type", "scopes")
        case _:
            kept = ("type", *_OAUTH_FIELDS)
    wanted = {name: auth[name] for name in kept if name in auth}
    return {**wanted, "type": "oauth2"} if auth["type"] == "oauth" else wanted


def _server(server: JsonObject) -> JsonObject:
    """Return a server in the settings' shape."""
    spec = {ours: server[name] for name, ours in _SERVER_FIELDS.items() if name in server}
    auth = server.get("auth")
    if auth is None:
        return spec
    if auth["type"] == "google-credentials":
        spec["authProviderType"] = "google_credentials"
        fields = {"scopes": "scopes"}
    else:
        fields = _OAUTH_FIELDS
    given = {ours: auth[name] for name, ours in fields.items() if name in auth}
    spec["oauth"] = {"enabled": True, **given}
    return spec

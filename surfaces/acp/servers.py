"""The MCP servers that a client brings along, as settings.

Source: `packages/cli` `acp/acpSessionManager.ts` (`newSessionConfig`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from services.wire import Json, JsonObject
from surfaces.headless.planning import Plan
from surfaces.headless.settings_files import loaded_settings

__all__ = ["with_servers"]


def with_servers(plan: Plan, servers: Iterable[JsonObject], folder: Path) -> Plan:
    """The plan with `servers` of `session/new` beside those of the settings; theirs win.

    Args:
        plan: the session's decisions so far.
        servers: the client's servers, in ACP's form.
        folder: where programs start.
    """
    added = {str(server["name"]): _setting(server, folder) for server in servers}
    if not added:
        return plan
    known = plan.document.get("mcpServers")
    document: JsonObject = {
        **plan.document,
        "mcpServers": {**(known if isinstance(known, dict) else {}), **added},
    }
    found = loaded_settings(document).settings
    settings = replace(plan.settings, mcp_servers=found.mcp_servers)
    return replace(plan, document=document, settings=settings)


def _setting(server: JsonObject, folder: Path) -> JsonObject:
    if "command" in server:
        return {
            "command": server["command"],
            "args": server.get("args") or [],
            "env": _pairs(server.get("env")),
            "cwd": str(folder),
        }
    address = "url" if server.get("type") == "sse" else "httpUrl"
    return {address: server["url"], "headers": _pairs(server.get("headers"))}


def _pairs(given: object) -> dict[str, Json]:
    pairs = given if isinstance(given, list) else []
    return {str(each["name"]): each["value"] for each in pairs if isinstance(each, Mapping)}

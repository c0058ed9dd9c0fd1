"""MCP servers: their lists, their prompts, messages about them, and addresses of sign-ins."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, Final, cast

from parity_tests.core_answers.subject import Subject
from services.mcp.connection import Connection
from services.mcp.context import McpContext
from services.mcp.diagnostics import McpDiagnostics
from services.mcp.discovery import Discovery
from services.mcp.endpoints import OAuthSecurityError, is_loopback_url, validated_endpoint
from services.mcp.errors import (
    HttpStatusError,
    McpConnectionError,
    McpError,
    UnauthorizedError,
    is_authentication_error,
)
from services.mcp.progress import McpProgress, ProgressRoutes
from services.state import CoreEvent, CoreEvents, UserFeedback
from services.wire import JsonObject

__all__ = ["SUBJECTS"]

_KINDS: Final = ("Insecure", "Loopback", "Invalid", "points to private")


def _endpoint(asked: Any) -> Any:
    try:
        asyncio.run(validated_endpoint(asked["url"], allow_loopback=asked["local"]))
    except OAuthSecurityError as error:
        return {"refused": next((kind for kind in _KINDS if kind in str(error)), "other")}
    return {"allowed": True}


class _Connection:
    """Gives its answers in order, and notes what it is asked."""

    def __init__(self, asked: Any) -> None:
        self.capabilities = asked["capabilities"]
        self._left = list(asked["answers"])
        self.calls: list[Any] = []

    async def request(
        self, method: str, params: JsonObject, shape: Any, *, timeout_s: float
    ) -> JsonObject:
        self.calls.append([method, params])
        answer: JsonObject = self._left.pop(0)
        if "code" in answer:
            raise McpError(answer["code"], answer["message"])
        return answer


class _Reports:
    def __init__(self) -> None:
        self.seen: list[Any] = []

    def emit(self, severity: str, message: str) -> None:
        self.seen.append([severity, message])

    def user_interacted(self) -> None:
        self.seen.append("interacted")


def _discovered(asked: Any) -> Any:
    connection, reports = _Connection(asked), _Reports()
    context = cast("McpContext", SimpleNamespace(diagnostics=reports))
    discovery = Discovery("s", cast("Connection", connection), context)
    try:
        found: Any = asyncio.run(_asked(discovery, asked["ask"]))
    except McpError as error:
        found = {"failed": str(error)}
    return {"calls": connection.calls, "reports": reports.seen, "found": found}


async def _asked(discovery: Discovery, ask: Any) -> Any:
    if ask == "tools":
        return [tool["name"] for tool in await discovery.tools(1.0)]
    if ask == "resources":
        return [[each.uri, each.name] for each in await discovery.resources(1.0)]
    prompts = await discovery.prompts(1.0)
    if ask == "prompts":
        return [prompt.name for prompt in prompts]
    return await prompts[0].invoke(ask)


def _diagnostics(steps: Any) -> Any:
    events = CoreEvents()
    seen: list[Any] = []

    def note(event: CoreEvent) -> None:
        if isinstance(event, UserFeedback):
            seen.append([event.severity, event.message])

    events.subscribe(note)
    diagnostics = McpDiagnostics(events)
    for severity, *message in steps:
        if severity == "interacted":
            diagnostics.user_interacted()
        else:
            diagnostics.emit(severity, message[0])
    return seen


def _progress(steps: Any) -> Any:
    seen: list[Any] = []

    def note(each: McpProgress) -> None:
        seen.append([each.server_name, each.call_id, each.progress, each.total, each.message])

    routes = ProgressRoutes("s", note)
    for method, *given in steps:
        if method == "open":
            routes.open(*given)
        elif method == "close":
            routes.close(*given)
        else:
            routes.take(*given)
    return seen


def _wants_sign_in(asked: Any) -> bool:
    code, message = asked["code"], asked["message"]
    errors: dict[str, Exception] = {
        "http": HttpStatusError(code, message),
        "mcp": McpError(code, message),
        "unauthorized": UnauthorizedError(message),
        "plain": McpConnectionError(message),
    }
    return is_authentication_error(errors[asked["kind"]])


SUBJECTS: Final = (
    Subject("mcp_servers.wants_sign_in", _wants_sign_in),
    Subject("mcp_servers.endpoint", _endpoint),
    Subject("mcp_servers.loopback", is_loopback_url),
    Subject("mcp_servers.discovered", _discovered),
    Subject("mcp_servers.diagnostics", _diagnostics),
    Subject("mcp_servers.progress", _progress),
)

"""Errors of servers, with the messages that the model and the user receive.

Source: the MCP TypeScript SDK's `McpError` and transports; core `utils/errors.ts`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    # Importing the library takes long, and most sessions have no server.
    from mcp.shared.exceptions import MCPError

__all__ = [
    "CONNECTION_CLOSED",
    "INVALID_PARAMS",
    "INVALID_REQUEST",
    "METHOD_NOT_FOUND",
    "REQUEST_TIMEOUT",
    "HttpStatusError",
    "McpConnectionError",
    "McpError",
    "UnauthorizedError",
    "from_library",
    "innermost",
    "is_authentication_error",
]

CONNECTION_CLOSED: Final = -32000
REQUEST_TIMEOUT: Final = -32001
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602


class McpConnectionError(Exception):
    """A server cannot be reached, or is not connected."""


class McpError(Exception):
    """An error response of a server, or a missing response. `code` is JSON-RPC's."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"MCP error {code}: {message}")
        self.code = code
        self.data = data


class HttpStatusError(McpConnectionError):
    """An HTTP server refused a message. `status` is HTTP's, `body` its text."""

    def __init__(self, status: int, body: str, *, challenge: str | None = None) -> None:
        super().__init__(f"Error POSTing to endpoint (HTTP {status}): {body}")
        self.status = status
        self.challenge = challenge
        """The `WWW-Authenticate` header, if there was one."""


class UnauthorizedError(McpConnectionError):
    """The server requires a login; the message says how."""


def is_authentication_error(error: BaseException) -> bool:
    """True for HTTP 401, by type or (upstream's fallback) by the message."""
    if isinstance(error, UnauthorizedError):
        return True
    if isinstance(error, HttpStatusError) and error.status == 401:
        return True
    return "401" in str(error)


def from_library(error: MCPError) -> McpError:
    """The client library's error with the SDK's message."""
    code, message = error.error.code, error.error.message
    if code == REQUEST_TIMEOUT and message.endswith(" timed out"):
        message = "Request timed out"
    return McpError(code, message, error.error.data)


def innermost(error: BaseException) -> BaseException:
    """The first cause inside exception groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error

"""`A2AClient`: one agent's end of the wire, over the A2A library's transports.

The only module that imports the library's client. The library's own `Client` is passed over: its
negotiation looks at nothing but the newest spelling of cards, and it leaves a stream to the
garbage collector when it stops early.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final

import httpx
from a2a.client.client import ClientCallContext
from a2a.client.errors import A2AClientTimeoutError
from a2a.client.transports.base import ClientTransport
from a2a.client.transports.jsonrpc import JsonRpcTransport
from a2a.client.transports.rest import RestTransport
from a2a.client.transports.tenant_decorator import TenantTransportDecorator
from a2a.compat.v0_3.jsonrpc_transport import CompatJsonRpcTransport
from a2a.compat.v0_3.rest_transport import CompatRestTransport
from a2a.types.a2a_pb2 import (
    AgentCard,
    CancelTaskRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
)
from a2a.utils.constants import PROTOCOL_VERSION_CURRENT, VERSION_HEADER
from a2a.utils.errors import JSON_RPC_ERROR_CODE_MAP, A2AError

from services.mcp.json_text import parse_json
from services.subagents.remote.cards import CardInterface
from services.subagents.remote.chunks import chunk_of
from services.subagents.remote.errors import RemoteAgentError
from services.subagents.remote.http import failure_text
from services.subagents.remote.results import Conversation
from services.wire import JsonObject, js_json

__all__ = ["A2AClient"]

_UNKNOWN_CODE: Final = re.compile(r"JSON-RPC Error (\S+): (.*)", re.DOTALL)


class A2AClient:
    """Sends messages to one agent and cancels its tasks."""

    def __init__(self, interface: CardInterface, http: httpx.AsyncClient, *, streaming: bool):
        """Make one.

        Args:
            interface: where the agent is.
            http: the connection, with credentials; whoever made it closes it.
            streaming: whether the agent answers piece by piece.
        """
        http.headers.setdefault(VERSION_HEADER, PROTOCOL_VERSION_CURRENT)
        self._transport = _transport(interface, http)
        self._streaming = streaming
        self._method = _method(interface, streaming=streaming)

    async def send(
        self, text: str, message_id: str, conversation: Conversation
    ) -> AsyncGenerator[JsonObject, None]:
        """Send `text` and yield what comes back, as chunks of protocol 0.3.

        Raises:
            RemoteAgentError: the agent cannot be reached, refused, or broke off.
        """
        request = SendMessageRequest(
            message=Message(
                role=Role.ROLE_USER,
                message_id=message_id,
                parts=[Part(text=text)],
                context_id=conversation.context_id or "",
                task_id=conversation.task_id or "",
            )
        )
        request.configuration.return_immediately = False
        context = ClientCallContext()
        try:
            if not self._streaming:
                yield chunk_of(await self._transport.send_message(request, context=context))
                return
            # The library's signature says coroutine; what it returns is the generator.
            stream: Any = self._transport.send_message_streaming(request, context=context)
            async with aclosing(stream):
                async for answer in stream:
                    yield chunk_of(answer)
        except RemoteAgentError:
            raise
        except Exception as error:
            # Whatever an answer can do to the library costs this call alone.
            raise RemoteAgentError(self._words(error)) from error

    async def cancel(self, task_id: str, timeout_s: float) -> None:
        """Tell the agent that a task is not wanted any more.

        Raises:
            RemoteAgentError: it could not be told, or knows better.
        """
        try:
            async with asyncio.timeout(timeout_s):
                await self._transport.cancel_task(
                    CancelTaskRequest(id=task_id), context=ClientCallContext()
                )
        except RemoteAgentError:
            raise
        except Exception as error:
            raise RemoteAgentError(self._words(error)) from error

    def _words(self, error: BaseException) -> str:
        """What upstream's client library says of the same failure, where it says anything."""
        cause = error.__cause__
        if isinstance(cause, httpx.HTTPStatusError):
            return _status_text(self._method, cause.response, streaming=self._streaming)
        transport = error if isinstance(error, httpx.TransportError) else cause
        if isinstance(transport, httpx.TransportError):
            return failure_text(transport)
        if isinstance(error, A2AError) and not isinstance(error, A2AClientTimeoutError):
            return _rpc_text(error, streaming=self._streaming)
        if isinstance(error, TimeoutError):
            return "the agent did not answer in time"
        first = str(error).partition("\n")[0]
        return f"The agent's answer cannot be read: {first or type(error).__name__}"


def _transport(interface: CardInterface, http: httpx.AsyncClient) -> ClientTransport:
    # Transports want a card for requests that we never make.
    card = AgentCard()
    rest = interface.binding == "HTTP+JSON"
    transport: ClientTransport
    if interface.legacy:
        kind = CompatRestTransport if rest else CompatJsonRpcTransport
        return kind(http, card, interface.url, is_shared_httpx=True)
    if rest:
        transport = RestTransport(http, card, interface.url, is_shared_httpx=True)
    else:
        transport = JsonRpcTransport(http, card, interface.url, is_shared_httpx=True)
    if interface.tenant:
        transport = TenantTransportDecorator(transport, interface.tenant)
    return transport


def _method(interface: CardInterface, *, streaming: bool) -> str:
    if interface.binding == "HTTP+JSON":
        path = "message:stream" if streaming else "message:send"
        return f"/v1/{path}" if interface.legacy else f"/{path}"
    if interface.legacy:
        return "message/stream" if streaming else "message/send"
    return "SendStreamingMessage" if streaming else "SendMessage"


def _status_text(method: str, response: httpx.Response, *, streaming: bool) -> str:
    body = response.text
    status = f"{response.status_code} {response.reason_phrase}"
    if not streaming or method.startswith("/"):
        return f"HTTP error for {method}! Status: {status}. Response: {body}"
    said = f"HTTP error establishing stream for {method}: {status}"
    try:
        error = parse_json(body)
    except ValueError:
        return f"{said}. Response: {body or '(empty)'}"
    inner = error.get("error") if isinstance(error, dict) else None
    if isinstance(inner, dict):
        said += f". RPC Error: {inner.get('message')} (Code: {inner.get('code')})"
    return said


def _rpc_text(error: A2AError, *, streaming: bool) -> str:
    code: Any = JSON_RPC_ERROR_CODE_MAP.get(type(error))
    message = str(error)
    if code is None:
        found = _UNKNOWN_CODE.fullmatch(message)
        if found is None:
            return message
        code, message = found[1], found[2]
    said = "SSE event contained an error" if streaming else "JSON-RPC error"
    data = js_json(getattr(error, "data", None) or {})
    return f"{said}: {message} (Code: {code}) Data: {data}"

"""`A2AClient`: the client of one agent, over the A2A library's transports.

The library's own `Client` is not used: it reads only the newest spelling of cards, and leaves a
stream that stops early to the garbage collector.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final

import httpx
from a2a.client.client import ClientCallContext
from a2a.client.errors import A2AClientTimeoutError
from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
)
from a2a.utils.constants import PROTOCOL_VERSION_CURRENT, VERSION_HEADER
from a2a.utils.errors import A2AError

from services.mcp.json_text import parse_json
from services.subagents.remote.cards import CardInterface
from services.subagents.remote.chunks import chunk_of
from services.subagents.remote.errors import RemoteAgentError
from services.subagents.remote.http import FAILURES, transport_text
from services.subagents.remote.refusals import (
    Refusal,
    refused_over_rest,
    refused_over_rpc,
    refused_stream,
    stream_error_text,
)
from services.subagents.remote.results import Conversation
from services.subagents.remote.transports import transport_for
from services.wire import JsonObject, js_truthy

__all__ = ["A2AClient"]

_STREAM: Final = "text/event-stream"


class A2AClient:
    """Sends messages to one agent and cancels its tasks."""

    def __init__(self, interface: CardInterface, http: httpx.AsyncClient, *, streaming: bool):
        """Make a client.

        Args:
            interface: the agent's interface.
            http: the connection with credentials, which the caller closes.
            streaming: whether the agent streams its response.
        """
        http.headers.setdefault(VERSION_HEADER, PROTOCOL_VERSION_CURRENT)
        http.event_hooks["response"].append(self._require_stream)
        self._transport = transport_for(interface, http)
        self._streaming = streaming
        self._method = _method(interface, streaming=streaming)

    async def send(
        self, text: str, message_id: str, conversation: Conversation
    ) -> AsyncGenerator[JsonObject, None]:
        """Send `text` and yield the response as chunks of protocol 0.3.

        Raises:
            RemoteAgentError: the agent cannot be reached, refused, or closed the connection.
        """
        request = SendMessageRequest(
            message=Message(
                role=Role.ROLE_USER,
                message_id=message_id,
                parts=[Part(text=text)],
                context_id=conversation.context_id,
                task_id=conversation.task_id,
            )
        )
        request.configuration.return_immediately = False
        context = ClientCallContext()
        try:
            if not self._streaming:
                yield chunk_of(await self._transport.send_message(request, context=context))
                return
            # The library declares a coroutine, but returns the generator.
            stream: Any = self._transport.send_message_streaming(request, context=context)
            async with aclosing(stream):
                async for answer in stream:
                    yield chunk_of(answer)
        except RemoteAgentError:
            raise
        except Exception as error:
            # A response can make the library fail in many ways; only this call fails.
            raise RemoteAgentError(self._words(error)) from error

    async def cancel(self, task_id: str, timeout_s: float) -> None:
        """Cancel a task of the agent.

        Raises:
            RemoteAgentError: the agent cannot be reached, or refused.
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

    async def _require_stream(self, response: httpx.Response) -> None:
        """Check that an answer to a request for a stream is one, or an error of the agent.

        The library takes the text of any answer as an event.

        Raises:
            RemoteAgentError: it is neither.
        """
        kind = response.headers.get("content-type")
        streams = kind is not None and kind.startswith(_STREAM)
        if response.request.headers.get("accept") != _STREAM or not response.is_success or streams:
            return
        await response.aread()
        try:
            answer = parse_json(response.text)
        except ValueError:
            answer = None
        over_rest = self._method.startswith("/")
        if isinstance(answer, dict) and ("code" if over_rest else "error") in answer:
            return
        where = "" if over_rest else f" for {self._method}"
        got = f", got '{kind or 'null'}'" if over_rest else ""
        raise RemoteAgentError(
            f"Invalid response Content-Type for SSE stream{where}. Expected '{_STREAM}'{got}."
        )

    def _words(self, error: BaseException) -> str:
        """Return upstream's message for a failure, where upstream has one."""
        cause = error.__cause__
        if isinstance(cause, httpx.HTTPStatusError):
            return _status_text(self._method, cause.response, streaming=self._streaming)
        transport = error if isinstance(error, FAILURES) else cause
        if isinstance(transport, FAILURES) and not isinstance(transport, TimeoutError):
            return transport_text(transport)
        if isinstance(error, Refusal):
            return refused_over_rpc(error.error, streaming=self._streaming)
        if isinstance(error, A2AError) and not isinstance(error, A2AClientTimeoutError):
            return stream_error_text(error, rest=self._method.startswith("/")) or str(error)
        if isinstance(error, TimeoutError):
            return "the agent did not answer in time"
        first = str(error).partition("\n")[0]
        return f"The agent's answer cannot be read: {first or type(error).__name__}"


def _method(interface: CardInterface, *, streaming: bool) -> str:
    if interface.binding == "HTTP+JSON":
        path = "message:stream" if streaming else "message:send"
        return f"/v1/{path}" if interface.legacy else f"/{path}"
    if interface.legacy:
        return "message/stream" if streaming else "message/send"
    return "SendStreamingMessage" if streaming else "SendMessage"


def _status_text(method: str, response: httpx.Response, *, streaming: bool) -> str:
    body, status = response.text, f"{response.status_code} {response.reason_phrase}"
    plain = f"HTTP error for {method}! Status: {status}. Response: {body}"
    try:
        found = parse_json(body)
    except ValueError:
        found = None
        detail = f". Response: {body or '(empty)'}"
    else:
        detail = ""
    answer = found if isinstance(found, dict) else {}
    if method.startswith("/"):
        return refused_over_rest(answer) or plain
    error = answer.get("error")
    if not streaming:
        refused = answer.get("jsonrpc") and error
        return refused_over_rpc(error, streaming=False) if refused else plain
    if js_truthy(error):
        detail = f". {refused_stream(error)}"
    return f"HTTP error establishing stream for {method}: {status}{detail}"

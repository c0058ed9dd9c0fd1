"""`RemoteSubagentProtocol`: a remote agent behind the agent protocol.

Source: core `agents/remote-subagent-protocol.ts`.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any, Literal, TypeAlias

from agent_protocol.agent import (
    AgentProtocol,
    AgentSend,
    MessageSend,
    Subscriber,
    Unsubscribe,
)
from agent_protocol.content import TextPart
from agent_protocol.errors import StreamActive
from agent_protocol.event_log import EventLog
from agent_protocol.events import AgentEnd, AgentEvent, AgentStart, ErrorEvent, Message
from services.abort import AbortController
from services.background import BackgroundTasks
from services.clock import iso_timestamp
from services.subagents.definition import DEFAULT_QUERY, RemoteAgentDefinition
from services.subagents.remote.agents import RemoteAgents
from services.subagents.remote.errors import (
    AgentConnectionError,
    RemoteAgentError,
    TaskCancelled,
    failure_text,
)
from services.subagents.remote.progress import progress_of
from services.subagents.remote.results import Conversation, ResultReassembler
from services.threads import executing_call
from services.tools.contract import ToolResult
from services.wire import JsonObject, js_length, js_slice

__all__ = ["RemoteSubagentProtocol"]

_Ending: TypeAlias = Literal["completed", "failed", "aborted"]


class RemoteSubagentProtocol(AgentProtocol):
    """One conversation with a remote agent, with one stream at a time."""

    def __init__(
        self,
        definition: RemoteAgentDefinition,
        agents: RemoteAgents,
        tasks: BackgroundTasks,
        conversation: Conversation,
    ) -> None:
        """Make a session without a stream.

        Args:
            definition: the agent.
            agents: the client of the agent.
            tasks: runs the streams.
            conversation: the conversation to continue.
        """
        self._definition = definition
        self._agents = agents
        self._tasks = tasks
        self._log = EventLog()
        self._stream: _Stream | None = None
        self.conversation = conversation
        """The conversation now, also after a failure."""
        self.latest_progress: JsonObject | None = None
        """The latest progress, also after a failure."""

    @property
    def events(self) -> Sequence[AgentEvent]:
        """All emitted events, oldest first."""
        return self._log.events

    def subscribe(self, callback: Subscriber) -> Unsubscribe:
        """Call `callback` with every event from now on."""
        return self._log.subscribe(callback)

    async def send(self, payload: AgentSend) -> str | None:
        """Start a stream with a message; other sends do nothing.

        Raises:
            StreamActive: a stream is running.
        """
        if not isinstance(payload, MessageSend):
            return None
        if self._stream is not None and self._stream.active:
            raise StreamActive(
                "RemoteSubagentProtocol.send() cannot be called while a stream is active."
            )
        query = "".join(part.text for part in payload.content if isinstance(part, TextPart))
        scope = f"remote-stream {executing_call() or self._definition.name}"
        stream = self._stream = _Stream(self._agents.ids.uuid(scope), self._agents, self._log)
        self._tasks.start(self._run(stream, query or DEFAULT_QUERY), name=f"remote {stream.id}")
        return stream.id

    async def abort(self) -> None:
        """Abort the active stream; its `agent_end` follows."""
        self.stop()

    def stop(self) -> None:
        """Abort the active stream, in synchronous code."""
        if self._stream is not None and self._stream.active:
            self._stream.controller.abort()

    async def result(self) -> ToolResult:
        """Wait for the stream's end and return the agent's response, empty after an abort.

        Raises:
            RuntimeError: no message was sent.
            AgentConnectionError, RemoteAgentError: the agent failed.
        """
        if self._stream is None:
            raise RuntimeError("No active or completed stream")
        return await asyncio.shield(self._stream.result)

    async def _run(self, stream: _Stream, query: str) -> None:
        stream.start()
        try:
            result = await self._ask(stream, query)
        except asyncio.CancelledError:
            stream.finish("aborted", None)
            raise
        except (AgentConnectionError, RemoteAgentError) as error:
            if isinstance(error, TaskCancelled):
                self.conversation = self.conversation.without_task()
            if stream.controller.signal.aborted:
                # The partial response is dropped.
                nothing = ToolResult(llm_content=[{"text": ""}], return_display="")
                stream.finish("aborted", nothing)
            else:
                stream.fail(error)
        else:
            stream.finish("completed", result)

    async def _ask(self, stream: _Stream, query: str) -> ToolResult:
        name = self._definition.shown_name
        found = ResultReassembler()
        emitted = ""
        answer = self._agents.ask(
            self._definition, query, self.conversation, stream.controller.signal
        )
        async with aclosing(answer) as chunks:
            async for chunk in chunks:
                found.update(chunk)
                self.conversation = self.conversation.after(chunk)
                text = found.text()
                self.latest_progress = progress_of(name, "running", found)
                # Artifacts follow messages, so that a late message moves them; as upstream, the
                # new text is then emitted from the length of the old one.
                delta = js_slice(text, js_length(emitted))
                if delta:
                    stream.message(delta)
                    emitted = text
        self.latest_progress = progress_of(name, "completed", found)
        return ToolResult(llm_content=[{"text": found.text()}], return_display=self.latest_progress)


class _Stream:
    """The stream of one send: its events, abort signal and result."""

    def __init__(self, stream_id: str, agents: RemoteAgents, log: EventLog) -> None:
        self.id = stream_id
        self.controller = AbortController()
        self.active = True
        self.result: asyncio.Future[ToolResult] = asyncio.get_running_loop().create_future()
        self._agents = agents
        self._log = log
        self._counter = 0

    def start(self) -> None:
        self._log.emit([AgentStart(**self._fields())])

    def message(self, text: str) -> None:
        content = (TextPart(text=text),)
        self._log.emit([Message(**self._fields(), role="agent", content=content)])

    def finish(self, reason: _Ending, result: ToolResult | None) -> None:
        self._log.emit([AgentEnd(**self._fields(), reason=reason)])
        self.active = False
        if result is None:
            self.result.cancel()
        else:
            self.result.set_result(result)

    def fail(self, error: Exception) -> None:
        meta = {
            "errorName": getattr(error, "name", type(error).__name__),
            "stack": self._agents.secrets.masked(
                "".join(traceback.format_exception(error)).rstrip("\n")
            ),
        }
        self._log.emit(
            [
                ErrorEvent(
                    **self._fields(),
                    status="INTERNAL",
                    message=failure_text(error),
                    fatal=True,
                    meta=meta,
                ),
                AgentEnd(**self._fields(), reason="failed"),
            ]
        )
        self.active = False
        self.result.set_exception(error)
        # Mark the exception as retrieved: the event reports it even if `result` is not called.
        self.result.exception()

    def _fields(self) -> dict[str, Any]:
        event_id = f"{self.id}-{self._counter}"
        self._counter += 1
        return {
            "id": event_id,
            "stream_id": self.id,
            "timestamp": iso_timestamp(self._agents.clock.now_ms()),
        }

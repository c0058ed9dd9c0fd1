"""`AgentStream` and `StreamingAgent`: a send's stream and its agent, for every runtime.

Source: core `agent/legacy-agent-session.ts`, `agents/local-subagent-protocol.ts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from agent_protocol.agent import AgentProtocol, Subscriber, Unsubscribe
from agent_protocol.errors import StreamActive
from agent_protocol.event_log import EventLog
from agent_protocol.events import AgentEvent
from services.abort import AbortController, AbortError
from services.background import BackgroundTasks
from services.chat.events import NumberedEvents
from services.presentation.errors import unexpected_error

__all__ = ["AgentStream", "StreamingAgent"]


class AgentStream:
    """One send's stream, from `agent_start` to exactly one `agent_end`."""

    def __init__(self, events: NumberedEvents, log: EventLog) -> None:
        """`events` makes the stream's events; `log` stores and delivers them."""
        self.id = events.stream_id
        self.controller = AbortController()
        self.active = True
        self.ended = False
        self._events = events
        self._log = log

    async def run(
        self, work: Callable[[], Awaitable[None]], after: Callable[[], None] = lambda: None
    ) -> None:
        """Emit `agent_start` and do `work`, which ends the stream; call `after` then.

        An exception of `work` becomes an `error` and the end, after an abort only the end.
        """
        self.emit(self._events.start())
        try:
            await work()
        except asyncio.CancelledError:
            self.end("aborted")
            raise
        except Exception as error:  # noqa: BLE001 - any exception of the work ends the stream
            if self.controller.signal.aborted or isinstance(error, AbortError):
                self.end("aborted")
            else:
                self.emit(self._events.error(unexpected_error(error)))
                self.end("failed")
        finally:
            self.active = False
            after()

    def drop(self) -> None:
        """Emit the start and the end of a stream whose work did not begin."""
        self.emit(self._events.start())
        self.end("aborted")

    def emit(self, *events: AgentEvent) -> None:
        """Store and deliver events as one batch."""
        self.ended = self.ended or any(event.type == "agent_end" for event in events)
        self._log.emit(events)

    def end(self, reason: str, data: Mapping[str, Any] | None = None) -> None:
        """Emit `agent_end`, unless the stream has ended."""
        if not self.ended:
            self.emit(self._events.end(reason, data))
        self.active = False


class StreamingAgent(AgentProtocol):
    """An agent with one stream at a time. Each stream is a task of the engine."""

    def __init__(self, tasks: BackgroundTasks) -> None:
        self._tasks = tasks
        self._log = EventLog()
        self._stream: AgentStream | None = None

    @property
    def events(self) -> Sequence[AgentEvent]:
        """Everything emitted so far, oldest first."""
        return self._log.events

    def subscribe(self, callback: Subscriber) -> Unsubscribe:
        """Call `callback` with every event from now on."""
        return self._log.subscribe(callback)

    async def abort(self) -> None:
        """Ask the active stream to end; its `agent_end` follows."""
        if self._stream is not None and self._stream.active:
            self._stream.controller.abort()

    def _refuse_second(self, session: str) -> None:
        """Raise `StreamActive` while a stream is active. `session` names the agent."""
        if self._stream is not None and self._stream.active:
            raise StreamActive(f"{session}.send() cannot be called while a stream is active.")

    def _start(
        self,
        stream: AgentStream,
        work: Callable[[], Awaitable[None]],
        name: str,
        after: Callable[[], None] = lambda: None,
    ) -> str:
        """Start the task that runs the stream, and then calls `after`; return the stream's id."""
        self._tasks.start(stream.run(work, after), name=name, unbegun=stream.drop)
        return stream.id

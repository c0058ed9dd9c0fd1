"""`ChildSession`: the `ChildAgent` of a subagent, for every runtime.

Source: core `agents/local-subagent-protocol.ts`.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable
from dataclasses import replace

from agent_protocol.agent import AgentSend, MessageSend, UpdateSend
from agent_protocol.event_log import EventLog
from services.abort import AbortSignal
from services.background import BackgroundTasks
from services.bundle import Services
from services.chat import AgentStream, NumberedEvents, StreamingAgent
from services.children.child_services import child_services
from services.model.errors import is_abort
from services.subagents.activity import SubagentActivity
from services.subagents.activity_events import activity_event
from services.subagents.child import ChildAgent, ChildRequest
from services.subagents.definition import ABORTED_OUTPUT, AgentOutput
from services.wire import JsonObject

__all__ = ["ChildSession", "ChildStream"]


class ChildStream(AgentStream):
    """One run of a subagent: a stream of its activities, and a result."""

    def __init__(self, services: Services, log: EventLog) -> None:
        stream_id = services.ids.uuid("stream")
        super().__init__(NumberedEvents(stream_id, clock=services.clock), log)
        self._outcome: AgentOutput | Exception = ABORTED_OUTPUT
        self._over = asyncio.Event()

    def emit_activity(self, activity: SubagentActivity) -> None:
        """Emit the event of an activity."""
        self.emit(activity_event(activity, self._events.fields()))

    def finish(self) -> None:
        """Mark the run as over: there is a result."""
        self._over.set()

    async def take_output(self, work: Awaitable[AgentOutput]) -> None:
        """Keep the output or error of `work` as the result, and end the stream."""
        signal = self.controller.signal
        try:
            self._outcome = output = await work
        except Exception as error:
            if not (signal.aborted or is_abort(error)):
                self._outcome = error
                raise
            self.end("aborted")
        else:
            self.end("aborted" if signal.aborted else output.terminate_reason.end_reason)

    async def result(self) -> AgentOutput:
        """Wait for the end of the run; return its output or raise its error."""
        await self._over.wait()
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome


class ChildSession(StreamingAgent, ChildAgent):
    """One subagent. It is in `running` during a run."""

    _stream: ChildStream | None

    def __init__(
        self,
        parent: Services,
        request: ChildRequest,
        tasks: BackgroundTasks,
        running: set[ChildSession],
    ) -> None:
        super().__init__(tasks)
        self._on_activity = request.on_activity
        self._child = child_services(parent, replace(request, on_activity=self.report))
        self._running = running
        self._inputs: JsonObject = {}

    @abstractmethod
    async def _run(self, inputs: JsonObject, signal: AbortSignal) -> AgentOutput:
        """Run the subagent's task to its end, with every part of it."""

    @property
    def agent_id(self) -> str:
        """The id of the subagent, its session and its recording."""
        return self._child.agent_id

    async def send(self, payload: AgentSend) -> str | None:
        """Collect inputs (`UpdateSend`), or start the stream with them (`MessageSend`).

        A message's text is the input `query`. Other payloads have no effect.

        Raises:
            StreamActive: a stream is running.
        """
        if isinstance(payload, UpdateSend):
            self._inputs |= payload.config or {}
            return None
        if not isinstance(payload, MessageSend):
            return None
        query = "".join(part.text for part in payload.content if part.type == "text")
        inputs = {**self._inputs, "query": query} if query else self._inputs
        stream_id = self._begin(inputs)
        self._inputs = {}
        return stream_id

    async def start(self, inputs: JsonObject) -> None:
        """Start the stream with `inputs`.

        Raises:
            StreamActive: a stream is running.
        """
        self._begin(inputs)

    async def abort(self) -> None:
        """Ask the active stream to end; its `agent_end` follows."""
        self.stop()

    def stop(self) -> None:
        """Abort the active stream; unlike `abort` this needs no `await`."""
        if self._stream is not None:
            self._stream.controller.abort()

    async def result(self) -> AgentOutput:
        """Wait for the end of the stream; return its output or raise its error.

        Raises:
            RuntimeError: no stream was started.
        """
        if self._stream is None:
            raise RuntimeError("No active or completed stream")
        return await self._stream.result()

    def report(self, activity: SubagentActivity) -> None:
        """Report an activity to the caller that started the subagent, then emit it."""
        self._on_activity(activity)
        if self._stream is not None:
            self._stream.emit_activity(activity)

    def _begin(self, inputs: JsonObject) -> str:
        self._refuse_second("LocalSubagentProtocol")
        self._stream = stream = ChildStream(self._child.services, self._log)
        self._tasks.start(
            self._conduct(stream, inputs),
            name=f"child {self.agent_id}",
            unbegun=lambda: self._drop(stream),
        )
        self._running.add(self)
        return stream.id

    async def _conduct(self, stream: ChildStream, inputs: JsonObject) -> None:
        async def work() -> None:
            await stream.take_output(self._run(inputs, stream.controller.signal))

        try:
            await stream.run(work)
        finally:
            self._finish(stream)

    def _drop(self, stream: ChildStream) -> None:
        stream.drop()
        self._finish(stream)

    def _finish(self, stream: ChildStream) -> None:
        stream.finish()
        self._running.discard(self)

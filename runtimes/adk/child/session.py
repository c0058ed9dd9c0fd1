"""`AdkChild`: a child's agent with what a task has beyond a protocol: an id, inputs, a result.

Source: core `agents/local-subagent-protocol.ts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from agent_protocol.agent import AgentSend, MessageSend, Subscriber, Unsubscribe, UpdateSend
from agent_protocol.errors import StreamActive
from agent_protocol.event_log import EventLog
from agent_protocol.events import AgentEvent
from runtimes.adk.agent import AdkAgentProtocol
from runtimes.adk.child.termination import ChildTermination
from runtimes.adk.send import Invoke
from runtimes.adk.stream import OpenStream
from services.bundle import Services
from services.chat import NumberedEvents
from services.children.child_services import child_services
from services.model.errors import is_abort
from services.presentation.errors import unexpected_error
from services.subagents.activity import SubagentActivity
from services.subagents.activity_events import activity_event
from services.subagents.child import ChildAgent, ChildRequest
from services.subagents.definition import ABORTED_OUTPUT, AgentOutput, TerminateMode
from services.wire import JsonObject

__all__ = ["AdkChild", "ChildSend", "ChildStream"]


class ChildStream(OpenStream):
    """The one stream of a child."""

    def __init__(self, services: Services, log: EventLog) -> None:
        self._ids = services.ids
        stream_id = services.ids.uuid("stream")
        super().__init__(stream_id, NumberedEvents(stream_id, clock=services.clock), log)

    def emit_activity(self, activity: SubagentActivity) -> None:
        """Emit the event of an activity."""
        fields = self._events.fields()
        self.emit(activity_event(activity, fields, lambda: self._ids.uuid("call")))

    def fail(self, error: Exception) -> None:
        """Emit what ended the run, and the end."""
        self.emit(self._events.error(unexpected_error(error)))
        self.end("failed")


class AdkChild(ChildAgent):
    """One child's session. It takes the sends itself: updates gather inputs, a message starts."""

    def __init__(
        self,
        parent: Services,
        request: ChildRequest,
        release: Callable[[AdkChild], Awaitable[None]],
    ) -> None:
        """`release` is called once the child has run, and closes it."""
        self.child = child_services(parent, replace(request, on_activity=self.report))
        self._on_activity = request.on_activity
        self._release = release
        self._inputs: JsonObject = {}
        self._sent: ChildSend | None = None

    def run_on(self, agent: AdkAgentProtocol, termination: ChildTermination) -> None:
        """Take the agent whose sends this child takes, and what runs its task."""
        self._agent, self._termination = agent, termination

    @property
    def agent_id(self) -> str:
        """Its id, which is its session's and its recording's too."""
        return self.child.agent_id

    @property
    def events(self) -> Sequence[AgentEvent]:
        """Everything emitted so far, oldest first."""
        return self._agent.events

    def subscribe(self, callback: Subscriber) -> Unsubscribe:
        """Call `callback` with every event from now on."""
        return self._agent.subscribe(callback)

    def report(self, activity: SubagentActivity) -> None:
        """Report an activity to the caller that started the child, then emit it."""
        self._on_activity(activity)
        if self._sent is not None:
            self._sent.stream.emit_activity(activity)

    async def send(self, payload: AgentSend) -> str | None:
        """Take inputs, or start the stream; see `take`."""
        return await self._agent.send(payload)

    def take(self, payload: AgentSend, log: EventLog, *, busy: bool) -> ChildSend | None:
        """Gather inputs from an update; start the one stream at a message.

        Raises:
            StreamActive: it was started before.
        """
        if isinstance(payload, UpdateSend):
            self._inputs.update(payload.config or {})
            return None
        if not isinstance(payload, MessageSend):
            return None
        if busy or self._sent is not None:
            raise StreamActive(
                "LocalSubagentProtocol.send() cannot be called while a stream is active."
            )
        query = "".join(part.text for part in payload.content if part.type == "text")
        inputs = {**self._inputs, **({"query": query} if query else {})}

        async def release() -> None:
            await self._release(self)

        stream = ChildStream(self.child.services, log)
        self._sent = ChildSend(stream, inputs, self._termination, release)
        return self._sent

    async def start(self, inputs: JsonObject) -> None:
        """Start the stream with `inputs` as they are."""
        await self._agent.send(UpdateSend(config=inputs))
        await self._agent.send(MessageSend(content=()))

    async def abort(self) -> None:
        """Ask the run to end; `result` comes once it has."""
        self.stop()

    def stop(self) -> None:
        """The same, at once."""
        if self._sent is not None:
            self._sent.stream.controller.abort()

    async def close(self) -> None:
        """Let go of what it holds; one that has run does so by itself. It must be idle."""
        await self._agent.close()

    async def result(self) -> AgentOutput:
        """What came of the run, once nothing of it runs any more; raises what it raised.

        Raises:
            RuntimeError: nothing was sent.
        """
        if self._sent is None:
            raise RuntimeError("No active or completed stream")
        return await self._sent.result()


class ChildSend:
    """The child's run, as its stream and its result."""

    def __init__(
        self,
        stream: ChildStream,
        inputs: JsonObject,
        termination: ChildTermination,
        release: Callable[[], Awaitable[None]],
    ) -> None:
        self.stream = stream
        self._inputs = inputs
        self._termination = termination
        self._release = release
        self._outcome: AgentOutput | Exception = ABORTED_OUTPUT
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def announce(self) -> None:
        """Emit nothing: what a child was asked is no event."""

    async def drive(self, invoke: Invoke) -> None:
        """Run the task."""
        signal = self.stream.controller.signal
        output = await self._termination.drive(self._inputs, signal, invoke)
        aborted = signal.aborted or output.terminate_reason is TerminateMode.ABORTED
        self._outcome = output
        self.stream.end("aborted" if aborted else output.terminate_reason.end_reason)

    def failed(self, error: Exception) -> None:
        """Emit the error and keep it as the result, unless the user has aborted."""
        if self.stream.controller.signal.aborted or is_abort(error):
            self.stream.end("aborted")
        else:
            self._outcome = error
            self.stream.fail(error)

    async def over(self) -> None:
        """Let go of everything; only then there is a result."""
        try:
            await self._release()
        finally:
            self.dropped()

    def dropped(self) -> None:
        """The result is that of an abort."""
        if not self._over.done():
            self._over.set_result(None)

    async def result(self) -> AgentOutput:
        """The output, once nothing runs any more; raises what the run raised."""
        await asyncio.shield(self._over)
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome

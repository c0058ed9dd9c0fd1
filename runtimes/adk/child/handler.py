"""The sends of a child: updates gather its inputs, one message starts its one stream.

Source: core `agents/local-subagent-protocol.ts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from agent_protocol.agent import AgentSend, MessageSend, UpdateSend
from agent_protocol.errors import StreamActive
from agent_protocol.event_log import EventLog
from runtimes.adk.child.stream import ChildStream
from runtimes.adk.child.termination import ChildTermination
from runtimes.adk.send import Invoke
from services.children.child_services import ChildServices
from services.model.errors import is_abort
from services.subagents.activity import OnActivity, SubagentActivity
from services.subagents.definition import ABORTED_OUTPUT, AgentOutput, TerminateMode
from services.subagents.scopes import agent_scope
from services.wire import JsonObject

__all__ = ["ActivityRelay", "ChildHandler", "ChildSend"]

Release = Callable[[], Awaitable[None]]


class ActivityRelay:
    """Tells an activity to whoever started the child, then to the clients of its stream."""

    def __init__(self, first: OnActivity) -> None:
        self._first = first
        self.stream: ChildStream | None = None

    def __call__(self, activity: SubagentActivity) -> None:
        """Tell it."""
        self._first(activity)
        if self.stream is not None:
            self.stream.tell(activity)


class ChildHandler:
    """What a child makes of what it is sent."""

    def __init__(
        self,
        child: ChildServices,
        termination: ChildTermination,
        relay: ActivityRelay,
        release: Release,
    ) -> None:
        """`release` lets go of what the child holds, once it has ended."""
        self._child = child
        self._termination = termination
        self._relay = relay
        self._release = release
        self._inputs: JsonObject = {}
        self.sent: ChildSend | None = None

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
        if busy or self.sent is not None:
            raise StreamActive(
                "LocalSubagentProtocol.send() cannot be called while a stream is active."
            )
        query = "".join(part.text for part in payload.content if part.type == "text")
        inputs = {**self._inputs, **({"query": query} if query else {})}
        stream = ChildStream(self._child.services, log)
        self._relay.stream = stream
        self.sent = ChildSend(stream, inputs, self._child, self._termination, self._release)
        return self.sent


class ChildSend:
    """The child's run, as its stream and its result."""

    def __init__(
        self,
        stream: ChildStream,
        inputs: JsonObject,
        child: ChildServices,
        termination: ChildTermination,
        release: Release,
    ) -> None:
        self.stream = stream
        self._inputs = inputs
        self._child = child
        self._termination = termination
        self._release = release
        self._outcome: AgentOutput | Exception = ABORTED_OUTPUT
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def announce(self) -> None:
        """Nothing: nobody is told what a child was asked."""

    async def drive(self, invoke: Invoke) -> None:
        """Run the task inside its scopes."""
        child, signal = self._child, self.stream.controller.signal
        await child.toolset.open()
        with agent_scope(child.definition, child.services.workspace).entered():
            output = await self._termination.run(self._inputs, signal, invoke)
        aborted = signal.aborted or output.terminate_reason is TerminateMode.ABORTED
        self._outcome = output
        self.stream.end("aborted" if aborted else output.terminate_reason.end_reason)

    def failed(self, error: Exception) -> None:
        """Tell of it and keep it as the result, unless somebody has aborted."""
        if self.stream.controller.signal.aborted or is_abort(error):
            self.stream.end("aborted")
        else:
            self._outcome = error
            self.stream.fail(error)

    async def over(self) -> None:
        """Let go of everything; only then there is a result."""
        try:
            self._child.toolset.close()
            await self._release()
        finally:
            if not self._over.done():
                self._over.set_result(None)

    def dropped(self) -> None:
        """The result is that of an abort."""
        self._over.set_result(None)

    async def result(self) -> AgentOutput:
        """The output, once nothing runs any more; raises what the run raised."""
        await asyncio.shield(self._over)
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome

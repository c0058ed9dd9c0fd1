"""`LegacyChildAgent`: a child's session on this engine, behind `ChildAgent`.

Source: core `agents/local-subagent-protocol.ts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from agent_protocol.agent import AgentSend, MessageSend, Subscriber, Unsubscribe, UpdateSend
from agent_protocol.content import TextPart
from agent_protocol.errors import StreamActive
from agent_protocol.event_log import EventLog
from agent_protocol.events import AgentEvent
from runtimes.legacy.child_events import ChildTranslator
from runtimes.legacy.executor import LocalAgentExecutor
from services.abort import AbortController
from services.background import BackgroundTasks
from services.bundle import Services
from services.children.child_services import child_services
from services.model.errors import is_abort
from services.presentation.errors import unexpected_error
from services.subagents.activity import SubagentActivity
from services.subagents.child import ChildAgent, ChildRequest
from services.subagents.definition import ABORTED_OUTPUT, AgentOutput
from services.wire import JsonObject

__all__ = ["LegacyChildAgent"]


class LegacyChildAgent(ChildAgent):
    """One child; its runs belong to the engine's tasks, and it is in `running` while it has one."""

    def __init__(
        self,
        parent: Services,
        request: ChildRequest,
        tasks: BackgroundTasks,
        running: set[LegacyChildAgent],
    ) -> None:
        self._on_activity = request.on_activity
        self._child = child_services(parent, replace(request, on_activity=self._tell))
        self._tasks = tasks
        self._running = running
        self._log = EventLog()
        self._config: JsonObject = {}
        self._stream: _Stream | None = None

    @property
    def agent_id(self) -> str:
        """Its id, which is its session's and its recording's too."""
        return self._child.agent_id

    @property
    def events(self) -> Sequence[AgentEvent]:
        """Everything emitted so far, oldest first."""
        return self._log.events

    def subscribe(self, callback: Subscriber) -> Unsubscribe:
        """Call `callback` with every event from now on."""
        return self._log.subscribe(callback)

    async def send(self, payload: AgentSend) -> str | None:
        """Buffer inputs (`UpdateSend`), or start the stream with them (`MessageSend`).

        The message's text, if there is any, is the input `query`. Anything else does nothing.

        Raises:
            StreamActive: a stream is running.
        """
        if isinstance(payload, UpdateSend):
            self._config |= payload.config or {}
            return None
        if not isinstance(payload, MessageSend):
            return None
        query = "".join(part.text for part in payload.content if isinstance(part, TextPart))
        self._refuse_second()
        inputs, self._config = {**self._config, **({"query": query} if query else {})}, {}
        return self._begin(inputs)

    async def start(self, inputs: JsonObject) -> None:
        """Start the stream with `inputs` as they are.

        Raises:
            StreamActive: a stream is running.
        """
        self._refuse_second()
        self._begin(inputs)

    async def abort(self) -> None:
        """Ask the active stream to end; its `agent_end` follows."""
        self.stop()

    def stop(self) -> None:
        """The same, at once."""
        if self._stream is not None:
            self._stream.controller.abort()

    async def result(self) -> AgentOutput:
        """Wait for the stream's end and return its output; raises what the run raised.

        Once aborted: `AgentOutput(result="", terminate_reason=ABORTED)`, or what the run returned
        by itself.

        Raises:
            RuntimeError: nothing was started.
        """
        if self._stream is None:
            raise RuntimeError("No active or completed stream")
        return await self._stream.result()

    def _refuse_second(self) -> None:
        if self._stream is not None and self._stream.active:
            raise StreamActive(
                "LocalSubagentProtocol.send() cannot be called while a stream is active."
            )

    def _begin(self, inputs: JsonObject) -> str:
        stream_id = self._child.services.ids.uuid("stream")
        translator = ChildTranslator(stream_id, self._child.services)
        self._stream = stream = _Stream(LocalAgentExecutor(self._child), self._log, translator)
        self._tasks.start(
            self._run(stream, inputs),
            name=f"legacy child {self.agent_id}",
            unbegun=lambda: self._drop(stream),
        )
        self._running.add(self)
        return stream_id

    def _drop(self, stream: _Stream) -> None:
        stream.drop()
        self._running.discard(self)

    async def _run(self, stream: _Stream, inputs: JsonObject) -> None:
        try:
            await stream.run(inputs)
        finally:
            self._running.discard(self)

    def _tell(self, activity: SubagentActivity) -> None:
        """Whoever invoked the agent hears of it before it becomes events."""
        self._on_activity(activity)
        if self._stream is not None:
            self._stream.tell(activity)


class _Stream:
    """One run as a stream: from `agent_start` to exactly one `agent_end`."""

    def __init__(
        self, executor: LocalAgentExecutor, log: EventLog, translator: ChildTranslator
    ) -> None:
        self.controller = AbortController()
        self.active = True
        self._executor = executor
        self._log = log
        self._translator = translator
        self._over = asyncio.Event()
        self._output: AgentOutput | None = None
        self._error: Exception | None = None

    async def run(self, inputs: JsonObject) -> None:
        """Drive it; what the run raises is kept for `result`."""
        signal = self.controller.signal
        self._log.emit([self._translator.start()])
        try:
            self._output = await self._executor.run(inputs, signal)
            reason = self._output.terminate_reason
            self._end("aborted" if signal.aborted else reason.end_reason)
        except asyncio.CancelledError:
            self._output = ABORTED_OUTPUT
            self._end("aborted")
            raise
        except Exception as error:  # noqa: BLE001 - the border: it is the stream's failure
            if signal.aborted or is_abort(error):
                self._output = ABORTED_OUTPUT
                self._end("aborted")
            else:
                self._error = error
                self._log.emit([self._translator.error(unexpected_error(error))])
                self._end("failed")
        finally:
            self._over.set()

    def drop(self) -> None:
        """End it without having begun."""
        self._log.emit([self._translator.start()])
        self._output = ABORTED_OUTPUT
        self._end("aborted")
        self._over.set()

    def tell(self, activity: SubagentActivity) -> None:
        """Emit what an activity is as an event."""
        self._log.emit([self._translator.translate(activity)])

    async def result(self) -> AgentOutput:
        await self._over.wait()
        if self._output is None:
            raise self._error or RuntimeError("a stream that is over has an output or an error")
        return self._output

    def _end(self, reason: str) -> None:
        self.active = False
        self._log.emit([self._translator.end(reason)])

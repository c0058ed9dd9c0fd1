"""Runs local agents for the tool that invokes them: follows a child and reports its end.

Source: core `agents/local-invocation.ts`, `agents/local-session-invocation.ts`.
"""

from __future__ import annotations

import asyncio
import logging
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from agent_protocol.agent import MessageSend, UpdateSend
from agent_protocol.content import TextPart
from services.abort import AbortError, AbortSignal
from services.ids import IdSource
from services.message_bus import MessageBus, SubagentActivityUpdate
from services.subagents.activity import SubagentActivity
from services.subagents.child import ChildAgent, ChildRequest
from services.subagents.definition import (
    ABORTED_OUTPUT,
    AgentOutput,
    LocalAgentDefinition,
    TerminateMode,
)
from services.subagents.progress import (
    ActivityTrail,
    Progress,
    SubagentState,
    finished_progress,
    progress,
)
from services.subagents.subagents import Subagents
from services.tools.base import PlainInvocation
from services.tools.contract import ToolExecution, ToolResult
from services.wire import Json, JsonObject, js_text

__all__ = [
    "CANCELLED",
    "LocalInvocation",
    "LocalSessionInvocation",
    "LocalSubagentInvocation",
    "SessionParts",
]

logger = logging.getLogger(__name__)

CANCELLED: Final = "Operation cancelled by user"
_LAST_WAIT_S: Final = 10.0
"""The longest wait for the end of an aborted child."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionParts:
    """The parts of a session that an invocation uses."""

    subagents: Subagents
    ids: IdSource
    bus: MessageBus


class LocalInvocation(PlainInvocation):
    """One call of a local agent, with its declared inputs."""

    newest: ClassVar[int | None]
    """The limit on shown activities."""
    typed: ClassVar[bool]
    """See `ActivityTrail.typed`."""
    always_ends: ClassVar[bool]
    """Whether an abort in a model call ends the run with a result, instead of raising."""

    def __init__(
        self, definition: LocalAgentDefinition, inputs: JsonObject, parts: SessionParts
    ) -> None:
        super().__init__(inputs)
        self.definition = definition
        self._parts = parts

    @property
    def policy_name(self) -> str:
        """The agent's name, under which the policy decides."""
        return self.definition.name

    @property
    def shown_name(self) -> str:
        """The agent's display name."""
        return self.definition.shown_name

    def description(self) -> str:
        """Describe the agent and its inputs in one line."""
        inputs = ", ".join(f"{key}: {js_text(value)}" for key, value in self._params.items())
        return f"Running subagent '{self.definition.name}' with inputs: {{ {inputs} }}"

    @abstractmethod
    async def begin(self, child: ChildAgent) -> None:
        """Give `child` its inputs, which starts it."""

    @abstractmethod
    def data(self, child: ChildAgent | None) -> Mapping[str, Any] | None:
        """Return the result's `data`; `child` is `None` where it could not be made."""

    async def execute(self, execution: ToolExecution) -> ToolResult:
        """Run the agent until nothing of it runs any more.

        Raises:
            AbortError: the agent was aborted.
        """
        shown = _Shown(self, execution)
        child: ChildAgent | None = None
        try:
            shown.update(SubagentState.RUNNING)
            request = ChildRequest(
                definition=self.definition,
                parent_call_id=execution.call_id,
                on_activity=shown.take,
            )
            child = self._parts.subagents.start(request)
            output = await _followed(child, self.begin, execution.signal)
            if output.terminate_reason is TerminateMode.ABORTED:
                if self.always_ends or output is not ABORTED_OUTPUT:
                    shown.update(SubagentState.CANCELLED)
                raise AbortError(CANCELLED)
            return ToolResult(
                llm_content=[{"text": _finished(self.definition.name, output)}],
                return_display=shown.finish(output),
                data=self.data(child),
            )
        except Exception as error:  # The model receives an agent's failure as text.
            fault = str(error)
            if _is_abort(error, fault):
                shown.fail(None)
                raise
            logger.warning("subagent %r failed: %s", self.definition.name, fault)
            return ToolResult(
                llm_content=f"Subagent '{self.definition.name}' failed. Error: {fault}",
                return_display=shown.fail(fault),
                data=self.data(child),
            )

    def trail(self, call_id: str) -> ActivityTrail:
        """Make an empty list of activities for the execution of `call_id`."""
        return ActivityTrail(
            # One scope per call, because parallel agents must not share a count.
            new_id=lambda: self._parts.ids.uuid(f"subagent-activity {call_id}"),
            publish=self._publish,
            newest=self.newest,
            typed=self.typed,
        )

    def _publish(self, item: JsonObject) -> None:
        self._parts.bus.publish(
            SubagentActivityUpdate(subagent=self.definition.shown_name, activity=item)
        )


class LocalSubagentInvocation(LocalInvocation):
    """Runs an agent directly: `experimental.adk.agentSessionSubagentEnabled` is off."""

    newest: ClassVar[int | None] = None
    typed: ClassVar[bool] = False
    always_ends: ClassVar[bool] = False

    async def begin(self, child: ChildAgent) -> None:
        """Start `child` with the inputs."""
        await child.start(self.params)

    def data(self, child: ChildAgent | None) -> Mapping[str, Any] | None:
        """Return the agent's id, if there is an agent."""
        return None if child is None else {"agentId": child.agent_id}


class LocalSessionInvocation(LocalInvocation):
    """Runs an agent as a session: `experimental.adk.agentSessionSubagentEnabled` is on."""

    newest: ClassVar[int | None] = 3
    typed: ClassVar[bool] = True
    always_ends: ClassVar[bool] = True

    async def begin(self, child: ChildAgent) -> None:
        """Send `child` the other inputs, then the query as a message."""
        others = {key: value for key, value in self.params.items() if key != "query"}
        given = self.params.get("query")
        if others:
            await child.send(UpdateSend(config=others))
        query = "" if given is None else js_text(given)
        await child.send(MessageSend(content=(TextPart(text=query),)))

    def data(self, child: ChildAgent | None) -> Mapping[str, Any] | None:
        """Return no data."""
        return None


class _Shown:
    """The progress of one execution; activities are dropped where no client shows them."""

    def __init__(self, invocation: LocalInvocation, execution: ToolExecution) -> None:
        self._agent = invocation.definition.name
        self._trail = invocation.trail(execution.call_id)
        self._output: Callable[[Json], None] | None = execution.update_output

    def take(self, activity: SubagentActivity) -> None:
        if self._output is not None and self._trail.take(activity):
            self.update(SubagentState.RUNNING)

    def update(self, state: SubagentState) -> Progress:
        return self._show(progress(self._agent, self._trail.items, state))

    def finish(self, output: AgentOutput) -> Progress:
        return self._show(finished_progress(self._agent, self._trail.items, output))

    def fail(self, fault: str | None) -> Progress:
        self._trail.settle(fault)
        return self.update(SubagentState.CANCELLED if fault is None else SubagentState.ERROR)

    def _show(self, value: Progress) -> Progress:
        if self._output is not None:
            self._output(value)
        return value


def _finished(agent: str, output: AgentOutput) -> str:
    return (
        f"Subagent '{agent}' finished.\nTermination Reason: {output.terminate_reason}\n"
        f"Result:\n{output.result}"
    )


def _is_abort(error: Exception, message: str) -> bool:
    return getattr(error, "name", None) == AbortError.name or "Aborted" in message


async def _followed(
    child: ChildAgent, begin: Callable[[ChildAgent], Awaitable[None]], signal: AbortSignal
) -> AgentOutput:
    """Start `child` and wait for its result; an abort or a cancellation ends it first."""

    async def run() -> AgentOutput:
        await begin(child)
        if signal.aborted:  # it was aborted before the child began
            child.stop()
        return await child.result()

    loop = asyncio.get_running_loop()
    off = signal.on_abort(child.stop)
    running, aborted = loop.create_task(run()), loop.create_task(signal.wait())
    try:
        await asyncio.wait([running, aborted], return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            await _ended(child, running)
        return running.result() if running.done() else ABORTED_OUTPUT
    except asyncio.CancelledError:
        await _ended(child, running)
        raise
    finally:
        off()
        for task in (running, aborted):
            task.cancel()
        await asyncio.wait([running, aborted])


async def _ended(child: ChildAgent, running: asyncio.Task[AgentOutput]) -> None:
    """Stop `child` and wait for its end, up to a limit."""
    child.stop()
    await asyncio.wait([running], timeout=_LAST_WAIT_S)
    if not running.done():
        logger.error("a subagent did not end within %s s of its abort", _LAST_WAIT_S)

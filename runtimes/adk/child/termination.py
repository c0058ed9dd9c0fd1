"""`ChildTermination`: a child's turns on ADK, and why they end.

ADK's flow drives the turns: one invocation for the task and one for the recovery turn.
`services.children.run` has what is around them.

Source: core `agents/local-executor.ts` (`runInternal`, `executeTurn`).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractContextManager
from dataclasses import dataclass

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.models.llm_request import LlmRequest
from google.adk.plugins.base_plugin import BasePlugin

from runtimes.adk.agent import Invoke
from runtimes.adk.conversation import Conversation
from runtimes.adk.notes import Delta, note_of
from runtimes.adk.plugins.child import CompleteTaskAdkPlugin
from runtimes.adk.plugins.limits import MaxTimeAdkPlugin, MaxTurnsAdkPlugin
from runtimes.adk.plugins.steering import SteeringAdkPlugin
from runtimes.adk.processors.base import agent_event
from runtimes.adk.run import Run, RunLink
from runtimes.adk.tool_round import ToolRound
from services.abort import AbortSignal
from services.children.calls import ChildCalls
from services.children.chats import open_chat
from services.children.child_services import ChildServices
from services.children.run import ChildRun, Ended
from services.model.parts import parse_thought
from services.model.sdk_contents import WireContent
from services.model.stream import call_name
from services.subagents.definition import AgentOutput, TerminateMode
from services.subagents.prompt import ChildPrompt
from services.subagents.steering_inbox import SteeringInbox
from services.wire import JsonObject, Part

__all__ = ["ChildCall", "ChildConversation", "ChildTermination"]


class ChildConversation(Conversation):
    """A child's chat. The session's figures and its context are its parent's."""

    def publish_tokens(self) -> None:
        """Do nothing: the session publishes its own conversation's prompts."""


@dataclass(frozen=True, slots=True)
class ChildCall:
    """A function call of the model as ADK sees it; `call` is the original."""

    call: JsonObject

    @property
    def call_id(self) -> str:
        """Its id; empty where the model gave none."""
        return self.call.get("id") or ""

    @property
    def name(self) -> str:
        """The tool's name."""
        return call_name(self.call)

    @property
    def args(self) -> JsonObject:
        """Its arguments, where they are an object."""
        args = self.call.get("args")
        return args if isinstance(args, dict) else {}


class ChildTermination(ChildRun):
    """Runs one child once. Its processors and its calls report to it what ends a turn."""

    instruction: str
    """The system instruction, once the chat is open."""
    _invoke: Invoke
    # Of the invocation under way:
    _recovering: bool
    _end: TerminateMode | None
    _goes_on: bool

    def __init__(self, child: ChildServices, chat: ChildConversation, link: RunLink) -> None:
        services, limits = child.services, child.definition.limits
        self.max_turns = MaxTurnsAdkPlugin(max(0, limits.turns), driven=True)
        self.max_time = MaxTimeAdkPlugin(services.clock, limits.minutes * 60_000, driven=True)
        self.complete_task = CompleteTaskAdkPlugin()
        self.steering = SteeringAdkPlugin(SteeringInbox(services.steering), driven=True)
        super().__init__(child, self.max_time)
        self._chat = chat
        self._link = link
        self._calls = ChildCalls(
            child, waiting=self.max_time.waiting, record=chat.record_tool_calls
        )

    @property
    def plugins(self) -> tuple[BasePlugin, ...]:
        """The child's ADK plugins, in the order in which ADK calls them."""
        return self.max_turns, self.max_time, self.complete_task, self.steering

    @property
    def turns(self) -> int:
        """The turns that the task has begun."""
        return self.max_turns.turns

    async def drive(self, inputs: JsonObject, signal: AbortSignal, invoke: Invoke) -> AgentOutput:
        """Do `run` with the agent that `invoke` drives."""
        self._invoke = invoke
        return await self.run(inputs, signal)

    def begin_turn(self, run: Run) -> bool:
        """Begin a turn under a prompt id of its own, unless the time or the turns are used up.

        The recovery turn is not counted. It runs under the signal of its grace period.
        """
        turn = self.turns
        if not self._recovering:
            if self.max_turns.exhausted:
                self._end = TerminateMode.MAX_TURNS
                return False
            if run.signal.aborted:
                return False
            self.max_turns.turn_started()
        run.prompt_id = self._child.prompt_id(turn)
        run.begin_step()
        return True

    async def run_calls(
        self, context: InvocationContext, call_event: Event, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Run the turn's calls, those of failed attempts included.

        Yield the event that answers them, or none: then the invocation is over.
        """
        event = await self._answered(context, llm_request)
        if event is None:
            context.end_invocation = True
        else:
            yield event

    async def _answered(self, context: InvocationContext, llm_request: LlmRequest) -> Event | None:
        run = self._link.run
        if run.signal.aborted:
            return None
        assert run.step.key is not None, "the request was not routed"
        callbacks = ToolRound(self._child.services, context, llm_request.tools_dict)
        outcome = await self._calls.run(
            [each.call for each in run.step.answer.calls if isinstance(each, ChildCall)],
            run.prompt_id,
            run.signal,
            run.step.key.model,
            around=callbacks.run,
            added=callbacks.added,
        )
        if outcome.aborted:
            self._end = TerminateMode.ABORTED
            return None
        if self._recovering and not outcome.completed:
            self._goes_on = True
            return None
        parts = outcome.parts
        if not outcome.completed:
            parts = self.steering.before_answers(parts)
        actions = callbacks.actions(EventActions())
        # A child's task ends with `complete_task` alone; its plugin sets this then.
        actions.skip_summarization = None
        content = WireContent.of({"role": "user", "parts": parts}, outcome)
        return agent_event(context, content, actions=actions)

    def _open_chat(self, prompt: ChildPrompt) -> ChildConversation:
        start_history = prompt.start_history()
        self.instruction = prompt.system_instruction()
        open_chat(self._child, self._chat, start_history)
        return self._chat

    def _steered(self) -> AbstractContextManager[object]:
        return self.steering.collecting()

    async def _turns(
        self, parts: list[Part], signal: AbortSignal, *, recovery: bool
    ) -> Ended | None:
        """Run one invocation; return why its last turn was the last."""
        self._recovering, self._end, self._goes_on = recovery, None, False
        run = Run(prompt_id=self._child.prompt_id(self.turns), signal=signal)

        def read(event: Event) -> bool:
            return self._read(event, run)

        await self._invoke(run, parts, read)
        return self._ended(signal)

    def _ended(self, signal: AbortSignal) -> Ended | None:
        result = self.complete_task.result
        if result is not None:
            return Ended(TerminateMode.GOAL, result)
        if self._goes_on:
            return None
        cut_off = self.cut_off() if signal.aborted else TerminateMode.ERROR_NO_COMPLETE_TASK_CALL
        return Ended(self._end or cut_off)

    def _read(self, event: Event, run: Run) -> bool:
        """Report the subject of a chunk's first thought; return false after an abort.

        That ends the invocation.
        """
        if not event.partial:
            return True
        if run.signal.aborted:
            return False
        note = note_of(event)
        if isinstance(note, Delta) and note.part is not None and not note.index:
            subject = (
                note.part.get("thought") and parse_thought(note.part.get("text") or "").subject
            )
            if subject:
                self.report_thought(subject)
        return True

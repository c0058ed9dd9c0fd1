"""`ChildTermination`: a child's turns on ADK, and why they end.

ADK's flow drives the turns: one invocation for the task and one for the recovery turn.
`services.children.run` has what is around them.

Source: core `agents/local-executor.ts` (`runInternal`, `executeTurn`).
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass

from google.adk.events.event import Event
from google.adk.plugins.base_plugin import BasePlugin

from runtimes.adk.conversation import Conversation
from runtimes.adk.notes import Delta, note_of
from runtimes.adk.plugins.complete_task import CompleteTaskAdkPlugin
from runtimes.adk.plugins.limits import MaxTimeAdkPlugin, MaxTurnsAdkPlugin
from runtimes.adk.plugins.steering import SteeringAdkPlugin
from runtimes.adk.run import Run
from runtimes.adk.send import Invoke
from services.abort import AbortSignal
from services.chat import AnswerReader
from services.children.chats import open_chat
from services.children.child_services import ChildServices
from services.children.run import ChildRun, Ended
from services.model.parts import parse_thought
from services.model.stream import call_name
from services.subagents.definition import AgentOutput, TerminateMode
from services.subagents.prompt import ChildPrompt
from services.wire import JsonObject, Part

__all__ = ["ChildCall", "ChildConversation", "ChildPlugins", "ChildTermination"]


class ChildConversation(Conversation):
    """A child's chat. The session's figures and its context are its parent's."""

    def publish_tokens(self) -> None:
        """Do nothing: the session publishes its own conversation's prompts."""


@dataclass(frozen=True, slots=True)
class ChildCall:
    """A function call of the model as ADK sees it; `ChildTermination.calls` has the original."""

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


class ChildPlugins:
    """The ADK plugins of one child, all of them driven by its parts."""

    def __init__(self, child: ChildServices) -> None:
        services, limits = child.services, child.definition.limits
        self.max_turns = MaxTurnsAdkPlugin(max(0, limits.turns), driven=True)
        self.max_time = MaxTimeAdkPlugin(services.clock, limits.minutes * 60_000, driven=True)
        self.complete_task = CompleteTaskAdkPlugin()
        self.steering = SteeringAdkPlugin(services.steering, driven=True)

    @property
    def all(self) -> tuple[BasePlugin, ...]:
        """The plugins, in the order in which ADK calls them."""
        return self.max_turns, self.max_time, self.complete_task, self.steering


class ChildTermination(ChildRun):
    """Runs one child once. The child's processors and its batch report to it what ends a turn."""

    def __init__(
        self, child: ChildServices, chat: ChildConversation, plugins: ChildPlugins
    ) -> None:
        super().__init__(child, plugins.max_time)
        self.child = child
        self.chat = chat
        self.plugins = plugins
        self._answer = AnswerReader()
        self._invoke: Invoke | None = None
        self._end: TerminateMode | None = None
        self._goes_on = False
        self.instruction = ""
        """The system instruction, once the chat is open."""
        self.recovering = False
        """The one turn is under way in which the child may still submit its result."""

    @property
    def turns(self) -> int:
        """The turns that the task has begun."""
        return self.plugins.max_turns.turns

    @property
    def calls(self) -> list[JsonObject]:
        """Every call of the turn under way, those of failed attempts included."""
        return [each.call for each in self._answer.calls if isinstance(each, ChildCall)]

    async def drive(self, inputs: JsonObject, signal: AbortSignal, invoke: Invoke) -> AgentOutput:
        """Do `run` with the Runner that `invoke` calls."""
        self._invoke = invoke
        return await self.run(inputs, signal)

    def begin_turn(self, run: Run) -> bool:
        """Begin a turn under a prompt id of its own, unless the time or the turns are used up.

        The recovery turn is not counted. It runs under the signal of its grace period.
        """
        turn = self.turns
        if not self.recovering:
            if self.plugins.max_turns.exhausted:
                self.stop(TerminateMode.MAX_TURNS)
                return False
            if run.signal.aborted:
                self.stop()
                return False
            self.plugins.max_turns.turn_started()
        run.begin_task_turn(self.child.prompt_id(turn))
        self._answer = run.step.answer
        return True

    def stop(self, end: TerminateMode | None = None) -> None:
        """End the invocation under way; by default for the reason that aborted its signal."""
        self._end = end or self.cut_off()

    def go_on(self) -> None:
        """End the invocation of a recovery turn that has not completed the task."""
        self._goes_on = True

    def _open_chat(self, prompt: ChildPrompt) -> ChildConversation:
        start_history = prompt.start_history()
        self.instruction = prompt.system_instruction()
        open_chat(self.child, self.chat, start_history)
        return self.chat

    def _steered(self) -> AbstractContextManager[object]:
        return self.plugins.steering.collecting()

    async def _turns(
        self, parts: list[Part], signal: AbortSignal, *, recovery: bool
    ) -> Ended | None:
        """One invocation; why its last turn was the last."""
        if self._invoke is None:
            raise RuntimeError("a child's turns need a Runner")
        self._begin(recovery)
        run = Run(prompt_id=self.child.prompt_id(self.turns), signal=signal)

        def read(event: Event) -> bool:
            return self._read(event, run)

        await self._invoke(run, {"role": "user", "parts": parts}, read)
        result = self.plugins.complete_task.result
        if result is not None:
            return Ended(TerminateMode.GOAL, result)
        if self._end is None and self._goes_on:
            return None
        if self._end is None and signal.aborted:
            self.stop()
        return Ended(self._end or TerminateMode.ERROR_NO_COMPLETE_TASK_CALL)

    def _begin(self, recovery: bool) -> None:
        self.recovering, self._end, self._goes_on = recovery, None, False

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
            thought = note.part.get("text") if note.part.get("thought") else ""
            subject = parse_thought(thought or "").subject
            if subject:
                self.report_thought(subject)
        return True

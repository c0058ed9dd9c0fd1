"""`Task`: a task whose session is open. It answers messages and reports what happens.

Source: `packages/a2a-server` `agent/task.ts`, `agent/executor.ts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from agent_protocol.agent import AgentProtocol, MessageSend
from agent_protocol.content import ContentPart, TextPart, ThoughtPart
from agent_protocol.errors import SendRejected
from agent_protocol.events import AgentEnd, AgentEvent, ErrorEvent, Message, SessionUpdate
from services.message_bus import ToolCallsUpdate
from services.model.errors import FatalError
from services.scheduler.calls import CallStatus
from services.scheduler.states import ToolCall
from services.wire import JsonObject
from surfaces.a2a.call_feed import CallFeed
from surfaces.a2a.calls import Answer
from surfaces.a2a.dialects import dialect_of
from surfaces.a2a.extension.executions import Execution
from surfaces.a2a.extension.task_commands import TaskCommands
from surfaces.a2a.feed import TaskFeed
from surfaces.a2a.listeners import Listener
from surfaces.a2a.record import TaskRecord
from surfaces.a2a.voice import UPDATE, TaskVoice
from surfaces.a2a.wire import RpcError
from surfaces.allowed import Allowed, allows_for_ever
from surfaces.headless.failures import api_error_text, failure_of
from surfaces.headless.session_log import log_prompt
from surfaces.terminal.live import LiveSession

__all__ = ["Task"]

_INPUT_REQUIRED: Final = "input-required"
_NOT_FAILED: Final = frozenset({"INVALID_STREAM", "AGENT_EXECUTION_BLOCKED", "LOOP_DETECTED"})
"""The codes of errors after which the task takes further messages."""


@dataclass(slots=True)
class _Run:
    """A prompt that the agent works on."""

    prompt_id: str
    agent: AgentProtocol
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the stream has ended."""
    done: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when another prompt may begin."""


@dataclass(frozen=True, slots=True)
class _Ending:
    """How the turn ends, where it does not end as usual."""

    state: str
    text: str | None


class Task:
    """A task, over an open session.

    A turn lasts until the agent has answered, or until every prompt waits for an approval. Then
    the final event follows, and the next message begins a turn.

    Args:
        feed: the task's record, and those who follow it.
        live: the session.
    """

    def __init__(self, feed: TaskFeed, live: LiveSession) -> None:
        self.feed = feed
        self.live = live
        allowed = Allowed(
            session=not live.services.settings.disable_always_allow,
            for_ever=allows_for_ever(live.prepared.plan.document),
        )
        self._dialect = dialect_of(self.record.extension, allowed, live.user_tier)
        self._voice = TaskVoice(feed, live, self._dialect)
        self.commands = TaskCommands(live, self, allowed)
        self._own_command = False
        self._notes: list[TextPart] = []
        self._calls = CallFeed(self)
        self._unheard: list[str] = []
        """The calls whose questions came when no turn was under way."""
        self._runs: list[_Run] = []
        self._idle = asyncio.Event()
        self._idle.set()
        self._over = asyncio.Event()
        self._group: asyncio.TaskGroup | None = None
        self._ending: _Ending | None = None
        self._count = 0
        self._submitting = 0

    @property
    def record(self) -> TaskRecord:
        """The task's document."""
        return self.feed.record

    @property
    def model(self) -> str:
        """The model that answers, or the configured one before the first answer."""
        return self._voice.model

    @property
    def is_busy(self) -> bool:
        """Whether a turn is under way."""
        return not self._idle.is_set()

    async def serve(self, ready: asyncio.Event) -> None:
        """Serve the task until it is over; sets `ready` when it takes messages."""
        self.live.services.bus.subscribe(ToolCallsUpdate, self._calls.take)
        async with asyncio.TaskGroup() as self._group:
            ready.set()
            await self._over.wait()
            self.commands.end()
            for run in self._runs:
                await run.agent.abort()

    @property
    def is_closed(self) -> bool:
        """Whether the session ends, or has ended."""
        return self._over.is_set()

    @property
    def is_quiet(self) -> bool:
        """Whether the session can be closed and opened again, and no client notices."""
        return not (self.is_busy or self._submitting or self._notes or self.record.waiting)

    def resume(self, *, follows: bool = False) -> Listener:
        """The task as it is now, and the events from now on.

        Args:
            follows: whether the events of further turns follow.
        """
        listener = self.feed.listen(follows=follows)
        listener.add(self.record.shown_whole(), self.feed.saved)
        for call, text in self._calls.writing():
            # The history has no output of a running call.
            event = self._voice.output_update(call, text)
            if event is not None:
                listener.add(event)
        return listener

    def close(self) -> None:
        """End the session; the task takes further messages in another one."""
        self._over.set()

    async def submit(self, message: JsonObject, *, announces: bool = False) -> Listener:
        """Begin to answer a message.

        A text waits for the end of the turn under way, and takes the place of an approval that
        the agent waits for. An answer to a confirmation does neither.

        Args:
            message: the message of A2A 0.3.
            announces: whether the listener gets the task itself first.

        Raises:
            RpcError: the task takes no message, or an answer cannot be followed.
        """
        answers, texts = self._dialect.read(message)
        self._check_open()
        for answer in answers:
            if not self.commands.check(answer):
                self._dialect.check(answer, self._calls.asked(answer.call_id))
        if texts:
            await self._take_turn()
        for answer in answers:
            self._announce(answer)
        listener = self.feed.listen()
        record = self.record
        record.said({**message, "taskId": record.id, "contextId": record.context_id})
        saved = self.feed.keep()
        if announces:
            listener.add(record.shown_whole(), saved)
        answered = [self._follow(answer) for answer in answers]
        if texts:
            self._begin([TextPart(text=text) for text in texts if text])
        elif not any(answered) and not self.is_busy:
            self._end_turn()
            record.keep_state(record.state)
            self.feed.keep()
        return listener

    async def execute(self, path: Sequence[str], args: str, *, own: bool) -> Execution:
        """Begin a turn in which a command runs.

        Args:
            path: the command's names, from the outermost one.
            args: its arguments.
            own: whether the task exists for the command alone. Then it fails with the command, and
                its session ends with the turn.

        Raises:
            CommandError: there is no such command, or it cannot run now.
            RpcError: the task is over.
        """
        self._check_open()
        self._submitting += 1
        try:
            command = await self.commands.prepared(path, args, busy=bool(self._runs))
        finally:
            self._submitting -= 1
        self._check_open()
        assert self._group is not None
        self._own_command = own
        self._idle.clear()
        self._voice.state("working")
        self.commands.begin(command, self._group)
        return command

    def reject(self, text: str) -> None:
        """End the task, which cannot begin."""
        self._ending = _Ending("rejected", text)
        self._end_turn()

    def cancel(self) -> JsonObject:
        """Cancel the task; return it as the client reads it.

        Raises:
            RpcError: it is over.
        """
        if self.record.is_over:
            raise RpcError(-32002, f"Task not cancelable: {self.record.id}")
        busy = self.is_busy
        if busy:
            self._ending = _Ending("canceled", "Task canceled by user request.")
        else:
            self._voice.begin_message()
            self._ending = _Ending("canceled", "Task cancellation requested by user.")
        self._end_turn()
        shown = self.record.shown_whole()
        if busy:
            status = self.record.document["status"]
            self.record.document["status"] = {
                name: value for name, value in status.items() if name != "message"
            }
            self.record.keep_state("canceled")
            self.feed.keep()
        return shown

    async def interrupt(self, text: str) -> None:
        """End the turn under way; the task takes further messages."""
        if not self.is_busy:
            return
        self._ending = _Ending(_INPUT_REQUIRED, text)
        self.commands.interrupt()
        for run in self._runs:
            if not self._calls.blocks(run.prompt_id):
                await run.agent.abort()

    async def idle(self) -> None:
        """Return when no turn is under way."""
        await self._idle.wait()

    def batch_began(self) -> None:
        """Report that the model has requested calls."""
        self._voice.state("working")

    def call_changed(self, call: ToolCall) -> None:
        """Report a call's new status."""
        if self._calls.asked(call.call_id) is not None and not self.is_busy:
            self._unheard.append(call.call_id)
        self._report(call)
        self._check_turn()

    def _report(self, call: ToolCall, *, remembers: bool = True) -> None:
        asks = call.status is CallStatus.AWAITING_APPROVAL
        kind = "tool-call-confirmation" if asks else UPDATE
        for data in self._dialect.call_data(call):
            self._voice.data(kind, data, remembers=remembers)

    def call_wrote(self, call: ToolCall, text: str) -> None:
        """Report a call's output so far."""
        self._voice.output(call, text)

    def batch_ended(self, prompt_id: str, *, refused: bool) -> None:
        """Report that the model gets the results; where the user refused, it does not."""
        if not refused:
            self._voice.state("working")
            self._voice.begin_message()
            return
        assert self._group is not None
        for run in self._runs:
            if run.prompt_id == prompt_id:
                self._group.create_task(run.agent.abort(), name="refused")

    def command_said(self, text: str, *, error: str | None = None) -> None:
        """Report a text of a command."""
        self._voice.note(text, error=error)

    def command_called(self, data: JsonObject) -> None:
        """Report a call of a command, which may wait for the user."""
        self._voice.data(UPDATE, data)
        self._check_turn()

    def command_ended(self, content: Sequence[ContentPart], *, error: str | None) -> None:
        """Send to the model what a command submits, or end the turn."""
        own, self._own_command = self._own_command, False
        if content:
            self._begin(content)
        elif own and error is not None:
            self._ending = self._ending or _Ending("failed", None)
        self._check_turn()
        if own and not content and not self._submitting:
            self._over.set()

    def command_noted(self, text: str) -> None:
        """Keep a text for the model."""
        self._notes.append(TextPart(text=text))

    def _check_open(self) -> None:
        record = self.record
        if record.is_over:
            raise RpcError(
                -32600,
                f"Task {record.id} is in a terminal state ({record.state}) and cannot be modified.",
            )

    async def _take_turn(self) -> None:
        """Wait for the end of the turn under way, and end the prompts that wait for an approval.

        Raises:
            RpcError: meanwhile the task has ended.
        """
        self._submitting += 1
        try:
            while self.is_busy:
                await self._idle.wait()
                self._check_open()
            await self._withdraw()
        finally:
            self._submitting -= 1

    async def _withdraw(self) -> None:
        """End the prompts that wait for an approval: the user writes something else instead.

        The published server sends the text beside the open call, which the model's API refuses.
        """
        await self.commands.withdraw()
        for run in list(self._runs):
            await run.agent.abort()
            await run.done.wait()

    def _announce(self, answer: Answer) -> None:
        """Report an answer to the clients that did not give it; the history has its message."""
        if self.feed.is_followed:
            for data in self._dialect.answer_data(answer):
                self._voice.data("tool-call-answer", data, remembers=False)

    def _follow(self, answer: Answer) -> bool:
        """Pass on the user's answer; whether the call waited for it."""
        if answer.call_id in self.commands.waits_for:
            self._idle.clear()
            self.commands.take(answer)
            return True
        call = self._calls.asked(answer.call_id)
        if call is None:
            return False
        settled = self._dialect.settled(answer, call)
        if settled is None:
            self.call_changed(call)  # It asks its next question.
            return False
        self._idle.clear()
        self._calls.question(answer.call_id)
        self._ask_again()
        self.live.services.bus.publish(settled.response(call))
        return True

    def _ask_again(self) -> None:
        """Repeat the questions that came after the end of a turn: its streams have not got them."""
        unheard, self._unheard = self._unheard, []
        for call_id in unheard:
            call = self._calls.asked(call_id)
            if call is not None:
                self._report(call, remembers=False)

    def _begin(self, asked: Sequence[ContentPart]) -> None:
        assert self._group is not None
        content = [*self._notes, *asked]
        self._notes.clear()
        self._idle.clear()
        self._voice.begin_message()
        self._voice.state("working")
        prompt_id = self.live.prompt_id(self._count)
        run = _Run(prompt_id, self.live.agent(self._count))
        self._count += 1
        self._runs.append(run)
        self._group.create_task(self._run(run, content), name=f"prompt {prompt_id}")

    async def _run(self, run: _Run, content: Sequence[ContentPart]) -> None:
        services = self.live.services
        auth_type = self.live.prepared.source.auth_type
        text = "\n".join(part.text for part in content if isinstance(part, TextPart))
        log_prompt(services.events, text, run.prompt_id, auth_type)
        off = run.agent.subscribe(lambda event: self._take(run, event))
        try:
            context = services.session_hooks.started.before("") if self._count == 1 else ""
            first = (TextPart(text=context),) if context else ()
            stream = await run.agent.send(MessageSend(content=(*first, *content)))
            if stream is not None:
                await run.ended.wait()
            await self.live.runtime.settled()
        except (FatalError, SendRejected) as error:
            self._ending = _Ending("failed", str(error))
        finally:
            off()
            self._runs.remove(run)
            run.done.set()
            self._check_turn()

    def _take(self, run: _Run, event: AgentEvent) -> None:
        match event:
            case SessionUpdate(model=str() as model):
                self._voice.answered_by = model
            case Message(role="agent", thread_id=None):
                self._take_message(event)
            case ErrorEvent():
                self._fail(event)
            case AgentEnd():
                run.ended.set()
            case _:
                pass

    def _take_message(self, message: Message) -> None:
        meta = message.meta or {}
        for part in message.content:
            if isinstance(part, TextPart) and part.text.strip() and meta.get("citation"):
                self._voice.text("citation", part.text)
            elif isinstance(part, TextPart) and part.text:
                self._voice.text("text-content", part.text)
            elif isinstance(part, ThoughtPart) and (part.thought or meta.get("subject")):
                self._voice.thought(meta.get("subject") or "", part.thought or "")

    def _fail(self, event: ErrorEvent) -> None:
        code = (event.meta or {}).get("code")
        if code == "INVALID_STREAM":
            return  # The engine has asked again.
        if code in _NOT_FAILED or not event.fatal:
            self._ending = _Ending(_INPUT_REQUIRED, event.message)
            return
        text = f"Agent Error, unknown agent message: {event.message}"
        shown = api_error_text(failure_of(event), None)
        self._voice.state(self.record.state, text, error=shown)
        self._ending = _Ending("failed", f"LLM stream error: {event.message}")

    def _check_turn(self) -> None:
        """End the turn if nothing goes on before the user's next message."""
        blocked = all(self._calls.blocks(run.prompt_id) for run in self._runs)
        if self.is_busy and blocked and not self.commands.works:
            self._end_turn()

    def _end_turn(self) -> None:
        waiting = [*self._calls.waiting(), *self.commands.waits_for]
        usual = _INPUT_REQUIRED if waiting else self._dialect.ended
        ending = self._ending or _Ending(usual, None)
        self._ending = None
        self.record.waiting = waiting
        self._voice.state(ending.state, ending.text, final=True)
        self._idle.set()
        if self.record.is_over:
            self._over.set()

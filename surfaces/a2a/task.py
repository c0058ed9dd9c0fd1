"""`Task`: a task whose session is open. It answers messages and reports what happens.

Source: `packages/a2a-server` `agent/task.ts`, `agent/executor.ts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from agent_protocol.agent import AgentProtocol, MessageSend
from agent_protocol.content import TextPart, ThoughtPart
from agent_protocol.errors import SendRejected
from agent_protocol.events import AgentEnd, AgentEvent, ErrorEvent, Message, SessionUpdate
from services.clock import iso_timestamp
from services.message_bus import ToolCallsUpdate
from services.model.errors import FatalError
from services.scheduler.calls import CallStatus
from services.scheduler.states import ToolCall
from services.wire import JsonObject
from surfaces.a2a.call_feed import CallFeed
from surfaces.a2a.calls import Answer
from surfaces.a2a.dialects import Dialect, dialect_of
from surfaces.a2a.feed import TaskFeed
from surfaces.a2a.listeners import Listener
from surfaces.a2a.record import TaskRecord
from surfaces.a2a.wire import RpcError, agent_message, text_part
from surfaces.headless.failures import api_error_text, failure_of
from surfaces.headless.session_log import log_prompt
from surfaces.terminal.live import LiveSession

__all__ = ["Task"]

_STATE_CHANGE: Final = "state-change"
_UPDATE: Final = "tool-call-update"
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
        always = not live.services.settings.disable_always_allow
        self._dialect = dialect_of(self.record.extension, always=always)
        self._calls = CallFeed(self)
        self._runs: list[_Run] = []
        self._idle = asyncio.Event()
        self._idle.set()
        self._over = asyncio.Event()
        self._group: asyncio.TaskGroup | None = None
        self._ending: _Ending | None = None
        self._count = 0
        self._submitting = 0
        self._model: str | None = None
        self._message_id = self._new_id()

    @property
    def record(self) -> TaskRecord:
        """The task's document."""
        return self.feed.record

    @property
    def model(self) -> str:
        """The model that answers, or the configured one before the first answer."""
        return self._model or self.live.services.state.model

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
            for run in self._runs:
                await run.agent.abort()

    @property
    def is_closed(self) -> bool:
        """Whether the session ends, or has ended."""
        return self._over.is_set()

    @property
    def is_quiet(self) -> bool:
        """Whether the session can be closed and opened again, and no client notices."""
        return not self.is_busy and not self._submitting and not self.record.waiting

    def resume(self, *, follows: bool = False) -> Listener:
        """The task as it is now, and the events from now on.

        Args:
            follows: whether the events of further turns follow.
        """
        listener = self.feed.listen(follows=follows)
        listener.add(self.record.shown_whole(), self.feed.saved)
        for call, text in self._calls.writing():
            # The history has no output of a running call.
            data = self._dialect.output_data(call, text)
            if data is not None:
                part = {"kind": "data", "data": data}
                listener.add(self._update(_UPDATE, part, message_id=self._new_id()))
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
        answers, texts = _answers_and_texts(message, self._dialect)
        self._check_open()
        for answer in answers:
            self._dialect.check(answer, self._calls.asked(answer.call_id))
        if texts:
            await self._take_turn()
        listener = self.feed.listen()
        record = self.record
        record.said({**message, "taskId": record.id, "contextId": record.context_id})
        saved = self.feed.keep()
        if announces:
            listener.add(record.shown_whole(), saved)
        answered = [self._follow(answer) for answer in answers]
        if texts:
            self._begin(texts)
        elif not any(answered) and not self.is_busy:
            self._end_turn()
            record.keep_state(record.state)
            self.feed.keep()
        return listener

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
            self._message_id = self._new_id()
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
        for run in self._runs:
            if not self._calls.blocks(run.prompt_id):
                await run.agent.abort()

    async def idle(self) -> None:
        """Return when no turn is under way."""
        await self._idle.wait()

    def batch_began(self) -> None:
        """Report that the model has requested calls."""
        self._change_state("working")

    def call_changed(self, call: ToolCall) -> None:
        """Report a call's new status."""
        asks = call.status is CallStatus.AWAITING_APPROVAL
        kind = "tool-call-confirmation" if asks else _UPDATE
        data = self._dialect.call_data(call)
        if data is not None:
            self._say(kind, {"kind": "data", "data": data}, message_id=self._new_id())
        self._check_turn()

    def call_wrote(self, call: ToolCall, text: str) -> None:
        """Report a call's output so far. The history does not keep it: the result follows."""
        data = self._dialect.output_data(call, text)
        if data is not None:
            part = {"kind": "data", "data": data}
            self._say(_UPDATE, part, message_id=self._new_id(), remembers=False)
            return
        output = {"artifactId": f"tool-{call.call_id}-output", "parts": [text_part(text)]}
        self.feed.publish(
            {
                "kind": "artifact-update",
                "taskId": self.record.id,
                "contextId": self.record.context_id,
                "artifact": output,
                "append": True,
                "lastChunk": False,
            },
            remembers=False,
        )

    def batch_ended(self, prompt_id: str, *, refused: bool) -> None:
        """Report that the model gets the results; where the user refused, it does not."""
        if not refused:
            self._change_state("working")
            self._message_id = self._new_id()
            return
        assert self._group is not None
        for run in self._runs:
            if run.prompt_id == prompt_id:
                self._group.create_task(run.agent.abort(), name="refused")

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
        for run in list(self._runs):
            await run.agent.abort()
            await run.done.wait()

    def _follow(self, answer: Answer) -> bool:
        """Pass on the user's answer; whether the call waited for it."""
        call = self._calls.question(answer.call_id)
        if call is None:
            return False
        self._idle.clear()
        self.live.services.bus.publish(answer.response(call))
        return True

    def _begin(self, texts: Sequence[str]) -> None:
        assert self._group is not None
        self._idle.clear()
        self._message_id = self._new_id()
        self._change_state("working")
        prompt_id = self.live.prompt_id(self._count)
        self._count += 1
        run = _Run(prompt_id, self.live.runtime.agent(prompt_id=prompt_id))
        self._runs.append(run)
        self._group.create_task(self._run(run, texts), name=f"prompt {prompt_id}")

    async def _run(self, run: _Run, texts: Sequence[str]) -> None:
        services = self.live.services
        auth_type = self.live.prepared.source.auth_type
        log_prompt(services.events, "\n".join(texts), run.prompt_id, auth_type)
        off = run.agent.subscribe(lambda event: self._take(run, event))
        try:
            context = services.session_hooks.started.before("") if self._count == 1 else ""
            content = tuple(TextPart(text=text) for text in (context, *texts) if text)
            stream = await run.agent.send(MessageSend(content=content))
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
                self._model = model
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
                self._say("citation", text_part(part.text))
            elif isinstance(part, TextPart) and part.text:
                self._say("text-content", text_part(part.text))
            elif isinstance(part, ThoughtPart) and (part.thought or meta.get("subject")):
                thought = self._dialect.thought(meta.get("subject") or "", part.thought or "")
                self._say("thought", {"kind": "data", "data": thought})

    def _fail(self, event: ErrorEvent) -> None:
        code = (event.meta or {}).get("code")
        if code == "INVALID_STREAM":
            return  # The engine has asked again.
        if code in _NOT_FAILED or not event.fatal:
            self._ending = _Ending(_INPUT_REQUIRED, event.message)
            return
        text = f"Agent Error, unknown agent message: {event.message}"
        shown = api_error_text(failure_of(event), None)
        self._change_state(self.record.state, text, error=shown)
        self._ending = _Ending("failed", f"LLM stream error: {event.message}")

    def _check_turn(self) -> None:
        """End the turn if nothing goes on before the user's next message."""
        if self.is_busy and all(self._calls.blocks(run.prompt_id) for run in self._runs):
            self._end_turn()

    def _end_turn(self) -> None:
        waiting = self._calls.waiting()
        usual = _INPUT_REQUIRED if waiting else self._dialect.ended
        ending = self._ending or _Ending(usual, None)
        self._ending = None
        self.record.waiting = waiting
        self._change_state(ending.state, ending.text, final=True)
        self._idle.set()
        if self.record.is_over:
            self._over.set()

    def _change_state(
        self, state: str, text: str | None = None, *, final: bool = False, error: str | None = None
    ) -> None:
        part = None if text is None else text_part(text)
        self._say(_STATE_CHANGE, part, state=state, final=final, error=error)

    def _say(
        self,
        kind: str,
        part: JsonObject | None,
        *,
        state: str | None = None,
        message_id: str | None = None,
        final: bool = False,
        error: str | None = None,
        remembers: bool = True,
    ) -> None:
        event = self._update(
            kind, part, state=state, message_id=message_id, final=final, error=error
        )
        self.feed.publish(event, remembers=remembers)

    def _update(
        self,
        kind: str,
        part: JsonObject | None,
        *,
        state: str | None = None,
        message_id: str | None = None,
        final: bool = False,
        error: str | None = None,
    ) -> JsonObject:
        record = self.record
        status: JsonObject = {"state": state or self._dialect.during or record.state}
        if part is not None:
            status["message"] = agent_message(
                [part],
                message_id=message_id or self._message_id,
                task_id=record.id,
                context_id=record.context_id,
            )
        status["timestamp"] = iso_timestamp(self.live.services.clock.now_ms())
        usage = self.live.metrics.last_usage if final else None
        return {
            "kind": "status-update",
            "taskId": record.id,
            "contextId": record.context_id,
            "status": status,
            "final": final,
            "metadata": self._dialect.metadata(kind, self.model, error=error, usage=usage),
        }

    def _new_id(self) -> str:
        return self.live.prepared.machine.ids.uuid("message")


def _answers_and_texts(message: JsonObject, dialect: Dialect) -> tuple[list[Answer], list[str]]:
    """What the parts of a message say.

    Raises:
        RpcError: an answer cannot be followed.
    """
    answers, texts = [], []
    for part in message["parts"]:
        answer = dialect.answer_in(part)
        if answer is not None:
            answers.append(answer)
        elif part.get("kind") == "text":
            texts.append(part["text"])
    return answers, texts

"""The client of a run: plays a cassette's script, and its `during` actions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from agent_protocol.agent import AgentProtocol, MessageSend
from agent_protocol.content import TextPart
from agent_protocol.errors import SendRejected
from agent_protocol.events import AgentEvent
from harness.cassette.format import (
    Abort,
    Action,
    AfterChunk,
    AfterEvents,
    AtEventType,
    AtFirstOutput,
    AtRequest,
    AtTool,
    Cassette,
    Compress,
    During,
    DuringAction,
    Hint,
    LeavePlanMode,
    NoteQuotaError,
    Reset,
    Restore,
    ResumeSelf,
    Rewind,
    Send,
    SetApprovalMode,
    SetModel,
    WriteFile,
)
from harness.errors import ReplayFailure
from harness.replay.witness import Witness
from runtimes.contract import (
    CommandFailed,
    ConversationCommands,
    KeepsHints,
    LeavesPlanMode,
    RestoresCheckpoints,
    Runtime,
    RuntimeBroken,
    TakesEditsBack,
)
from services.bundle import Services
from services.clock import VirtualClock
from services.rewind import RewindChoice, carry_out
from services.state import ApprovalMode, PrivilegedModeRefused, UserFeedback
from services.threads import outside_calls

__all__ = ["Driver"]

_LONG_REAL_WORK_MS = 500
"""Milliseconds of real work that a delay never interrupts, since real durations vary."""
_POLL_S = 0.05

T = TypeVar("T")


class Driver:
    """Drives one runtime through one cassette. The streams of a script follow one another."""

    def __init__(
        self,
        cassette: Cassette,
        runtime: Runtime,
        services: Services,
        witness: Witness,
        group: asyncio.TaskGroup,
        clock: VirtualClock,
    ) -> None:
        self._cassette = cassette
        self._runtime = runtime
        self._services = services
        self._witness = witness
        self._group = group
        self._clock = clock
        self._waiting: list[During] = list(cassette.during)
        self._agent: AgentProtocol | None = None
        self._sends = 0
        self._first_prompt = True
        self._over = False
        self._ended = asyncio.Event()
        self.place = "the session's start"
        """The current action as a key of the cassette."""
        witness.listen(self._on_event)
        witness.listen_to_output(self._on_output)

    async def play(self, resumed: Path | None = None) -> None:
        """Play the whole script, after resuming the chat recording `resumed`, if any.

        Returns when the work of the last stream is done.

        Raises:
            ReplayFailure: the script needs what the runtime cannot do.
        """
        if resumed is not None:
            await self._commands("resume").resume(resumed)
            await self._runtime.settled()
        for position, action in enumerate(self._cassette.script):
            self.place = f"script[{position}]"
            await self._act(action)
            if not isinstance(action, Send):
                await self._runtime.settled()
            await self._send_hints()
        self._over = True

    def leave(self) -> tuple[During, ...]:
        """Stop acting; return the `during` actions that have not happened."""
        left = tuple(self._waiting)
        self._waiting.clear()
        return left

    def on_request(self, index: int) -> None:
        """Handle model request `index` (from 0)."""
        self._fire(lambda when: isinstance(when, AtRequest) and when.index == index)

    def on_chunk(self, request: int, chunk: int) -> None:
        """Handle that the runtime has consumed a chunk; both numbers count from 0."""
        self._fire(lambda when: when == AfterChunk(request, chunk))

    def _on_event(self, event: AgentEvent) -> None:
        count = len(self._witness.events)

        def due(when: object) -> bool:
            match when:
                case AfterEvents(count=wanted):
                    return wanted == count
                case AtEventType(type=wanted):
                    return wanted == event.type
                case AtTool(name=wanted):
                    return event.type == "tool_request" and event.name == wanted
                case _:
                    return False

        self._fire(due)
        if event.type == "agent_end":
            self._ended.set()

    def _on_output(self, tool: str) -> None:
        # Not inside the scheduler's own change of the call: the user acts after having seen it.
        wanted = AtFirstOutput(tool)
        asyncio.get_running_loop().call_soon(self._fire, lambda when: when == wanted)

    def _fire(self, due: Callable[[object], bool]) -> None:
        fired = [moment for moment in self._waiting if due(moment.when)]
        with outside_calls():
            self._begin(fired)

    def _begin(self, fired: Sequence[During]) -> None:
        for moment in fired:
            self._waiting.remove(moment)
            if moment.delay_ms > 0:
                # The task starts later, when time may have passed.
                due_ms = self._clock.now_ms() + moment.delay_ms
                self._group.create_task(self._later(moment, due_ms))
            else:
                self._do(moment.do)

    async def _later(self, moment: During, due_ms: float) -> None:
        """Act when it is due: by virtual time, or by real time while real work stops virtual time.

        Without real time a running command could never be interrupted.
        """
        loop = asyncio.get_running_loop()
        begun = loop.time()
        patience_ms = max(moment.delay_ms, _LONG_REAL_WORK_MS)
        elapsed = self._group.create_task(self._until(due_ms))
        while not elapsed.done():
            await asyncio.wait([elapsed], timeout=_POLL_S)
            if min(self._clock.held_for_ms, (loop.time() - begun) * 1000) >= patience_ms:
                elapsed.cancel()
        self._do(moment.do)

    async def _until(self, due_ms: float) -> None:
        await self._clock.sleep(max(due_ms - self._clock.now_ms(), 0))

    def _do(self, action: DuringAction) -> None:
        match action:
            case Abort():
                if self._agent is not None:
                    _at_once(self._agent.abort())
            case SetApprovalMode(mode=mode):
                self._set_approval_mode(mode)
            case Send(payload=payload):
                # After the script there is no client that could send.
                if self._agent is not None and not self._over:
                    self._group.create_task(self._send_meanwhile(self._agent, payload))
            case Hint(text=text, source=source):
                self._commands("hint").hint(text, source)

    async def _send_meanwhile(self, agent: AgentProtocol, payload: Any) -> None:
        try:
            await agent.send(payload)
        except SendRejected as rejected:
            self._rejected(rejected)

    async def _act(self, action: Action) -> None:
        match action:
            case Send(payload=payload):
                await self._send(payload)
            case SetModel(model=model):
                self._services.availability.set_model(model)
            case SetApprovalMode(mode=mode):
                self._set_approval_mode(mode)
            case NoteQuotaError():
                self._services.state.note_quota_error()
            case WriteFile(path=path, text=text):
                target: Path = self._services.workspace.root / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text)
            case Hint(text=text, source=source):
                self._commands("hint").hint(text, source)
            case _:
                await self._run_command(action)

    async def _run_command(
        self, action: Reset | LeavePlanMode | Compress | ResumeSelf | Rewind | Restore
    ) -> None:
        """Run what a user does with a slash command, or with a key at the prompt."""
        match action:
            case Reset():
                await self._runtime.reset()
            case LeavePlanMode(mode=mode):
                await self._leave_plan_mode(mode)
            case Compress():
                await _command("compress", self._commands("compress").compress())
            case ResumeSelf():
                await self._commands("resume_self").resume(None)
            case Rewind():
                await self._rewind(action)
            case Restore(checkpoint=checkpoint):
                await self._restore(checkpoint)

    async def _rewind(self, action: Rewind) -> None:
        if action.choice is RewindChoice.CONVERSATION:
            await _command("rewind", self._commands("rewind").rewind(action.to))
            return
        if not isinstance(self._runtime, TakesEditsBack):
            raise self._impossible("rewind")
        report = self._services.events.emit
        await _command("rewind", carry_out(self._runtime, action.to, action.choice, report))

    async def _restore(self, checkpoint: str | int) -> None:
        if not isinstance(self._runtime, RestoresCheckpoints):
            raise self._impossible("restore")
        restored = await _command("restore", self._runtime.restore(checkpoint))
        for message in restored.messages:
            self._report(message)
        self._witness.side(
            {
                "event": "restored",
                "toolCall": restored.tool_call,
                "conversation": restored.shown is not None,
            }
        )

    async def _send(self, payload: Any) -> None:
        agent, payload = self._current_agent(), self._with_hook_context(payload)
        self._ended.clear()
        try:
            stream_id = await agent.send(payload)
        except SendRejected as rejected:
            self._rejected(rejected)
            return
        if stream_id is not None:
            await self._ended.wait()
        await self._runtime.settled()

    async def _send_hints(self) -> None:
        """Send the hints that wait while the agent is idle, as an interactive client does.

        Source: `packages/cli/src/ui/AppContainer.tsx` of the published core's repository.
        """
        if not self._cassette.session.interactive or not isinstance(self._runtime, KeepsHints):
            return
        while (prompt := await self._runtime.take_hints()) is not None:
            await self._send(MessageSend(content=(TextPart(text=prompt),)))

    def _current_agent(self) -> AgentProtocol:
        """Return the agent of the next send: a new one each time if the cassette says so."""
        if self._agent is None or self._cassette.session.new_session_per_send:
            prompt_id = f"{self._services.state.session_id}########{self._sends}"
            self._agent = self._runtime.agent(prompt_id=prompt_id)
            self._agent.subscribe(self._witness.on_event)
        self._sends += 1
        return self._agent

    def _with_hook_context(self, payload: Any) -> Any:
        """Put what the SessionStart hooks add before the first prompt, as a headless surface does.

        An interactive session has it in its history.
        """
        first, self._first_prompt = self._first_prompt, False
        if not first or self._services.settings.interactive or not isinstance(payload, MessageSend):
            return payload
        parts = list(payload.content)
        if not parts or not isinstance(parts[0], TextPart):
            return payload
        text = self._services.session_hooks.started.before(parts[0].text)
        return replace(payload, content=(replace(parts[0], text=text), *parts[1:]))

    def _commands(self, asked: str) -> ConversationCommands:
        if isinstance(self._runtime, ConversationCommands):
            return self._runtime
        raise self._impossible(asked)

    def _impossible(self, asked: str) -> ReplayFailure:
        return ReplayFailure(
            self._cassette.name,
            f"this runtime cannot do `{asked}`",
            "leave it out, or use a runtime that can",
        )

    def _report(self, event: UserFeedback) -> None:
        self._witness.side(
            {"event": "feedback", "severity": event.severity, "message": event.message}
        )

    def _set_approval_mode(self, mode: ApprovalMode) -> None:
        try:
            self._services.state.set_approval_mode(mode)
        except PrivilegedModeRefused as refused:
            self._mode_refused(str(refused))

    async def _leave_plan_mode(self, mode: ApprovalMode) -> None:
        if not isinstance(self._runtime, LeavesPlanMode):
            raise self._impossible("leave_plan_mode")
        try:
            await self._runtime.leave_plan_mode(mode)
        except PrivilegedModeRefused as refused:
            self._mode_refused(str(refused))
        except CommandFailed as failed:
            self._mode_refused(failed.message)

    def _mode_refused(self, message: str) -> None:
        self._witness.side_events.append({"event": "approval-mode-rejected", "message": message})

    def _rejected(self, rejected: SendRejected) -> None:
        self._witness.side_events.append(
            {"event": "send-rejected", "kind": type(rejected).__name__}
        )


def _at_once(call: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine that must not wait, so that `abort` takes effect before the next event.

    Raises:
        ReplayFailure: it waited, against the contract.
    """
    try:
        call.send(None)
    except StopIteration:
        return
    call.close()
    raise ReplayFailure(
        "AgentProtocol.abort", "it waited", "make it return at once and let `agent_end` follow"
    )


async def _command(name: str, work: Awaitable[T]) -> T:
    """Wait for a command and return its result; any error of an engine becomes `CommandFailed`."""
    try:
        return await work
    except (CommandFailed, RuntimeBroken):
        raise
    except Exception as error:
        raise CommandFailed(name, type(error).__name__, str(error)) from error

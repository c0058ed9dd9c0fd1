"""`DirectClient`: the client of a run without a surface. It calls the runtime itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Coroutine
from contextlib import asynccontextmanager
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
    Cassette,
    Compress,
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
from harness.replay.around import resume, write_file
from harness.replay.client import Played, Stage
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
from services.rewind import RewindChoice, carry_out
from services.state import ApprovalMode, PrivilegedModeRefused, UserFeedback

__all__ = ["DirectClient", "played_directly"]

T = TypeVar("T")


@asynccontextmanager
async def played_directly(stage: Stage) -> AsyncIterator[Played]:
    """Open the session of `stage` with no surface between the client and the runtime."""
    async with (
        stage.open_services(stage.user.interaction) as services,
        stage.user.answering(services),
        asyncio.TaskGroup() as group,
        stage.open_runtime(services) as runtime,
    ):
        client = DirectClient(stage.cassette, runtime, services, stage.witness, group)
        yield Played(client=client, group=group, runtime=runtime)


class DirectClient:
    """Performs the user's actions on one runtime. The streams of a script follow one another."""

    def __init__(
        self,
        cassette: Cassette,
        runtime: Runtime,
        services: Services,
        witness: Witness,
        group: asyncio.TaskGroup,
    ) -> None:
        self._cassette = cassette
        self._runtime = runtime
        self._services = services
        self._witness = witness
        self._group = group
        self._agent: AgentProtocol | None = None
        self._sends = 0
        self._first_prompt = True
        self._ended = asyncio.Event()
        witness.listen(self._on_event)

    async def resume(self, recording: Path) -> None:
        """Go on from a chat recording."""
        await resume(self._runtime, recording, self._cassette.name)

    def interrupt(self, action: DuringAction) -> None:
        """Act at once, while a stream runs."""
        match action:
            case Abort():
                if self._agent is not None:
                    _at_once(self._agent.abort())
            case SetApprovalMode(mode=mode):
                self._set_approval_mode(mode)
            case Send(payload=payload):
                if self._agent is not None:
                    self._group.create_task(self._send_meanwhile(self._agent, payload))
            case Hint(text=text, source=source):
                self._commands("hint").hint(text, source)

    def _on_event(self, event: AgentEvent) -> None:
        if event.type == "agent_end":
            self._ended.set()

    async def _send_meanwhile(self, agent: AgentProtocol, payload: Any) -> None:
        try:
            await agent.send(payload)
        except SendRejected as rejected:
            self._rejected(rejected)

    async def act(self, action: Action) -> None:
        """Perform an action of the script; returns when its work is done."""
        await self._act(action)
        if not isinstance(action, Send):
            await self._runtime.settled()
        await self._send_hints()

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
            case WriteFile():
                write_file(self._services.workspace.root, action)
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

"""`Turns`: prompts go to the agent one after the other; what is typed meanwhile waits or steers."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from agent_protocol.agent import AgentProtocol, MessageSend
from agent_protocol.content import ContentPart, TextPart
from agent_protocol.errors import SendRejected
from runtimes.contract import ConversationCommands, KeepsHints, LeavesPlanMode
from services.model.errors import FatalError
from services.state import ApprovalMode, PrivilegedModeRefused
from services.steering import InjectionSource
from surfaces.commands import is_slash_command
from surfaces.headless.mentions import with_mentioned_files
from surfaces.headless.session_log import log_prompt
from surfaces.terminal.drawing import Drawing, Typed
from surfaces.terminal.live import LiveSession
from surfaces.terminal.notes import Notes
from surfaces.terminal.shell_mode import ShellMode

__all__ = ["Backlog", "Commands", "Prompt", "Turns"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt of the user. Without `content`, the text itself is sent."""

    text: str
    content: tuple[ContentPart, ...] | None = None


@dataclass(frozen=True, slots=True)
class _Entry:
    """What waits for its turn; `in_shell`: it is a shell command."""

    text: str
    in_shell: bool = False


@dataclass(slots=True)
class Backlog:
    """What a session leaves to the one that takes its place."""

    waiting: deque[_Entry] = field(default_factory=deque)
    """The prompts that wait."""
    notes: Notes = field(default_factory=Notes)
    """What goes to the model with the next prompt."""
    count: int = 0
    """How many prompts were sent."""


class Commands(Protocol):
    """The slash commands of a session."""

    def runs_while_busy(self, text: str) -> bool:
        """Whether `text` may run while the agent works."""
        ...

    async def run(self, text: str) -> Prompt | None:
        """Run `text`; return what is to be sent to the model."""
        ...


class Turns:
    """The conversation as the user drives it.

    Args:
        drawing: shows what happens.
        changed: called when the agent begins or ends to work, and when the queue changes.
        backlog: what an earlier session has left.
    """

    def __init__(
        self, drawing: Drawing, changed: Callable[[], None], backlog: Backlog | None = None
    ) -> None:
        self._drawing = drawing
        self._changed = changed
        self.backlog = backlog or Backlog()
        self._arrived = asyncio.Event()
        self._arrived.set()  # The first look finds what an earlier session has left.
        self._agent: AgentProtocol | None = None
        self._session: LiveSession | None = None
        self._commands: Commands | None = None
        self._beside: asyncio.TaskGroup | None = None
        self._in_command = False
        self._shell: ShellMode | None = None
        self._shell_run: asyncio.Task[None] | None = None

    @property
    def busy(self) -> bool:
        """Whether the agent or a command works."""
        return self._agent is not None or self._in_command

    @property
    def notes(self) -> Notes:
        """What goes to the model with the next prompt."""
        return self.backlog.notes

    @property
    def waiting(self) -> tuple[str, ...]:
        """The prompts that wait."""
        return tuple(f"{'!' * entry.in_shell}{entry.text}" for entry in self.backlog.waiting)

    def submit(self, text: str) -> None:
        """Send a prompt or run a command, now or when its turn comes.

        While the agent works, a prompt may be a hint, and some commands run at once.
        """
        command = is_slash_command(text)
        if command and self._runs_beside(text):
            return
        if not command and self._steers(text):
            self._drawing.add(Typed(text=f"Steering Hint: {text}", mark="hint"))
            return
        self._enqueue(_Entry(text))

    def submit_shell(self, line: str) -> None:
        """Run a shell command when its turn comes."""
        self._enqueue(_Entry(line, in_shell=True))

    def _enqueue(self, entry: _Entry) -> None:
        self.backlog.waiting.append(entry)
        self._arrived.set()
        self._changed()

    def take_back(self) -> str:
        """Return what waits, as one text, and forget it."""
        text = "\n\n".join(self.waiting)
        self.backlog.waiting.clear()
        self._changed()
        return text

    async def abort(self) -> None:
        """End what the agent does, or the user's shell command."""
        if self._shell_run is not None:
            self._shell_run.cancel()
        if self._agent is not None:
            await self._agent.abort()

    async def set_mode(self, mode: ApprovalMode) -> None:
        """Change the approval mode; a refusal is shown."""
        session = self._session
        if session is None:
            return
        state = session.services.state
        leaves_plan = state.approval_mode is ApprovalMode.PLAN and not self.busy
        try:
            if isinstance(session.runtime, LeavesPlanMode) and not self.busy:
                await session.runtime.leave_plan_mode(mode)
            else:
                state.set_approval_mode(mode)
            if session.witness is not None:
                session.witness.sets_mode(mode, leaves_plan=leaves_plan)
        except PrivilegedModeRefused as error:
            self._drawing.add(Typed(text=str(error), mark="error"))

    async def run(self, session: LiveSession, commands: Commands) -> None:
        """Send the prompts to `session`, for ever."""
        self._session = session
        self._commands = commands
        self._shell = ShellMode(session.services, self._drawing, self.notes)
        async with asyncio.TaskGroup() as self._beside:
            await self._take_turns(session, commands)

    async def _take_turns(self, session: LiveSession, commands: Commands) -> None:
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            while self.backlog.waiting:
                entry = self.backlog.waiting.popleft()
                if entry.in_shell:
                    await self._run_shell(entry.text)
                    continue
                text = entry.text
                prompt = await self._prompt(text, commands)
                if prompt is None:
                    continue
                self._drawing.add(Typed(text=text))
                await self._converse(session, text, prompt.content)
                while (hint := await self._kept_hint(session)) is not None:
                    await self._converse(session, hint)

    async def _prompt(self, text: str, commands: Commands) -> Prompt | None:
        if not is_slash_command(text):
            return Prompt(text=text)
        self._in_command = True
        self._changed()
        try:
            if self._session is not None and self._session.witness is not None:
                self._session.witness.commands(text)
            return await commands.run(text)
        finally:
            self._in_command = False
            self._changed()

    async def _run_shell(self, line: str) -> None:
        assert self._shell is not None
        assert self._beside is not None
        self._in_command = True
        self._changed()
        # A task of its own: `abort` cancels the command, and the turns go on.
        self._shell_run = self._beside.create_task(self._shell.run(line), name="shell mode")
        try:
            await asyncio.wait([self._shell_run])
        finally:
            self._shell_run = None
            self._in_command = False
            self._changed()

    def _runs_beside(self, text: str) -> bool:
        commands, tasks = self._commands, self._beside
        if not self.busy or commands is None or tasks is None:
            return False
        if not commands.runs_while_busy(text):
            return False
        tasks.create_task(commands.run(text), name="command")
        return True

    async def _kept_hint(self, session: LiveSession) -> str | None:
        if self.backlog.waiting or not isinstance(session.runtime, KeepsHints):
            return None
        return await session.runtime.take_hints()

    def _steers(self, text: str) -> bool:
        session = self._session
        if session is None or self._agent is None or not session.services.settings.model_steering:
            return False
        if not isinstance(session.runtime, ConversationCommands):
            return False
        if session.witness is not None:
            session.witness.hints(text)
        session.runtime.hint(text, InjectionSource.USER_STEERING)
        return True

    async def _converse(
        self,
        session: LiveSession,
        text: str,
        content: tuple[ContentPart, ...] | None = None,
    ) -> None:
        services = session.services
        number = self.backlog.count
        self.backlog.count += 1
        auth_type = session.prepared.source.auth_type
        log_prompt(services.events, text, session.prompt_id(number), auth_type)
        agent = session.agent(number)
        off = agent.subscribe(self._drawing.add)
        self._agent = agent
        self._changed()
        try:
            if content is None:
                content = await with_mentioned_files(text, services)
            parts = (*self.notes.take(), *(content or (TextPart(text=text),)))
            send = MessageSend(content=parts, display_content=text)
            if session.witness is not None:
                session.witness.sends(text, parts)
            stream = await agent.send(send)
            if stream is not None:
                await self._drawing.end_of(stream).wait()
            await session.runtime.settled()
        except (FatalError, SendRejected) as error:
            self._drawing.add(Typed(text=str(error), mark="error"))
        finally:
            off()
            self._agent = None
            self._changed()

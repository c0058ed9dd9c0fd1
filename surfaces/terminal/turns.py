"""`Turns`: prompts go to the agent one after the other; what is typed meanwhile waits or steers."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from agent_protocol.agent import AgentProtocol, MessageSend
from agent_protocol.content import TextPart
from agent_protocol.errors import SendRejected
from runtimes.contract import ConversationCommands, KeepsHints, LeavesPlanMode
from services.model.errors import FatalError
from services.state import ApprovalMode, PrivilegedModeRefused
from services.steering import InjectionSource
from surfaces.headless.mentions import with_mentioned_files
from surfaces.headless.session_log import log_prompt
from surfaces.terminal.drawing import Drawing, Typed
from surfaces.terminal.live import LiveSession

__all__ = ["Turns"]


class Turns:
    """The conversation as the user drives it.

    Args:
        drawing: shows what happens.
        changed: called when the agent begins or ends to work, and when the queue changes.
    """

    def __init__(self, drawing: Drawing, changed: Callable[[], None]) -> None:
        self._drawing = drawing
        self._changed = changed
        self._waiting: deque[str] = deque()
        self._arrived = asyncio.Event()
        self._agent: AgentProtocol | None = None
        self._session: LiveSession | None = None
        self._count = 0

    @property
    def busy(self) -> bool:
        """Whether the agent works."""
        return self._agent is not None

    @property
    def waiting(self) -> tuple[str, ...]:
        """The prompts that wait."""
        return tuple(self._waiting)

    def submit(self, text: str) -> None:
        """Send a prompt, now or when its turn comes; while the agent works it may be a hint."""
        if self._steers(text):
            self._drawing.add(Typed(text=f"Steering Hint: {text}", mark="hint"))
            return
        self._waiting.append(text)
        self._arrived.set()
        self._changed()

    def take_back(self) -> str:
        """Return what waits, as one text, and forget it."""
        text = "\n\n".join(self._waiting)
        self._waiting.clear()
        self._changed()
        return text

    async def abort(self) -> None:
        """End what the agent does."""
        if self._agent is not None:
            await self._agent.abort()

    async def set_mode(self, mode: ApprovalMode) -> None:
        """Change the approval mode; a refusal is shown."""
        session = self._session
        if session is None:
            return
        try:
            if isinstance(session.runtime, LeavesPlanMode) and not self.busy:
                await session.runtime.leave_plan_mode(mode)
            else:
                session.services.state.set_approval_mode(mode)
        except PrivilegedModeRefused as error:
            self._drawing.add(Typed(text=str(error), mark="error"))

    async def run(self, session: LiveSession) -> None:
        """Send the prompts to `session`, for ever."""
        self._session = session
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            while self._waiting:
                text = self._waiting.popleft()
                self._drawing.add(Typed(text=text))
                await self._converse(session, text)
                while (hint := await self._kept_hint(session)) is not None:
                    await self._converse(session, hint)

    async def _kept_hint(self, session: LiveSession) -> str | None:
        if self._waiting or not isinstance(session.runtime, KeepsHints):
            return None
        return await session.runtime.take_hints()

    def _steers(self, text: str) -> bool:
        session = self._session
        if session is None or not self.busy or not session.services.settings.model_steering:
            return False
        if not isinstance(session.runtime, ConversationCommands):
            return False
        session.runtime.hint(text, InjectionSource.USER_STEERING)
        return True

    async def _converse(self, session: LiveSession, text: str) -> None:
        services = session.services
        prompt_id = session.prompt_id(self._count)
        self._count += 1
        log_prompt(services.events, text, prompt_id, session.prepared.source.auth_type)
        agent = session.runtime.agent(prompt_id=prompt_id)
        off = agent.subscribe(self._drawing.add)
        self._agent = agent
        self._changed()
        try:
            content = await with_mentioned_files(text, services)
            send = MessageSend(content=content or (TextPart(text=text),), display_content=text)
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

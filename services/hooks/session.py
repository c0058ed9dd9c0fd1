"""`SessionHooks`: the hooks of a session's begin and end, which the runtime fires.

Source: `packages/cli` `gemini.tsx`, `ui/AppContainer.tsx`, `ui/commands/clearCommand.ts`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from services.hooks.system import HookSystem
from services.wire import Content

__all__ = ["SessionHooks", "SessionStarted", "StartSource"]


class StartSource(StrEnum):
    """Why a conversation begins; the values are those of the hooks' input."""

    STARTUP = "startup"
    RESUME = "resume"
    CLEAR = "clear"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStarted:
    """What the SessionStart hooks said.

    Attributes:
        message: For the user.
        context: For the model, in its tag. In an interactive session the runtime has put it into
            the history; in another one the surface puts it before the prompt.
    """

    message: str | None = None
    context: str | None = None

    def before(self, prompt: str) -> str:
        """The prompt of a session that is not interactive, with the context that hooks add."""
        if self.context is None:
            return prompt
        return f"{self.context}\n\n{prompt}" if prompt else self.context


class SessionHooks:
    """The session's own hooks.

    A runtime calls `begin` when it opens, `clear` around a new conversation, and `finish` when it
    closes. Surfaces read `started`.
    """

    def __init__(self, hooks: HookSystem | None, *, source: StartSource, interactive: bool) -> None:
        """Fire nothing yet.

        Args:
            hooks: The session's hooks; `None` where they are switched off.
            source: How the session begins.
            interactive: Whether the context goes into the history.
        """
        self._hooks = hooks
        self.source = source
        self._interactive = interactive
        self.started = SessionStarted()
        """What the hooks of the session's begin said."""

    async def begin(self, add_history: Callable[[Content], None]) -> None:
        """Warn of new hooks, and fire SessionStart.

        Args:
            add_history: Adds the context of an interactive session to the conversation.
        """
        if self._hooks is None:
            return
        self._hooks.initialize()
        result = await self._hooks.session_start(self.source)
        if result is None:
            return
        said = result.additional_context
        self.began(result.system_message, f"<hook_context>{said}</hook_context>" if said else None)
        context = self.started.context
        if context is not None and self._interactive:
            add_history({"role": "user", "parts": [{"text": context}]})

    def began(self, message: str | None, context: str | None) -> None:
        """Note what the hooks said, for a runtime that fired them itself."""
        self.started = SessionStarted(message=message, context=context)

    async def cleared(self, reset: Callable[[], None]) -> None:
        """Fire SessionEnd, `reset` the conversation, and fire SessionStart.

        Upstream, what the hooks add to a cleared conversation is not used: only their message is.
        """
        if self._hooks is not None:
            await self._hooks.session_end(StartSource.CLEAR)
        reset()
        if self._hooks is not None:
            result = await self._hooks.session_start(StartSource.CLEAR)
            self.began(None if result is None else result.system_message, None)

    async def finish(self) -> None:
        """Fire SessionEnd: the session is over."""
        if self._hooks is not None:
            await self._hooks.session_end("exit")

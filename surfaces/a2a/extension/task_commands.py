"""`TaskCommands`: the slash commands of one task, one at a time.

Source: RFC "Gemini CLI A2A Development-Tool Extension", 3.3.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from agent_protocol.content import ContentPart
from services.tools.contract import ConfirmationOutcome
from surfaces.a2a.calls import Answer
from surfaces.a2a.command_layers import layer_over
from surfaces.a2a.extension.executions import CommandNews, Execution
from surfaces.allowed import Allowed
from surfaces.commands import CommandError, CommandLayer, default_sources
from surfaces.terminal.live import LiveSession

__all__ = ["TaskCommands", "TaskNews"]


class TaskNews(CommandNews, Protocol):
    """Gets what happens to the commands of a task."""

    def command_ended(self, content: Sequence[ContentPart], *, error: str | None) -> None:
        """A command has ended: `content` goes to the model, and `error` is why it failed."""


class TaskCommands:
    """Lists and runs the commands.

    Args:
        live: the session.
        news: gets what happens.
        allowed: what the settings let the user allow beyond one call.
    """

    def __init__(self, live: LiveSession, news: TaskNews, allowed: Allowed) -> None:
        self._live = live
        self._news = news
        self._allowed = allowed
        self._layer = layer_over(live, default_sources(), self._consents)
        self._runs: Execution | None = None
        self._work: asyncio.Task[None] | None = None

    @property
    def waits_for(self) -> list[str]:
        """The id of the call that waits for the user, if there is one."""
        asked = None if self._runs is None else self._runs.waits_for
        return [] if asked is None else [asked]

    @property
    def works(self) -> bool:
        """Whether a command goes on by itself."""
        return self._runs is not None and self._runs.waits_for is None

    async def loaded(self) -> CommandLayer:
        """The commands, as they are now."""
        await self._layer.load()
        return self._layer

    async def prepared(self, path: Sequence[str], args: str, *, busy: bool) -> Execution:
        """A command to run with `begin`.

        Args:
            path: its names, from the outermost command.
            args: its arguments as one text.
            busy: whether the agent works, or waits for the user.

        Raises:
            CommandError: there is no such command, or it cannot run now.
        """
        layer = await self.loaded()
        parsed = layer.at(path, args)
        name = f"/{' '.join(parsed.path)}"
        if self._runs is not None or (busy and not parsed.command.concurrent):
            raise CommandError(f"The task is busy; run {name} again when its turn has ended.")
        text = f"{name} {args}".strip()
        services = self._live.services
        return Execution(layer, parsed, text, services, self._news, self._allowed)

    def begin(self, command: Execution, group: asyncio.TaskGroup) -> None:
        """Run a command in `group`."""
        self._runs = command
        self._work = group.create_task(self._run(command), name="command")

    def check(self, answer: Answer) -> bool:
        """Whether a command waits for `answer`, which then fits.

        Raises:
            RpcError: a command waits for it, and it does not fit.
        """
        if self._runs is None or self._runs.waits_for != answer.call_id:
            return False
        self._runs.check(answer)
        return True

    def take(self, answer: Answer) -> None:
        """Go on with an answer that a command waits for."""
        if self._runs is not None:
            self._runs.take(answer.outcome)

    def interrupt(self) -> None:
        """End a command that goes on by itself."""
        if self._work is not None and self.works:
            self._work.cancel()

    async def withdraw(self) -> None:
        """End a command that waits for the user, who refuses by doing something else."""
        if self._runs is not None and self._work is not None:
            self._runs.take(ConfirmationOutcome.CANCEL)
            await asyncio.wait([self._work])

    def end(self) -> None:
        """End the command: the task is over."""
        if self._work is not None:
            self._work.cancel()

    async def _consents(self, text: str) -> bool:
        """Ask the client of the running command whether the user agrees to a text."""
        return self._runs is not None and await self._runs.consents(text)

    async def _run(self, command: Execution) -> None:
        content: Sequence[ContentPart] = ()
        try:
            content = await command.run()
        finally:
            self._runs = self._work = None
            self._news.command_ended(content, error=command.error)

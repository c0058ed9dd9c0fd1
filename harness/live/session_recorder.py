"""`SessionRecorder`: observes an interactive session, and writes cassettes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

from harness.errors import UsageError
from harness.live.recorder import Recorder
from services.bundle import Services
from services.clock import Clock, SystemClock
from services.environment import Environment
from services.interaction.interaction import Handler, Handlers
from services.message_bus import ToolConfirmationResponse
from services.state import ApprovalMode, CoreEvent, ModelChanged
from services.wire import JsonObject
from surfaces.commands import CommandError
from surfaces.headless.witness import RunFacts

__all__ = ["SessionRecorder", "session_recorder"]

_ACTIONS: Final[Mapping[str, JsonObject]] = {
    "clear": {"reset": True},
    "new": {"reset": True},
    "compress": {"compress": True},
    "summarize": {"compress": True},
    "compact": {"compress": True},
}
_CHANGES: Final = frozenset(
    {
        *("rewind", "restore", "chat", "resume", "directory", "dir", "memory", "mcp", "skills"),
        *("agents", "hooks", "extensions", "permissions"),
    }
)
"""Commands that may change the session, in a way that a cassette has no word for."""


def session_recorder(
    file: Path | None = None, *, runtime: str | None, with_files: bool = True, note: str = ""
) -> SessionRecorder:
    """Make a recorder of a session on this machine, as `SessionRecorder` describes."""
    return SessionRecorder(
        file,
        runtime=runtime,
        variables=Environment.of_this_machine().variables,
        clock=SystemClock(),
        with_files=with_files,
        note=note,
    )


class SessionRecorder(Recorder):
    """Records one interactive session, as its witness.

    Args:
        file: The cassette that `write` makes; `None`: only `keep` writes, and a folder that is
            too large is recorded without its files.
        runtime: Which runtime was asked for, for the record.
        variables: The environment, whose secrets are kept out.
        clock: Says when this was.
        with_files: Whether the workspace's files are part of it.
        note: One line about the cassette.
    """

    interactive = True

    def __init__(
        self,
        file: Path | None,
        *,
        runtime: str | None,
        variables: Mapping[str, str],
        clock: Clock,
        with_files: bool = True,
        note: str = "",
    ) -> None:
        super().__init__(
            file or Path("session.yaml"),
            runtime=runtime,
            variables=variables,
            clock=clock,
            with_files=with_files,
            note=note,
        )
        self._may_lack_files = file is None

    def _without(self, error: UsageError) -> str:
        if self._may_lack_files:
            return f"left out: the files of the folder ({error.problem})"
        return super()._without(error)

    def begins(self, facts: RunFacts) -> None:
        """Begin with a session; one that it takes the place of is left out."""
        earlier = self._seen is not None and self._seen.tape.steps
        super().begins(facts)
        if earlier:
            self._run.actions.lost.append("left out: the session that was open before this one")

    def asks(self, handlers: Handlers) -> Handlers:
        """Record the answers that `handlers` give."""
        made = {
            each.name: self._recording(each.name, handler)
            for each in fields(handlers)
            if (handler := getattr(handlers, each.name)) is not None
        }
        return replace(handlers, **made)

    def _recording(self, kind: str, handler: Handler[Any, Any]) -> Handler[Any, Any]:
        async def ask(question: Any) -> Any:
            answer = await handler(question)
            if answer is not None:
                value = answer if isinstance(answer, bool) else str(answer)
                self._run.actions.questions.setdefault(kind, []).append(value)
            return answer

        return ask

    def opened(self, services: Services) -> Callable[[], None]:
        """Observe an open session; the result ends it."""
        with ExitStack() as stack:
            stack.callback(services.bus.subscribe(ToolConfirmationResponse, self._confirmed))
            stack.callback(services.events.subscribe(self._changed))
            return stack.pop_all().close

    def hints(self, text: str) -> None:
        """Record a hint of the user."""
        self._run.actions.act({"hint": {"text": text, "source": "user_steering"}})

    def sets_mode(self, mode: ApprovalMode, *, leaves_plan: bool) -> None:
        """Record that the user changes the approval mode."""
        key = "leave_plan_mode" if leaves_plan else "set_approval_mode"
        self._run.actions.act({key: {"mode": mode.name.lower()}})

    def commands(self, text: str) -> None:
        """Record a slash command."""
        name = text.lstrip("/").split(maxsplit=1)[0] if text.strip("/ ") else ""
        actions = self._run.actions
        if name in _ACTIONS:
            actions.act(dict(_ACTIONS[name]), meanwhile=False)
        elif name in _CHANGES:
            actions.lost.append(f"left out: /{name}, for which cassettes have no action")

    async def keep(self, folder: Path, note: str) -> Path | None:
        """Write the session so far into `folder`; return where, `None` if nothing was asked.

        Raises:
            CommandError: it cannot be written, or a secret in it cannot be masked.
        """
        file = folder / f"session-{self._clock.now_ms():.0f}.yaml"
        try:
            written = await asyncio.to_thread(self._write_to, file, note)
        except (UsageError, OSError) as error:
            raise CommandError(f"The session is not written as a cassette: {error}") from error
        return written

    def _write_to(self, file: Path, note: str) -> Path | None:
        file.parent.mkdir(parents=True, exist_ok=True)
        recorded = self.write(interrupted=False, file=file, note=note)
        return None if recorded is None else recorded.file

    def _confirmed(self, answer: ToolConfirmationResponse) -> None:
        if answer.outcome is None:
            return
        outcome = str(answer.outcome)
        payload = answer.payload
        self._run.actions.confirmations.append(
            {"outcome": outcome, "payload": dict(payload)} if payload else outcome
        )

    def _changed(self, event: CoreEvent) -> None:
        actions = self._run.actions
        if isinstance(event, ModelChanged) and not actions.working:
            actions.act({"set_model": {"model": event.model}})

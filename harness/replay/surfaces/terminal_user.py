"""`TerminalUser`: plays a cassette's user in a terminal, with keys."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.cassette.format import (
    Abort,
    Action,
    Compress,
    ConfirmationAnswer,
    DuringAction,
    Hint,
    LeavePlanMode,
    QuestionAnswer,
    Reset,
    Send,
    SetApprovalMode,
    SetModel,
    WriteFile,
)
from harness.replay.around import resume, write_file
from harness.replay.client import Stage, Unplayable
from harness.replay.questions import in_turn
from harness.replay.surfaces.terminal_limits import prompt_of
from services.message_bus import ToolCallsUpdate
from services.state import ApprovalMode
from services.wire import JsonObject
from surfaces.terminal.played_session import LiveSession
from surfaces.terminal.playing import OpenQuestion, PlayedTerminal, Text

__all__ = ["TerminalUser"]

_ENTER: Final = "enter"
_ESCAPE: Final = "escape"
_YOLO: Final = "ctrl+y"
_NEXT_MODE: Final = "shift+tab"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A call that waits for a confirmation, and the cassette's answer."""

    scheduler_id: str
    correlation_id: str
    answer: ConfirmationAnswer
    event: JsonObject
    """The side event of the question, which gets the outcome."""


class TerminalUser:
    """Types the prompts, answers the dialogs as they open, and presses the keys of the rest."""

    def __init__(self, stage: Stage, terminal: PlayedTerminal) -> None:
        self._cassette = stage.cassette
        self._workspace = stage.envelope.workspace
        self._pace = stage.pace
        self._clock = stage.envelope.clock
        self._user = stage.user
        self._terminal = terminal
        self._session: LiveSession | None = None
        self._group: asyncio.TaskGroup | None = None
        self._asked: list[_Asked] = []
        self._known: set[str] = set()
        self._answered: OpenQuestion | None = None
        self._left_open: OpenQuestion | None = None
        """The question that the cassette's user never answers."""
        self._questions = {
            kind: list(given) for kind, given in stage.cassette.answers.questions.items() if given
        }

    def enter(self, session: LiveSession, group: asyncio.TaskGroup) -> None:
        """Act in the open session from now on; what the user does meanwhile runs in `group`."""
        self._session, self._group = session, group
        session.services.bus.subscribe(ToolCallsUpdate, self._look)

    # ------------------------------------------------------------------ actions

    async def resume(self, recording: Path) -> None:
        """Go on from a chat recording, as the terminal does before its first prompt."""
        await resume(self._open.runtime, recording, self._cassette.name)

    async def act(self, action: Action) -> None:
        """Perform an action of the script at the prompt; returns when its work is done."""
        match action:
            case WriteFile():
                write_file(self._workspace.root, action)
            case Send(payload=payload):
                await self._enter(prompt_of(payload) or "")
            case SetModel(model=model):
                await self._enter(f"/model set {model}")
            case SetApprovalMode(mode=mode) | LeavePlanMode(mode=mode):
                await self._switch(mode)
            case Compress():
                await self._enter("/compress")
            case Reset():
                await self._enter("/clear")
            case _:
                raise self._unplayable(f"it has no key for `{type(action).__name__}`")
        await self._done()

    def interrupt(self, action: DuringAction) -> None:
        """Press keys as soon as the screen is settled."""
        assert self._group is not None
        self._group.create_task(self._interrupt(action), name="user interrupts")

    async def _interrupt(self, action: DuringAction) -> None:
        await self._pace.until()
        if not self._terminal.working:
            raise self._unplayable(
                "a user acts on a settled screen, and the work had ended by then"
            )
        match action:
            case Abort():
                self._terminal.press(_ESCAPE)
            case SetApprovalMode(mode=mode):
                await self._switch(mode)
            case Hint(text=text):
                await self._enter(text)
            case Send(payload=payload):
                await self._enter(prompt_of(payload) or "")

    async def _enter(self, text: str) -> None:
        # A dialog takes the place of the input: what is typed then would be lost.
        terminal = self._terminal
        await self._pace.until(lambda: terminal.question in (None, self._left_open))
        if terminal.question is not None:
            raise self._unplayable("nothing can be typed while a dialog is open")
        self._terminal.press(Text(text))
        await self._pace.until()
        if self._terminal.offers:
            self._terminal.press(_ESCAPE)
            await self._pace.until()
        self._terminal.press(_ENTER)

    async def _switch(self, mode: ApprovalMode) -> None:
        state = self._open.services.state
        keys = [_YOLO] if mode is ApprovalMode.YOLO else [_NEXT_MODE] * len(ApprovalMode)
        for key in keys:
            await self._pace.until()
            if state.approval_mode is mode:
                return
            self._terminal.press(key)

    async def _done(self) -> None:
        terminal = self._terminal
        await self._pace.until(lambda: not terminal.working or terminal.failure is not None)
        if terminal.failure is not None:
            raise terminal.failure

    @property
    def _open(self) -> LiveSession:
        assert self._session is not None, "the session is not open yet"
        return self._session

    def _unplayable(self, reason: str) -> Unplayable:
        return Unplayable("terminal", reason)

    # ------------------------------------------------------------------ answers

    @asynccontextmanager
    async def answering(self) -> AsyncIterator[None]:
        """Answer the dialogs inside the `with` block, one after the other."""
        async with asyncio.TaskGroup() as tasks:
            answers = tasks.create_task(self._answer_all(), name="user answers")
            try:
                yield
            finally:
                answers.cancel()

    def _look(self, update: ToolCallsUpdate) -> None:
        """Note the calls that wait, in their order; those that no longer wait need no answer."""
        shown = {
            call.correlation_id: call
            for call in update.calls
            if call.status == "awaiting_approval" and call.correlation_id is not None
        }
        self._asked = [
            asked
            for asked in self._asked
            if asked.scheduler_id != update.scheduler_id or asked.correlation_id in shown
        ]
        for correlation_id, call in shown.items():
            if correlation_id not in self._known:
                self._known.add(correlation_id)
                answer, event = self._user.asked(call)
                self._asked.append(
                    _Asked(
                        scheduler_id=update.scheduler_id,
                        correlation_id=correlation_id,
                        answer=answer,
                        event=event,
                    )
                )

    async def _answer_all(self) -> None:
        while True:
            await self._pace.until(self._is_asked)
            self._answered = self._terminal.question
            if self._answered is not None:
                await self._answer(self._answered)

    def _is_asked(self) -> bool:
        return self._terminal.question not in (None, self._answered)

    async def _answer(self, question: OpenQuestion) -> None:
        asked: _Asked | None = None
        given: ConfirmationAnswer | QuestionAnswer | None = None
        if question.kind == "confirmation":
            asked = self._asked.pop(0) if self._asked else None
            given = asked.answer if asked is not None else None
        elif question.kind in self._questions:
            given = in_turn(self._questions[question.kind])
        if given is None:
            self._terminal.press(_ESCAPE)
            return
        if given.never:
            self._left_open = question
            return
        if given.delay_ms > 0:
            await self._clock.sleep(given.delay_ms)
        if isinstance(given, ConfirmationAnswer):
            keys = question.keys(given.outcome, given.payload)
        else:
            keys = question.keys(given.value)
        if keys is None:
            raise self._unplayable(f"the dialog ({question.kind}) does not offer the answer")
        if asked is not None and self._terminal.question == question:
            asked.event["outcome"] = str(asked.answer.outcome)
        await self._press_in(question, keys)

    async def _press_in(self, question: OpenQuestion, keys: Sequence[str | Text]) -> None:
        for key in keys:
            await self._pace.until()
            if self._terminal.question != question:  # It was withdrawn.
                return
            self._terminal.press(key)

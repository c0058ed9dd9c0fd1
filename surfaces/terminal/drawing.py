"""`Drawing`: an agent's events and the progress of its calls become blocks, in order.

The events wait in a queue, and neighbouring fragments of an answer are joined, so that a fast
stream costs no more than the screen can show.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from agent_protocol.content import TextPart, ThoughtPart
from agent_protocol.events import (
    AgentEnd,
    AgentEvent,
    ErrorEvent,
    Message,
    ToolDisplay,
    ToolRequest,
    ToolResponse,
)
from services.progress import (
    AgentActivity,
    CallKey,
    CallMoved,
    CallNotice,
    CallOutput,
    CallQuestion,
    CallReport,
    Notice,
    Thought,
)
from services.state import (
    ApprovalModeChanged,
    CoreEvent,
    HookMessage,
    ModelChanged,
    RetryAttempt,
    UserFeedback,
)
from surfaces.commands import Item, ItemKind
from surfaces.headless.failures import INVALID_STREAM_WORDS, api_error_text, failure_of
from surfaces.terminal.agents_box import AGENT_TOOL, AgentsBox
from surfaces.terminal.answer import Answer
from surfaces.terminal.blocks import Panel, UserMessage
from surfaces.terminal.call_box import CallBox
from surfaces.terminal.call_words import CallShown
from surfaces.terminal.dialogs.confirmation import change_of
from surfaces.terminal.inert import inert_line
from surfaces.terminal.transcript import Transcript

__all__ = ["Cleared", "Drawing", "Happening", "OwnCall", "Screen", "Shown", "Typed"]

_CANCELLED: Final = "Request cancelled."
_MORE: Final = (
    "This request failed. Press F12 for diagnostics, or run /settings and change "
    '"Error Verbosity" to full for full details.'
)
_THINKING: Final = "Thinking..."
_RUNNING: Final = "Running the shell command..."


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """A line that the terminal itself adds. `mark` is a severity; empty for a prompt."""

    text: str
    mark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a command shows."""

    item: Item


@dataclass(frozen=True, slots=True)
class OwnCall:
    """A call of the user, not of the model; added again whenever it has changed."""

    call: CallShown


@dataclass(frozen=True, slots=True)
class Cleared:
    """The conversation was replaced: nothing that was shown counts any more."""


Happening = AgentEvent | Notice | CoreEvent | Typed | Shown | OwnCall | Cleared


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """What drawing needs of the application."""

    transcript: Transcript
    root: str
    auth_type: str
    activity: Callable[[str | None], None]
    """Shows what the agent does; `None` for nothing."""
    settings_changed: Callable[[], None]
    """Shows mode and model anew."""
    question: Callable[[CallQuestion, CallShown], None]
    """Asks the user about a call."""
    moved: Callable[[CallKey, str], None]
    """A call has this state now."""


class Drawing:
    """Draws what happens in one session."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._queue: asyncio.Queue[Happening] = asyncio.Queue()
        self._answer: Answer | None = None
        self._calls: dict[CallKey, tuple[CallShown, CallBox | AgentsBox]] = {}
        self._agents: AgentsBox | None = None
        """The subagents of the present round of calls."""
        self._ended: dict[str, asyncio.Event] = {}
        self._own: CallBox | None = None

    def add(self, happening: Happening) -> None:
        """Draw `happening` after all that was added before."""
        self._queue.put_nowait(happening)

    def end_of(self, stream_id: str) -> asyncio.Event:
        """Set once the end of this stream is drawn."""
        return self._ended.setdefault(stream_id, asyncio.Event())

    async def run(self) -> None:
        """Draw for ever."""
        while True:
            batch = [await self._queue.get()]
            while not self._queue.empty():
                batch.append(self._queue.get_nowait())
            for happening in _joined(batch):
                self._draw(happening)

    def _draw(self, happening: Happening) -> None:
        match happening:
            case Typed() | Shown() | OwnCall() | Cleared():
                self._end_answer()
                self._draw_own(happening)
            case Message(role="agent"):
                self._message(happening)
            case ToolRequest():
                self._request(happening)
            case ToolResponse():
                self._response(happening)
            case ErrorEvent():
                self._error(happening)
            case AgentEnd():
                self._end(happening)
            case RetryAttempt():
                tries = f"attempt {happening.attempt}/{happening.max_attempts}"
                self._screen.activity(f"Trying to reach {happening.model} ({tries})")
            case UserFeedback() | HookMessage():
                severity = happening.severity if isinstance(happening, UserFeedback) else "info"
                self._screen.transcript.notice(happening.message, severity)
            case ApprovalModeChanged() | ModelChanged():
                self._screen.settings_changed()
            case Thought():
                pass
            case CallMoved() | CallQuestion() | CallOutput() | AgentActivity() | CallReport():
                self._progress(happening)
            case _:
                pass

    def _draw_own(self, happening: Typed | Shown | OwnCall | Cleared) -> None:
        match happening:
            case Typed():
                self._typed(happening)
            case Shown():
                self._item(happening.item)
            case OwnCall():
                self._own_call(happening.call)
            case Cleared():
                self._own = self._agents = None
                self._calls.clear()
                self._screen.transcript.clear()

    def _typed(self, line: Typed) -> None:
        if line.mark:
            self._screen.transcript.notice(line.text, line.mark)
        else:
            self._screen.transcript.add(UserMessage(line.text))
            self._screen.activity(_THINKING)

    def _item(self, item: Item) -> None:
        transcript = self._screen.transcript
        if item.markdown or item.kind is ItemKind.AGENT:
            answer = Answer(transcript.add)
            answer.append(item.text)
            answer.end()
            transcript.redraw()
        elif item.kind is ItemKind.USER:
            transcript.add(UserMessage(item.text))
        elif item.kind is ItemKind.PANEL:
            transcript.add(Panel(item.text))
        else:
            transcript.notice(item.text, item.kind.value)

    def _own_call(self, call: CallShown) -> None:
        if self._own is None or self._own.call is not call:
            self._own = CallBox(call)
            self._screen.transcript.add(self._own)
        self._screen.transcript.changed(self._own)
        self._screen.activity(None if call.settled else _RUNNING)

    def _message(self, message: Message) -> None:
        subject = (message.meta or {}).get("subject")
        for part in message.content:
            if isinstance(part, ThoughtPart):
                self._screen.activity(_subject(part.thought, subject))
            elif isinstance(part, TextPart) and (part.text.strip() or self._answer is not None):
                self._screen.activity(_THINKING)
                if self._answer is None:
                    self._answer = Answer(self._screen.transcript.add)
                self._answer.append(part.text)
                self._screen.transcript.redraw()

    def _end_answer(self) -> None:
        if self._answer is not None:
            self._answer.end()
            self._answer = None
            self._screen.transcript.redraw()

    def _request(self, request: ToolRequest) -> None:
        self._end_answer()
        key = self._key(request.request_id)
        call, box = self._calls.get(key, (None, None))
        if call is not None and box is not None and not call.settled:
            call.display = request.display
            self._screen.transcript.changed(box)
            return
        call = CallShown(name=request.name, root=self._screen.root, display=request.display)
        self._calls[key] = call, self._box(call)

    def _box(self, call: CallShown) -> CallBox | AgentsBox:
        """Add what shows `call`; subagents of one round are shown together."""
        transcript = self._screen.transcript
        if call.name != AGENT_TOOL:
            box = CallBox(call)
            transcript.add(box)
            return box
        if self._agents is None or self._agents.finished:
            self._agents = AgentsBox(call)
            transcript.add(self._agents)
        else:
            self._agents.calls.append(call)
            transcript.changed(self._agents)
        return self._agents

    def _response(self, response: ToolResponse) -> None:
        key = self._key(response.request_id)
        if key not in self._calls:
            return
        call, box = self._calls[key]
        if response.display is not None and call.display is not None:
            call.display = _merged(call.display, response.display)
        if not call.settled:
            call.status = "error" if response.is_error else "success"
        self._screen.transcript.changed(box)
        self._screen.settings_changed()

    def _key(self, request_id: str) -> CallKey:
        return CallKey(call_id=request_id)

    def _progress(self, notice: CallNotice) -> None:
        if isinstance(notice, CallMoved):
            self._screen.moved(notice.call, notice.status)
        if notice.call not in self._calls:
            if isinstance(notice, CallQuestion):
                details = notice.details
                name = details.title if details else "?"
                self._screen.question(notice, CallShown(name=name, root=self._screen.root))
            return
        call, box = self._calls[notice.call]
        match notice:
            case CallMoved():
                call.status = notice.status
            case CallOutput():
                call.output = notice.output
            case AgentActivity():
                call.activity = notice
            case CallReport():
                call.output = notice.progress.message or call.output
            case CallQuestion():
                call.change = change_of(notice.details)
                self._screen.question(notice, call)
            case _:
                pass
        self._screen.transcript.changed(box)

    def _error(self, event: ErrorEvent) -> None:
        self._end_answer()
        meta, notice = event.meta or {}, self._screen.transcript.notice
        if meta.get("code") == "INVALID_STREAM":
            kind = meta.get("errorType")
            words = INVALID_STREAM_WORDS.get(kind if isinstance(kind, str) else "", event.message)
            notice(words, "error")
        elif meta.get("code") == "AGENT_EXECUTION_BLOCKED":
            notice(f"Agent execution blocked: {event.message.strip()}", "warning")
        elif event.fatal:
            notice(api_error_text(failure_of(event), self._screen.auth_type), "error")
            notice(_MORE)
        else:
            notice(event.message, "warning")

    def _end(self, event: AgentEnd) -> None:
        self._end_answer()
        message = (event.data or {}).get("message")
        if event.reason == "aborted":
            self._screen.transcript.notice(_CANCELLED)
        elif isinstance(message, str) and message:
            self._screen.transcript.notice(message)
        for call, box in self._calls.values():
            if not call.settled:
                call.status = "cancelled"
                self._screen.transcript.changed(box)
        self._calls.clear()
        self._agents = None
        self._screen.activity(None)
        self._screen.settings_changed()
        self.end_of(event.stream_id).set()


def _joined(batch: Sequence[Happening]) -> Iterator[Happening]:
    """`batch` with neighbouring fragments of one answer as one."""
    before: Message | None = None
    for happening in batch:
        if before is not None and _continues(before, happening):
            assert isinstance(happening, Message)
            before = replace(before, content=(_text_of(before, happening),))
            continue
        if before is not None:
            yield before
            before = None
        if isinstance(happening, Message) and _is_text(happening):
            before = happening
        else:
            yield happening
    if before is not None:
        yield before


def _is_text(message: Message) -> bool:
    return message.role == "agent" and all(isinstance(part, TextPart) for part in message.content)


def _continues(before: Message, happening: Happening) -> bool:
    return isinstance(happening, Message) and _is_text(happening)


def _text_of(*messages: Message) -> TextPart:
    parts = [part for message in messages for part in message.content]
    return TextPart(text="".join(part.text for part in parts if isinstance(part, TextPart)))


def _subject(thought: str, subject: object) -> str:
    if isinstance(subject, str) and subject.strip():
        return inert_line(subject)
    first = thought.strip().split("\n")[0].strip("* ")
    return inert_line(first) or _THINKING


def _merged(before: ToolDisplay, after: ToolDisplay) -> ToolDisplay:
    return replace(
        after,
        name=after.name or before.name,
        description=after.description or before.description,
    )

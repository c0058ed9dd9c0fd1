"""`Dialog` and `DialogHost`: one question at a time, in the place of the input."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import ClassVar, Final, Generic, TypeVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.message import Message
from textual.widgets import Static

from services.clock import Clock
from surfaces.terminal.dialogs.options import Choice, NumberedOptions

__all__ = ["ChoiceDialog", "Dialog", "DialogHost"]

A = TypeVar("A")

_SHARE: Final = 85
"""The part of the screen's height that dialogs may take, in percent, as the style sheet says."""
_FRAME: Final = 4
"""The columns of a dialog's border and padding."""


class Dialog(Vertical, Generic[A]):
    """A question; `answered` is done once the user has answered."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "escape", show=False),
        Binding("pageup", "scroll_body(-1)", show=False, priority=True),
        Binding("pagedown", "scroll_body(1)", show=False, priority=True),
    ]

    def __init__(self, escape: A) -> None:
        super().__init__(classes="dialog")
        self._escape = escape
        self.answered: asyncio.Future[A] = asyncio.get_running_loop().create_future()

    def room(self, *, around: int, lines: int, most: int) -> int:
        """How many entries of a list fit on the screen.

        Args:
            around: the lines of the dialog that stand around the entries.
            lines: the lines of an entry.
            most: the number of entries on a high screen.
        """
        high = self.app.size.height * _SHARE // 100 - around
        return max(1, min(most, high // lines))

    def line(self, text: Text) -> Text:
        """`text`, cut where the dialog ends."""
        text.truncate(max(1, self.app.size.width - _FRAME), overflow="ellipsis")
        return text

    def settle(self, answer: A) -> None:
        """Answer; a second answer is ignored."""
        if not self.answered.done():
            self.answered.set_result(answer)

    async def action_escape(self) -> None:
        """Give the answer that Esc stands for."""
        self.settle(self._escape)

    def action_scroll_body(self, pages: int) -> None:
        """Scroll a text that is longer than the dialog."""
        for body in self.query(VerticalScroll):
            body.scroll_relative(y=pages * body.size.height, animate=False)


class ChoiceDialog(Dialog[A]):
    """Lines of text, and options; each option has its answer.

    `keys` says what the keys do; the option with the index `first` is highlighted.
    """

    def __init__(
        self,
        heading: str,
        body: Sequence[Text],
        question: str,
        options: Sequence[tuple[str, A]],
        *,
        escape: A,
        keys: str = "",
        first: int = 0,
    ) -> None:
        super().__init__(escape)
        self._first = first
        self._keys = keys
        self._heading = heading
        self._body = body
        self._question = question
        self._options = options

    @property
    def answers(self) -> list[A]:
        """The answers of the options, in their order."""
        return [answer for _, answer in self._options]

    def compose(self) -> ComposeResult:
        """Heading, body, question, options."""
        if self._heading:
            yield Static(Text(self._heading, style="bold"), markup=False, classes="heading")
        if self._body:
            with VerticalScroll(classes="body", can_focus=False):
                yield Static(Text("\n").join(self._body), markup=False)
        if self._question:
            yield Static(self._question, markup=False, classes="question")
        choices = [Choice(label=label) for label, _ in self._options]
        yield NumberedOptions(choices, first=self._first)
        if self._keys:
            yield Static(self._keys, markup=False, classes="keys")

    def on_mount(self) -> None:
        """The options have the keys."""
        self.query_one(NumberedOptions).focus()

    def on_numbered_options_chosen(self, event: NumberedOptions.Chosen) -> None:
        """Answer with the option's value."""
        event.stop()
        self.settle(self._options[event.index][1])


class DialogHost(Vertical):
    """Shows dialogs one after the other, in the order of the questions."""

    class Opened(Message):
        """A dialog has opened."""

    class Closed(Message):
        """No dialog is open any more."""

    def __init__(self, clock: Clock) -> None:
        """Open dialogs. The session's `clock` stands still while one is mounted."""
        super().__init__()
        self._clock = clock
        self._turn = asyncio.Lock()
        self._waiting = 0

    @property
    def busy(self) -> bool:
        """Whether a dialog is open, or waits."""
        return self._waiting > 0

    async def ask(self, dialog: Dialog[A]) -> A:
        """Show `dialog` when it is its turn; return the answer. A cancellation withdraws it."""
        self._waiting += 1
        try:
            async with self._turn:
                self.post_message(self.Opened())
                with self._clock.real_work():  # Some dialogs use threads.
                    await self.mount(dialog)
                try:
                    return await dialog.answered
                finally:
                    await dialog.remove()
        finally:
            self._waiting -= 1
            if not self._waiting:
                self.post_message(self.Closed())

"""`TextFieldDialog`: a line of text from the user.

Source: `packages/cli` `ui/components/ConfigExtensionDialog.tsx`, `ui/auth/ApiAuthDialog.tsx`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, Static

from surfaces.terminal.dialogs.dialog import Dialog
from surfaces.terminal.inert import inert

__all__ = ["TextFieldDialog"]


class TextFieldDialog(Dialog[str | None]):
    """The text, which may be empty; `None` for Esc."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+l", "clear", show=False)]

    def __init__(
        self,
        heading: str,
        about: Sequence[str],
        *,
        placeholder: str,
        keys: str,
        hidden: bool = False,
        letters: str | None = None,
        value: str = "",
        clear: Callable[[], None] | None = None,
    ) -> None:
        """Ask for a text.

        Args:
            heading: what is asked for.
            about: lines about it.
            placeholder: shown in the empty field.
            keys: what the keys do.
            hidden: whether the text is not shown.
            letters: a pattern of what may be written; `None`: anything.
            value: the text to begin with.
            clear: called when the user forgets the text with Ctrl+L.
        """
        super().__init__(None)
        self._heading = heading
        self._about = about
        self._keys = keys
        self._clear = clear
        self._field = Input(
            value, placeholder=placeholder, password=hidden, restrict=letters, compact=True
        )

    def compose(self) -> ComposeResult:
        """Heading, words, field, keys."""
        yield Static(Text(inert(self._heading), style="bold"), markup=False, classes="heading")
        yield Static("\n".join(map(inert, self._about)), markup=False, classes="question")
        yield self._field
        yield Static(self._keys, markup=False, classes="keys")

    def on_mount(self) -> None:
        """The field has the keys."""
        self._field.focus()

    def action_clear(self) -> None:
        """Ctrl+L: forget the text."""
        if self._clear is not None:
            self._clear()
            self._field.clear()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer with the text."""
        event.stop()
        self.settle(event.value)

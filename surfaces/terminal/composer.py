"""The input: several lines, a history of prompts, a mark for the mode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Static, TextArea

from surfaces.terminal.menu import SlashMenu

__all__ = ["PLACEHOLDER", "Composer", "PromptInput"]

PLACEHOLDER: Final = "  Type your message or @path/to/file"
_MOST_LINES: Final = 10


class PromptInput(TextArea):
    """The text of the next prompt. Enter sends it; Shift+Enter and Ctrl+J begin a line."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("shift+tab", "app.next_mode", show=False)]

    @dataclass
    class Submitted(Message):
        """The user has sent a text."""

        text: str

    def __init__(self) -> None:
        super().__init__(
            placeholder=PLACEHOLDER,
            compact=True,
            highlight_cursor_line=False,
            tab_behavior="focus",
            show_line_numbers=False,
        )
        # A blinking cursor would redraw an idle screen for ever.
        self.cursor_blink = False
        self._history: list[str] = []
        self._place = 0
        self._draft = ""
        self._menu: SlashMenu | None = None

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter" and not self.text.endswith("\\"):
            event.stop()
            event.prevent_default()
            self.submit()
            return
        if event.key in ("shift+enter", "ctrl+j", "alt+enter") or event.key == "enter":
            event.stop()
            event.prevent_default()
            if event.key == "enter":
                self.action_delete_left()
            self.insert("\n")
            return
        if self._chooses(event.key):
            event.stop()
            event.prevent_default()
            return
        if self._recalls(event.key):
            event.stop()
            event.prevent_default()
            return
        await super()._on_key(event)

    def submit(self) -> None:
        """Send the text, and empty the input."""
        text = self.text
        if text.strip():
            self._history.append(text)
            self._place = len(self._history)
            self.text = ""
            self.post_message(self.Submitted(text))

    def replace_all(self, text: str) -> None:
        """Put `text` in place of what is there, the cursor behind it."""
        self.text = text
        self.move_cursor(self.document.end)

    def offer(self, menu: SlashMenu) -> None:
        """Let Tab and the arrows choose in `menu` while it is open."""
        self._menu = menu

    def _chooses(self, key: str) -> bool:
        menu = self._menu
        if menu is None or not menu.is_for(self.text):
            return False
        if key in ("up", "down"):
            menu.move(-1 if key == "up" else 1)
            return True
        if key == "tab":
            self.replace_all(menu.completed())
            return True
        return False

    def _recalls(self, key: str) -> bool:
        """Go through the history at the first and the last line."""
        row, _ = self.cursor_location
        step = {"up": -1, "down": 1}.get(key)
        edge = 0 if key == "up" else self.document.line_count - 1
        if step is None or row != edge:
            return False
        place = self._place + step
        if not 0 <= place <= len(self._history):
            return False
        if self._place == len(self._history):
            self._draft = self.text
        self._place = place
        self.replace_all(self._draft if place == len(self._history) else self._history[place])
        return True


class Composer(Horizontal):
    """The mark and the input."""

    def compose(self) -> ComposeResult:
        """Both, side by side."""
        yield Static(">", id="prompt-mark", markup=False)
        yield PromptInput()

    @property
    def input(self) -> PromptInput:
        """The input."""
        return self.query_one(PromptInput)

    def mark(self, mark: str) -> None:
        """Show `mark` before the input."""
        self.query_one("#prompt-mark", Static).update(mark)

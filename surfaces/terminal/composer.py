"""The input: several lines, a history of prompts, a mark for the mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Static, TextArea

from surfaces.terminal.menu import SuggestionMenu
from surfaces.terminal.pasted import PastedTexts, typed_text
from surfaces.terminal.recall import Recall
from surfaces.terminal.vim.buffer import Buffer
from surfaces.terminal.vim.keys import Mode, VimKeys

__all__ = ["PLACEHOLDER", "VIM_SETTING", "Composer", "PromptInput"]

PLACEHOLDER: Final = "  Type your message or @path/to/file"
VIM_SETTING: Final = "general.vimMode"
_SHELL_PLACEHOLDER: Final = "  Type your shell command"
_VIM_PLACEHOLDERS: Final = {
    Mode.INSERT: "  Press 'Esc' for NORMAL mode.",
    Mode.NORMAL: "  Press 'i' for INSERT mode.",
}
_NEW_LINE: Final = frozenset({"shift+enter", "ctrl+enter", "ctrl+j", "alt+enter"})
_RECALL: Final = {"up": -1, "ctrl+p": -1, "down": 1, "ctrl+n": 1}


class PromptInput(TextArea):
    """The text of the next prompt, or of the next shell command.

    Enter sends it; Shift+Enter and Ctrl+J begin a line, and so does Enter after a backslash.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("shift+tab", "app.next_mode", show=False)]

    @dataclass
    class Submitted(Message):
        """The user has sent a text; `shell`: it is a shell command."""

        text: str
        shell: bool

    class ModeSwitched(Message):
        """Shell mode is on, or off again; or Vim's keys do something else now."""

    class AsksForShortcuts(Message):
        """The user wants to see the keys."""

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
        self.shell = False
        """Whether what is written is a shell command."""
        self._vim: VimKeys | None = None
        self._sent = {False: Recall(), True: Recall()}
        self._pasted = PastedTexts()
        self._before_search: str | None = None
        """What stood in the input when the search began; `None`: nothing is searched."""
        self._menu: SuggestionMenu | None = None
        self._take_back: Callable[[], str] = str

    async def _on_key(self, event: events.Key) -> None:
        handled = (
            self._searches(event.key)
            or self._edits_as_vim(event)
            or self._sends(event.key)
            or self._chooses(event.key)
            or self._recalls(event.key)
            or self._switches(event)
        )
        if handled:
            event.stop()
            event.prevent_default()
            return
        await super()._on_key(event)

    async def _on_paste(self, event: events.Paste) -> None:
        """Insert a text; a long one as a placeholder."""
        event.stop()
        event.prevent_default()
        self.insert(self._pasted.shown(typed_text(event.text)))

    def replace_all(self, text: str) -> None:
        """Put `text` in place of what is there, the cursor behind it."""
        self.text = text
        self.move_cursor(self.document.end)

    def connect(self, menu: SuggestionMenu, take_back: Callable[[], str]) -> None:
        """Let Tab, Enter and the arrows choose in `menu` while it is open.

        `take_back` returns the prompts that wait, which do not wait any more; Up at an empty
        input takes them.
        """
        self._menu = menu
        self._take_back = take_back

    def switch_shell(self, on: bool) -> None:
        """Switch shell mode."""
        self.shell = on
        self._switched()

    @property
    def vim_mode(self) -> Mode | None:
        """What Vim's keys do; `None`: they are off."""
        return None if self._vim is None else self._vim.mode

    def switch_vim(self, on: bool) -> None:
        """Switch Vim's keys."""
        self._vim = VimKeys(self, self._switched) if on else None
        self._switched()

    def _switched(self) -> None:
        mode = self.vim_mode
        words = _SHELL_PLACEHOLDER if self.shell else PLACEHOLDER
        self.placeholder = words if mode is None else _VIM_PLACEHOLDERS[mode]
        self.post_message(self.ModeSwitched())

    # ------------------------------------------------------------------ `TextField`

    def read(self) -> Buffer:
        """The text and the cursor."""
        return Buffer(tuple(self.document.lines), *self.cursor_location)

    def write(self, buffer: Buffer) -> None:
        """Change the text, which one `undo` takes back, and move the cursor."""
        text = "\n".join(buffer.lines)
        if text != self.text:
            self.history.checkpoint()
            self.replace(text, (0, 0), self.document.end)
            self.history.checkpoint()
        self.move_cursor(buffer.place)

    # ------------------------------------------------------------------ history search

    @property
    def searching(self) -> bool:
        """Whether what is typed is searched in the history."""
        return self._before_search is not None

    def recall_earlier(self, texts: Sequence[str]) -> None:
        """Take the prompts of earlier sessions, oldest first."""
        self._sent[False].put_before(texts)

    def search(self) -> None:
        """Show what in the history has the text of the input."""
        if self._menu is not None:
            self._menu.offer(self.text, 0, self._sent[self.shell].found(self.text))

    def _searches(self, key: str) -> bool:
        """Ctrl+R begins a search. Then Enter sends the chosen text, Tab takes it, Esc ends it."""
        if key == "ctrl+r" and not self.searching:
            self._before_search = self.text
            self.search()
            self.post_message(self.ModeSwitched())
            return True
        if not self.searching or self._menu is None:
            return False
        chosen = self._menu.chosen
        match key:
            case "up" | "down" | "ctrl+r" if chosen is not None:
                self._menu.move(-1 if key == "up" else 1)
            case "enter" | "tab":
                self._end_search(self.text if chosen is None else chosen)
                if key == "enter":
                    self._submit()
            case "escape":
                self.cancel_search()
            case _:
                return key in ("up", "down", "ctrl+r")
        return True

    def cancel_search(self) -> None:
        """End the search, and bring back what stood in the input."""
        self._end_search(self._before_search or "")

    def _end_search(self, text: str) -> None:
        self._before_search = None
        if self._menu is not None:
            self._menu.close()
        self.replace_all(text)
        self.post_message(self.ModeSwitched())

    # ------------------------------------------------------------------ keys

    def _edits_as_vim(self, event: events.Key) -> bool:
        """While a search is open, the keys write what is searched."""
        if self._vim is None or self.searching:
            return False
        return self._vim.press(event.key, event.character, event.time)

    def _sends(self, key: str) -> bool:
        if key in _NEW_LINE:
            self.insert("\n")
            return True
        if key != "enter":
            return False
        if self.text.endswith("\\"):
            self.action_delete_left()
            self.insert("\n")
            return True
        menu = self._menu
        completed = menu.entered() if menu is not None and menu.is_for(self.text) else None
        if completed is not None:
            self.replace_all(completed.text)
        if completed is None or completed.sends:
            self._submit()
        return True

    def _submit(self) -> None:
        text = self.text
        if text.strip():
            self._sent[self.shell].keep(text)
            self.text = ""
            self.post_message(self.Submitted(self._pasted.expanded(text), self.shell))

    def _switches(self, event: events.Key) -> bool:
        """`!` and `?` at an empty input are no text."""
        if self.text:
            return False
        if event.character == "!":
            self.switch_shell(not self.shell)
        elif event.key == "backspace" and self.shell:
            self.switch_shell(False)
        elif event.character == "?" and not self.shell:
            self.post_message(self.AsksForShortcuts())
        else:
            return False
        return True

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
        """Go through the history: with the arrows at the first and the last line."""
        step = _RECALL.get(key)
        row, _ = self.cursor_location
        edge = 0 if step == -1 else self.document.line_count - 1
        if step is None or (key in ("up", "down") and row != edge):
            return False
        if key == "up" and not self.text and (waiting := self._take_back()):
            self.replace_all(waiting)
            return True
        text = self._sent[self.shell].step(step, self.text)
        if text is not None:
            self.replace_all(text)
        return text is not None


class Composer(Horizontal):
    """The mark and the input."""

    def compose(self) -> ComposeResult:
        """Both, side by side."""
        yield Static("> ", id="prompt-mark", markup=False)
        yield PromptInput()

    def mark(self, mark: str) -> None:
        """Show `mark` before the input."""
        self.query_one("#prompt-mark", Static).update(f"{mark} ")

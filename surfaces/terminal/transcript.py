"""The transcript: everything that was said and done, in widgets."""

from __future__ import annotations

from typing import Final

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Markdown, Static
from textual.widgets.markdown import MarkdownBlock, MarkdownFence

from surfaces.commands import Item, ItemKind
from surfaces.terminal.call_words import CallShown
from surfaces.terminal.inert import inert

__all__ = ["Answer", "CallBox", "Notice", "Panel", "Transcript", "UserMessage"]

_LIVE_LINES: Final = 15
_ALL_LINES: Final = 5_000
_MARKS: Final = {"info": "\u2139", "warning": "⚠", "error": "✕", "hint": "💡", "shell": "!"}


class UserMessage(Static):
    """What the user has sent."""

    def __init__(self, text: str, *, mark: str = ">") -> None:
        super().__init__(Content(f"{mark} {inert(text)}"), markup=False)


class Notice(Static):
    """A line about the session; `severity` chooses mark and colour."""

    def __init__(self, text: str, severity: str = "info") -> None:
        mark = _MARKS.get(severity, _MARKS["info"])
        super().__init__(Content(f"{mark} {inert(text)}"), markup=False, classes=f"-{severity}")


class Panel(Static):
    """Lines of a command that belong together."""

    def __init__(self, text: str) -> None:
        super().__init__(Content(inert(text)), markup=False)


class _Code(MarkdownFence):
    """A block of code with numbered lines."""

    @classmethod
    def highlight(cls, code: str, language: str, ansi: bool = False, dark: bool = False) -> Content:
        """The code in colours, each line behind its number."""
        lines = super().highlight(code, language, ansi, dark).split("\n")
        width = len(str(len(lines)))
        numbered = [
            Content.assemble((f"{number:>{width}} ", "dim"), line)
            for number, line in enumerate(lines, 1)
        ]
        return Content("\n").join(numbered)


class _AnswerText(Markdown):
    """Markdown whose blocks of code have line numbers."""

    def get_block_class(self, block_name: str) -> type[MarkdownBlock]:
        """As in Textual, but for code."""
        return (
            _Code if block_name in ("fence", "code_block") else super().get_block_class(block_name)
        )


class Answer(Vertical):
    """An answer of the model, which grows while it is streamed."""

    def __init__(self) -> None:
        super().__init__()
        self._text = _AnswerText(open_links=False)

    def compose(self) -> ComposeResult:
        """The mark and the text."""
        yield Static("✦", classes="mark")
        yield self._text

    async def append(self, text: str) -> None:
        """Add a fragment of Markdown; returns when it is laid out."""
        await self._text.append(inert(text))


class CallBox(Static):
    """One tool call."""

    def __init__(self, call: CallShown) -> None:
        super().__init__(markup=False)
        self.call = call
        self.expanded = False
        self.refresh_call()

    def refresh_call(self) -> None:
        """Show the call's present state."""
        call = self.call
        self.display = not call.hidden
        self.set_class(call.boxed, "-boxed")
        shown = call.line()
        body = call.body(_ALL_LINES if self.expanded else _LIVE_LINES)
        if body.plain:
            shown = Text("\n\n").join([shown, body])
        self.update(shown)
        # Textual counts updates to know whether a measured height still holds, but counts a second
        # one before an idle moment as the same. A layout between the two would keep the old height.
        self._layout_updates += 1


class Transcript(VerticalScroll):
    """The widgets of a session, the latest at the bottom."""

    can_focus = False

    def on_mount(self) -> None:
        """Follow what is added, until the user scrolls up."""
        self.anchor()

    async def add(self, widget: Widget) -> None:
        """Add a widget at the end."""
        await self.mount(widget)

    async def notice(self, text: str, severity: str = "info") -> None:
        """Add a line about the session."""
        await self.add(Notice(text, severity))

    async def item(self, item: Item) -> None:
        """Add what a command shows."""
        if item.markdown or item.kind is ItemKind.AGENT:
            answer = Answer()
            await self.add(answer)
            await answer.append(item.text)
        elif item.kind is ItemKind.USER:
            await self.add(UserMessage(item.text))
        elif item.kind is ItemKind.PANEL:
            await self.add(Panel(item.text))
        else:
            await self.notice(item.text, item.kind.value)

    async def clear(self) -> None:
        """Remove everything."""
        await self.remove_children()

    def toggle_expanded(self) -> None:
        """Show long outputs whole, or short again."""
        boxes = list(self.query(CallBox))
        expand = not any(box.expanded for box in boxes)
        for box in boxes:
            box.expanded = expand
            box.refresh_call()

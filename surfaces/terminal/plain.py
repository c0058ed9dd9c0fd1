"""The terminal as plain lines, for screen readers and for terminals without a cursor.

The screen is composed as usual, but not drawn. `PlainLines` looks at it after each change, and
writes what is new: finished blocks of the transcript, questions with their options, the chosen line
of a list, and the text of the input as it is typed. What stands on the terminal never changes.

Source: `packages/cli` `ui/layouts/ScreenReaderAppLayout.tsx`, `ui/textConstants.ts`,
`ui/components/Notifications.tsx`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from textual.app import App
from textual.widgets import Static

from surfaces.terminal.composer import PromptInput
from surfaces.terminal.dialogs.dialog import DialogHost
from surfaces.terminal.driver import TerminalDriver
from surfaces.terminal.inert import inert
from surfaces.terminal.menu import SuggestionMenu
from surfaces.terminal.status import ActivityLine, Footer, ModeLine
from surfaces.terminal.transcript import Transcript

__all__ = ["NUDGE", "PlainDriver", "PlainLines"]

NUDGE: Final = (
    "You are currently in screen reader-friendly view. To switch out, open {file} and remove the "
    'entry for "screenReader". This will disappear on next run.'
)
_ROWS: Final = 200
"""The rows of the composed screen, so that no dialog is cut."""
_LEAST_COLUMNS: Final = 80
_FRAME: Final = re.compile(r"[│╭╮╰╯─┌┐└┘┃━▔▁▊▎█▌▐]+")
_MARK: Final = re.compile(r"^\s*●\s*")


class PlainDriver(TerminalDriver):
    """Reads keys, and draws nothing."""

    def write(self, data: str) -> None:
        """Drop what would be drawn."""

    def _get_terminal_size(self) -> tuple[int, int]:
        width, _ = super()._get_terminal_size()
        return max(width, _LEAST_COLUMNS), _ROWS


class PlainLines:
    """Writes what a user has to know of a terminal, line by line."""

    def __init__(self, app: App[int], write: Callable[[str], object]) -> None:
        """Read `app`, and give each piece of text to `write`."""
        self._app = app
        self._write = write
        self._typed: str | None = None
        """The text of the input on the last line of the terminal; `None`: another line is there."""
        self._spoken = 0
        """The first block of the transcript that is not written whole."""
        self._cleared = 0
        self._begun: set[int] = set()
        """The blocks whose first line is written."""
        self._done: set[int] = set()
        self._dialog: tuple[str, ...] = ()
        self._said: dict[str, str] = {}
        """What was written last of each line around the input."""

    def look(self) -> None:
        """Write what is new."""
        app = self._app
        self._say(self._blocks())
        dialog = self._dialog_lines()
        if dialog != self._dialog:
            self._say(_new_lines(self._dialog, dialog))
            self._dialog = dialog
        if dialog:
            return
        activity = app.query_one(ActivityLine)
        self._once("hint", activity.hint)
        self._once("activity", activity.activity or "")
        self._once("waiting", _shown(app.query_one("#waiting", Static)))
        self._once("shortcuts", _shown(app.query_one("#shortcuts", Static)))
        self._once("mode", app.query_one(ModeLine).words)
        self._once("status", app.query_one(Footer).words)
        self._once("menu", self._suggestion())
        self._echo(app.query_one(PromptInput))

    def end(self) -> None:
        """Leave the line of the input."""
        if self._typed is not None:
            self._write("\n")
            self._typed = None

    def _say(self, lines: Sequence[str] | Iterator[str]) -> None:
        for line in lines:
            begin = "\n" if self._typed is not None else ""
            self._typed = None
            self._write(f"{begin}{line}\n")

    def _once(self, name: str, words: str) -> None:
        """Write `words` if they have changed and are not empty."""
        if words != self._said.get(name, ""):
            self._said[name] = words
            if words:
                self._say([words])

    def _blocks(self) -> Iterator[str]:
        """The blocks that are finished, and the first lines of those that are not."""
        transcript = self._app.query_one(Transcript)
        blocks = transcript.blocks
        if transcript.cleared != self._cleared:
            self._cleared, self._spoken = transcript.cleared, 0
            self._begun.clear()
            self._done.clear()
        for number in range(self._spoken, len(blocks)):
            block = blocks[number]
            if number in self._done:
                continue
            words = block.words
            if block.finished:
                self._done.add(number)
                if words.strip():
                    yield words
            elif block.announced and words and number not in self._begun:
                self._begun.add(number)
                yield words.partition("\n")[0]
        while self._spoken in self._done:
            self._done.discard(self._spoken)
            self._begun.discard(self._spoken)
            self._spoken += 1

    def _dialog_lines(self) -> tuple[str, ...]:
        """The open dialog, without its frame."""
        host = self._app.query_one(DialogHost)
        if not host.children:
            return ()
        region = host.region
        strips = self._app.screen._compositor.render_strips()
        lines = (
            _FRAME.sub(" ", strip.crop(region.x, region.right).text).strip()
            for strip in strips[region.y : region.bottom]
        )
        return tuple(line for line in lines if line)

    def _suggestion(self) -> str:
        menu, text = self._app.query_one(SuggestionMenu), self._app.query_one(PromptInput).text
        return menu.words if menu.is_for(text) else ""

    def _echo(self, prompt: PromptInput) -> None:
        """Show the input: its end grows and shrinks, any other change begins it anew."""
        text = inert(prompt.text)
        mark = "! " if prompt.shell else "> "
        before = self._typed
        if before is not None and text.startswith(before):
            self._write(text[len(before) :].replace("\n", "\n  "))
        elif before is not None and before.startswith(text) and "\n" not in before[len(text) :]:
            self._write("\b \b" * (len(before) - len(text)))
        else:
            begin = "\n" if before is not None else ""
            shown = text.replace("\n", "\n  ")
            self._write(f"{begin}{mark}{shown}")
        self._typed = text


def _shown(widget: Static) -> str:
    return str(widget.content).strip() if widget.display else ""


def _new_lines(before: Sequence[str], now: Sequence[str]) -> Iterator[str]:
    """The lines that were not there, and the one that has the mark now."""
    known = {_MARK.sub("", line) for line in before}
    for line in now:
        if _MARK.sub("", line) not in known or (_MARK.match(line) and line not in before):
            yield line

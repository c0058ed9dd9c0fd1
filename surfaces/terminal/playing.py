"""`PlayedTerminal`: a terminal without a display, for programs that play its user.

Keys go in, screens come out. The terminal works in the running event loop. A program that wants to
see a settled screen calls `settle` whenever the loop is idle, until it returns False.
"""

from __future__ import annotations

import unicodedata
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Final

from textual import events

from parity import own_name
from surfaces.terminal.answer_keys import OpenQuestion, Text, open_question
from surfaces.terminal.app import TerminalApp
from surfaces.terminal.composer import PromptInput
from surfaces.terminal.dialogs.dialog import DialogHost
from surfaces.terminal.live import OpenSession
from surfaces.terminal.menu import SuggestionMenu
from surfaces.terminal.prepared import Prepared
from surfaces.terminal.svg import screen_svg

__all__ = [
    "COLUMNS",
    "ROWS",
    "OpenQuestion",
    "PlayedTerminal",
    "ScreenShown",
    "Text",
    "open_played_terminal",
]

COLUMNS: Final = 120
ROWS: Final = 40
_MOST_TYPED: Final = 200
"""Letters that are typed one by one; a longer text is pasted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenShown:
    """A screen: its rows as text without blanks at their ends, and a function that draws it."""

    lines: tuple[str, ...]
    svg: Callable[[], str] = field(compare=False, repr=False)


class PlayedTerminal:
    """An open terminal, from its user's side."""

    def __init__(self, app: TerminalApp) -> None:
        self._app = app

    @property
    def opened(self) -> bool:
        """Whether it takes prompts."""
        return self._app.opened

    @property
    def working(self) -> bool:
        """Whether the agent or a command works, or a prompt waits."""
        return self._app.working

    @property
    def failure(self) -> Exception | None:
        """Why the session has ended, unless the user has left it."""
        return self._app.failure

    @property
    def question(self) -> OpenQuestion | None:
        """The open dialog."""
        return open_question(self._app.query_one(DialogHost))

    @property
    def offers(self) -> bool:
        """Whether a menu of suggestions is open, which Enter would choose from."""
        text = self._app.query_one(PromptInput).text
        return self._app.query_one(SuggestionMenu).is_for(text)

    def press(self, *keys: str | Text) -> None:
        """Press keys, by their names, and write texts."""
        for key in keys:
            if isinstance(key, Text):
                self._write(key.text)
            else:
                self._send(events.Key(key, None))

    def leave(self) -> None:
        """Leave the session, as Ctrl+Q does."""
        self._app.action_quit_now()

    def settle(self) -> bool:
        """Lay out and draw what has changed; False if nothing has.

        Textual does so when a timer of real time fires, and has no function that does it at once.
        """
        screen = self._app.screen
        waits = (
            screen._layout_required
            or screen._scroll_required
            or screen._repaint_required
            or screen._recompose_required
            or screen._dirty_widgets
            or screen._callbacks
        )
        return bool(waits) and self._app.call_later(screen._on_timer_update)

    def screen(self) -> ScreenShown:
        """Return the screen as it is."""
        strips = self._app.screen._compositor.render_strips()
        lines = [strip.text.rstrip() for strip in strips]
        while lines and not lines[-1]:
            lines.pop()
        return ScreenShown(lines=tuple(lines), svg=lambda: screen_svg(strips, COLUMNS))

    def _write(self, text: str) -> None:
        typed = len(text) <= _MOST_TYPED and text.isprintable() and text[:1] not in ("!", "?")
        if not typed:
            self._send(events.Paste(text))
            return
        for letter in text:
            self._send(events.Key(_key(letter), letter))

    def _send(self, event: events.Event) -> None:
        event.set_sender(self._app)
        self._app.post_message(event)


@asynccontextmanager
async def open_played_terminal(
    prepared: Prepared, open_session: OpenSession
) -> AsyncIterator[PlayedTerminal]:
    """Show a terminal of `COLUMNS` by `ROWS`, which opens its session at once.

    The caller leaves the session before it leaves the context.
    """
    # Otherwise a thread would import it, in real time.
    import_module(own_name("surfaces.terminal.session_view"))
    app = TerminalApp(prepared, open_session, recalls=False)
    app.animation_level = "none"
    async with app.run_test(size=(COLUMNS, ROWS)):
        yield PlayedTerminal(app)


def _key(letter: str) -> str:
    """Return Textual's name of the key that writes a letter."""
    if letter.isalnum():
        return letter
    return unicodedata.name(letter, letter).lower().replace(" ", "_").replace("-", "_")

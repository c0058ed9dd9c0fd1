"""`PlayedTerminal`: a terminal without a display, for programs that play its user.

Keys go in, screens come out. The terminal works in the running event loop. A program that wants to
see a settled screen calls `settle` whenever the loop is idle, until it returns False.
"""

from __future__ import annotations

import io
import unicodedata
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from rich.console import Console
from rich.segment import Segment, Segments
from textual import events
from textual.strip import Strip

from agent_protocol.agent import AgentProtocol
from runtimes.contract import Runtime
from services.bundle import Services
from services.clock import Clock
from services.environment import Environment
from services.ids import IdSource
from services.progress import ProgressFeed
from services.settings import Settings
from services.settings.telemetry import TelemetrySettings
from services.state import ApprovalMode
from services.workspace import Workspace
from surfaces.headless.machine import Machine
from surfaces.headless.metrics import SessionMetrics
from surfaces.headless.model import ModelSource
from surfaces.headless.options import HeadlessOptions, OutputFormat
from surfaces.headless.planning import Plan
from surfaces.terminal.answer_keys import OpenQuestion, Text, open_question
from surfaces.terminal.app import TerminalApp
from surfaces.terminal.composer import PromptInput
from surfaces.terminal.dialogs.dialog import DialogHost
from surfaces.terminal.live import LiveSession, OpenSession, Prepared
from surfaces.terminal.menu import SuggestionMenu

__all__ = [
    "COLUMNS",
    "ROWS",
    "LiveSession",
    "OpenQuestion",
    "OpenSession",
    "PlayedTerminal",
    "Prepared",
    "ScreenShown",
    "Text",
    "live_session",
    "open_played_terminal",
    "prepared_for",
]

COLUMNS: Final = 120
ROWS: Final = 40
_AUTH: Final = "gemini-api-key"
_MOST_TYPED: Final = 200
"""Letters that are typed one by one; a longer text is pasted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenShown:
    """A screen: its rows as text without blanks at their ends, and a function that draws it."""

    lines: tuple[str, ...]
    svg: Callable[[], str] = field(compare=False, repr=False)


def prepared_for(
    *,
    workspace: Workspace,
    environment: Environment,
    clock: Clock,
    ids: IdSource,
    session_id: str,
    settings: Settings,
    model: str,
    approval_mode: ApprovalMode,
) -> Prepared:
    """Return what the terminal needs to know of a session that its caller opens."""
    return Prepared(
        options=HeadlessOptions(),
        machine=Machine(clock=clock, ids=ids, environment=environment, workspace=workspace),
        plan=Plan(
            settings=settings,
            document={},
            output=OutputFormat.TEXT,
            model=model,
            approval_mode=approval_mode,
            selected_auth=_AUTH,
            enforced_auth=None,
            include_directories=(),
            folder_trusted=True,
            telemetry=TelemetrySettings(),
        ),
        source=ModelSource(auth_type=_AUTH),
        session_id=session_id,
    )


def live_session(
    prepared: Prepared,
    services: Services,
    runtime: Runtime,
    agent_made: Callable[[AgentProtocol], object],
) -> LiveSession:
    """Return an open session as the terminal shows it; `agent_made` gets each of its agents."""
    metrics = SessionMetrics()
    metrics.watch(services.bus)
    return LiveSession(
        prepared=prepared,
        services=services,
        runtime=runtime,
        progress=ProgressFeed(services),
        metrics=metrics,
        agent_made=agent_made,
    )


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
        title = self._app.TITLE or ""
        return ScreenShown(lines=tuple(lines), svg=lambda: _svg(strips, title))

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
    app = TerminalApp(prepared, open_session)
    app.animation_level = "none"
    async with app.run_test(size=(COLUMNS, ROWS)):
        yield PlayedTerminal(app)


def _key(letter: str) -> str:
    """Return Textual's name of the key that writes a letter."""
    if letter.isalnum():
        return letter
    return unicodedata.name(letter, letter).lower().replace(" ", "_").replace("-", "_")


def _svg(strips: list[Strip], title: str) -> str:
    """Draw a screen as `App.export_screenshot` does, which can only draw the present one."""
    console = Console(
        width=COLUMNS,
        height=ROWS,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        record=True,
        legacy_windows=False,
        safe_box=False,
    )
    line = Segment.line()
    console.print(Segments([part for strip in strips for part in (*strip, line)]), end="")
    return console.export_svg(title=title, unique_id="screen")

"""`run_terminal`: an interactive session from the command line to an exit code."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, TextIO

from services.model.errors import FatalError, FatalInputError
from services.settings.declaring import look_up
from surfaces.headless.machine import Machine
from surfaces.headless.options import HeadlessOptions
from surfaces.headless.streams import Streams
from surfaces.terminal.device import Device
from surfaces.terminal.inert import inert
from surfaces.terminal.prepared import Prepared, prepare
from surfaces.terminal.remembered import remember, remembered

if TYPE_CHECKING:
    from collections.abc import Callable

    from surfaces.headless.witness import SessionWitness
    from surfaces.terminal.app import TerminalApp

__all__ = ["run_terminal"]

_MISSING: Final = (
    "Error: The interactive terminal needs Textual, which is not installed; install it with "
    "`pip install 'parity[terminal]'`, or give a prompt with --prompt"
)
_INTERRUPTED: Final = 130
SCREEN_READER: Final = "ui.accessibility.screenReader"
_NUDGED: Final = "hasSeenScreenReaderNudge"


def run_terminal(
    options: HeadlessOptions,
    *,
    out: TextIO,
    err: TextIO,
    witness: Callable[[], SessionWitness] | None = None,
) -> int:
    """Hold an interactive session in the current folder; returns the exit code.

    `witness` makes what observes each session that opens; it is called in a thread.

    0 the user has left, or SIGTERM or SIGHUP ended the session; 1 the session failed; 42 unusable
    input, or Textual is missing; 52 unusable settings; 130 SIGINT ended the session.
    """
    streams = Streams(out, err)
    machine = Machine.here()
    try:
        if find_spec("textual") is None:
            raise FatalInputError(_MISSING)
        prepared = replace(prepare(options, machine, streams), witness=witness)
    except FatalError as error:
        streams.report(str(error))
        return error.exit_code
    app = _app(prepared, Device.of(machine.environment.variables))
    code = app.run(mouse=False)
    return _taken_leave(app, code, out, streams)


def _app(prepared: Prepared, device: Device) -> TerminalApp:
    """The screen that suits the terminal and the user."""
    from surfaces.terminal.app import TerminalApp

    if os.name != "posix":
        return TerminalApp(prepared, device=device)
    from surfaces.terminal.driver import TerminalDriver, terminal_output
    from surfaces.terminal.plain import NUDGE, PlainDriver

    asked = prepared.options.screen_reader
    if asked is None:
        asked = look_up(prepared.plan.document, SCREEN_READER)[1] is True
    if device.cursor and not asked:
        return TerminalApp(prepared, driver_class=TerminalDriver, device=device)
    output = terminal_output(lambda: app.terminal_lost())

    def write(text: str) -> None:
        output.write(text)
        output.flush()

    home = prepared.machine.workspace.home
    if asked and not remembered(home).get(_NUDGED):
        remember(home, _NUDGED, True)
        write(f"{NUDGE.format(file=home / '.gemini' / 'settings.json')}\n")
    app = TerminalApp(prepared, driver_class=PlainDriver, device=device, plain=write)
    return app


def _taken_leave(app: TerminalApp, code: int | None, out: TextIO, streams: Streams) -> int:
    """Say on the shell's screen how the session has ended; returns the exit code."""
    if code is None:  # The screen itself has failed; its session has been closed.
        failure = app.failure
        words = f"{type(failure).__name__}: {failure}" if failure else "for an unknown reason"
        streams.report(f"The terminal failed ({inert(words)}). The session is recorded.")
        return 1
    if out.isatty():  # It may be gone.
        out.write("".join(f"{inert(line)}\n" for line in app.farewell))
        out.flush()
        if app.ended_by is not None:
            streams.report(f"The session was ended by {app.ended_by}. It is recorded.")
    return _INTERRUPTED if app.ended_by == "SIGINT" else code

"""`run_terminal`: an interactive session from the command line to an exit code."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final, TextIO

from services.model.errors import FatalError, FatalInputError
from surfaces.headless.machine import Machine
from surfaces.headless.options import HeadlessOptions
from surfaces.headless.streams import Streams
from surfaces.terminal.prepared import prepare

__all__ = ["run_terminal"]

_MISSING: Final = (
    "Error: The interactive terminal needs Textual, which is not installed; install it with "
    "`pip install 'parity[terminal]'`, or give a prompt with --prompt"
)


def run_terminal(options: HeadlessOptions, *, out: TextIO, err: TextIO) -> int:
    """Hold an interactive session in the current folder; returns the exit code.

    0 the user has left; 1 the session failed; 41 no way to sign in; 42 unusable input, or Textual
    is missing; 52 unusable settings.
    """
    streams = Streams(out, err)
    machine = Machine.here()
    try:
        if find_spec("textual") is None:
            raise FatalInputError(_MISSING)
        prepared = prepare(options, machine, streams)
    except FatalError as error:
        streams.report(str(error))
        return error.exit_code
    from surfaces.terminal.app import TerminalApp

    code = TerminalApp(prepared).run(mouse=False)
    return code or 0

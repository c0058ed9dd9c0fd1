"""`ShellMode`: shell commands that the user runs from the input.

The model gets a command and its output with the user's next prompt.

Source: `packages/cli` `ui/hooks/useExecutionLifecycle.ts`.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Final

from agent_protocol.events import TextDisplay, ToolDisplay
from services.bundle import Services
from services.tools.shell_process import ShellStartError
from surfaces.commands.shell_runs import run_shell
from surfaces.terminal.call_words import CallShown
from surfaces.terminal.drawing import Drawing, OwnCall, Typed
from surfaces.terminal.notes import Notes

__all__ = ["ShellMode"]

_MOST_SENT: Final = 10_000
_SILENT: Final = "(Command produced no output)"


class ShellMode:
    """Runs commands without a policy: the user has written them."""

    def __init__(self, services: Services, drawing: Drawing, notes: Notes) -> None:
        self._services = services
        self._drawing = drawing
        self._notes = notes

    async def run(self, line: str) -> None:
        """Run `line` in the workspace's folder, and show its output. A cancellation ends it."""
        call = CallShown(
            name="shell",
            root=str(self._services.workspace.root),
            display=ToolDisplay(name="Shell Command", description=line),
            status="executing",
        )
        self._drawing.add(Typed(text=line, mark="shell"))
        self._drawing.add(OwnCall(call))
        try:
            call.status, output = await self._output(line, call)
        except asyncio.CancelledError:
            call.status, output = "cancelled", f"Command was cancelled.\n{call.output}".rstrip()
            raise
        finally:
            shown = call.display or ToolDisplay()
            call.display = replace(shown, result=TextDisplay(text=output))
            self._drawing.add(OwnCall(call))
            self._note(line, output)

    async def _output(self, line: str, call: CallShown) -> tuple[str, str]:
        """The state in which the command ends, and its output."""

        def shown(piece: str | int) -> None:
            if isinstance(piece, str):
                call.output += piece
                self._drawing.add(OwnCall(call))

        try:
            process = await run_shell(line, self._services, shown)
        except ShellStartError as error:
            return "error", f"An unexpected error occurred: {error}"
        text = process.text.strip() or _SILENT
        if process.ended_by is not None:
            return "error", f"Command terminated by signal: {process.ended_by}.\n{text}"
        if process.exit_code:
            return "error", f"Command exited with code {process.exit_code}.\n{text}"
        return "success", text

    def _note(self, line: str, output: str) -> None:
        kept = output[:_MOST_SENT]
        cut = "" if kept == output else "\n... (truncated)"
        self._notes.keep(
            f"The user ran a shell command:\n```sh\n{line}\n```\n\n"
            f"Its output:\n```\n{kept}{cut}\n```\n\n"
        )

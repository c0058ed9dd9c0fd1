"""`OwnCalls`: shows the tool calls that a command makes for the user (`commands.own_calls`).

The model gets the result with the next prompt.
"""

from __future__ import annotations

from collections.abc import Mapping

from services.bundle import Services
from services.presentation.display import populate_tool_display
from services.scheduler.calls import CallStatus
from services.tools.contract import ConfirmationDetails, ConfirmationOutcome, ToolResult
from services.wire import Json
from surfaces.allowed import Allowed
from surfaces.commands import call_tool
from surfaces.commands.own_calls import OwnCall
from surfaces.terminal.call_words import CallShown
from surfaces.terminal.dialogs.confirmation import confirmation_dialog
from surfaces.terminal.dialogs.dialog import DialogHost
from surfaces.terminal.drawing import Drawing
from surfaces.terminal.drawing import OwnCall as OwnCallDrawn
from surfaces.terminal.notes import Notes

__all__ = ["OwnCalls"]


class OwnCalls:
    """Shows calls, and keeps their results for the model."""

    def __init__(
        self, services: Services, host: DialogHost, drawing: Drawing, notes: Notes
    ) -> None:
        self._services = services
        self._host = host
        self._drawing = drawing
        self._notes = notes
        self._shown: dict[str, CallShown] = {}

    async def run(self, name: str, args: Mapping[str, Json]) -> None:
        """Call the tool `name`.

        Raises:
            CommandError: the call was refused, or failed.
        """
        self._notes.keep(await call_tool(name, args, self._services, self))

    async def allows(self, call: OwnCall, details: ConfirmationDetails) -> bool:
        """Whether the user allows the call."""
        shown = self._shown_as(call)
        dialog = confirmation_dialog(shown, details, Allowed(session=False), editable=False)
        return await self._host.ask(dialog) is not ConfirmationOutcome.CANCEL

    def changed(self, call: OwnCall, status: CallStatus, result: ToolResult | None) -> None:
        """Draw the call."""
        shown = self._shown_as(call)
        shown.status = str(status)
        if result is not None:
            shown.display = populate_tool_display(
                name=shown.name, display=shown.display, result_display=result.return_display
            )
        self._drawing.add(OwnCallDrawn(shown))

    def _shown_as(self, call: OwnCall) -> CallShown:
        found = self._shown.get(call.call_id)
        if found is None:
            root = str(self._services.workspace.root)
            found = self._shown[call.call_id] = CallShown(name=call.tool.name, root=root)
            found.display = populate_tool_display(
                name=call.tool.name,
                display_name=call.tool.display_name,
                invocation=call.invocation,
            )
        return found

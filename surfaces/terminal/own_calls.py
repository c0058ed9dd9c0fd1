"""`OwnCalls`: tool calls that a command makes for the user, as a skill's command does.

The policy decides about them as about the model's calls. The model gets the result with the next
prompt.

Source: `packages/cli` `ui/hooks/useGeminiStream.ts` (`isClientInitiated`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from services.abort import AbortController
from services.bundle import Services
from services.policy.rules import Decision
from services.presentation.display import populate_tool_display
from services.tools.contract import (
    ConfirmationOutcome,
    InvalidToolParams,
    Tool,
    ToolExecution,
    ToolInvocation,
    as_server_tool,
)
from services.wire import Json, js_json
from surfaces.commands import CommandError
from surfaces.terminal.call_words import CallShown
from surfaces.terminal.dialogs.confirmation import Allowed, confirmation_dialog
from surfaces.terminal.dialogs.dialog import DialogHost
from surfaces.terminal.drawing import Drawing, OwnCall
from surfaces.terminal.notes import Notes

__all__ = ["OwnCalls"]

_DECLINED: Final = "Operation cancelled."


class OwnCalls:
    """Makes calls, shows them, and keeps their results for the model."""

    def __init__(
        self, services: Services, host: DialogHost, drawing: Drawing, notes: Notes
    ) -> None:
        self._services = services
        self._host = host
        self._drawing = drawing
        self._notes = notes

    async def run(self, name: str, args: Mapping[str, Json]) -> None:
        """Call the tool `name`.

        Raises:
            CommandError: there is no such tool, it refuses the arguments, or it fails; or the
                policy or the user refuses the call.
        """
        tool = self._services.tools.get(name)
        if tool is None:
            raise CommandError(f"The tool {name} is not available in this session.")
        try:
            invocation = tool.build(dict(args))
        except InvalidToolParams as error:
            raise CommandError(f"The tool {name} refuses the arguments: {error}") from error
        call = CallShown(name=name, root=str(self._services.workspace.root))
        call.display = populate_tool_display(
            name=name, display_name=tool.display_name, invocation=invocation
        )
        await self._check(tool, invocation, call)
        await self._execute(invocation, call)

    async def _check(self, tool: Tool, invocation: ToolInvocation, call: CallShown) -> None:
        server = as_server_tool(tool)
        check = await self._services.policy.decide(
            tool.name,
            invocation.params,
            server_name=server.server_name if server else None,
            annotations=server.policy_annotations if server else None,
        )
        if check.decision is Decision.DENY:
            raise CommandError(f"The policy denies the tool {tool.name}.")
        details = invocation.confirmation_details()
        if check.decision is Decision.ALLOW or details is None:
            return
        dialog = confirmation_dialog(call, details, Allowed(session=False), editable=False)
        if await self._host.ask(dialog) is ConfirmationOutcome.CANCEL:
            raise CommandError(_DECLINED)

    async def _execute(self, invocation: ToolInvocation, call: CallShown) -> None:
        call.status = "executing"
        self._drawing.add(OwnCall(call))
        signal = AbortController().signal
        call_id = self._services.ids.uuid("call")
        try:
            result = await invocation.execute(ToolExecution(call_id=call_id, signal=signal))
        except BaseException:
            call.status = "cancelled"
            self._drawing.add(OwnCall(call))
            raise
        call.status = "error" if result.error else "success"
        call.display = populate_tool_display(
            name=call.name, display=call.display, result_display=result.return_display
        )
        self._drawing.add(OwnCall(call))
        if result.error is not None:
            raise CommandError(result.error.message)
        content = result.llm_content
        text = content if isinstance(content, str) else js_json(content)
        self._notes.keep(f"The user called the tool {call.name}. Its result:\n\n{text}\n\n")

"""`Execution`: a slash command that runs in a task, and asks its client what it has to ask.

Source: RFC "Gemini CLI A2A Development-Tool Extension", 3.3, "Method: `command/execute`".
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final, Protocol

from agent_protocol.content import ContentPart
from services.bundle import Services
from services.presentation.content import parts_to_content
from services.scheduler.calls import CallStatus
from services.tools.contract import ConfirmationDetails, ConfirmationOutcome, ToolResult
from services.wire import JsonObject
from surfaces.a2a.calls import Answer
from surfaces.a2a.extension.calls import STATUSES, output_of
from surfaces.a2a.extension.dialect import check_options
from surfaces.a2a.extension.questions import ALWAYS, CANCEL, ONCE, question_about
from surfaces.a2a.extension.schema import (
    CommandExecutionStatus,
    ConfirmationOption,
    ConfirmationRequest,
    ErrorDetails,
    ExecuteDetails,
    GenericDetails,
    ToolCall,
    ToolCallStatus,
    ToolOutput,
)
from surfaces.a2a.wire import invalid_params
from surfaces.allowed import Allowed
from surfaces.commands import (
    CallTool,
    CommandError,
    CommandLayer,
    ConfirmAction,
    ConfirmShellCommands,
    Item,
    ItemKind,
    LoadHistory,
    ParsedCommand,
    Result,
    SubmitPrompt,
    call_tool,
)
from surfaces.commands.own_calls import OwnCall

__all__ = ["CommandNews", "Execution"]

_SHELL: Final = "run_shell_command"
_SHELL_DECLINED: Final = "Slash command shell execution declined."
_DECLINED: Final = "Operation cancelled."


class CommandNews(Protocol):
    """Gets what happens to a command."""

    def command_said(self, text: str, *, error: str | None = None) -> None:
        """It has shown a text; `error` is the same where the command failed."""

    def command_called(self, data: JsonObject) -> None:
        """A call that it makes for the user has another status, or waits for the user."""

    def command_noted(self, text: str) -> None:
        """The model gets a text with the next prompt."""


class Execution:
    """One command.

    Args:
        layer: the commands of the session.
        parsed: the command.
        text: it and its arguments as a user writes them.
        services: those of the session.
        news: gets what happens.
        allowed: what the settings let the user allow beyond one call.
    """

    def __init__(
        self,
        layer: CommandLayer,
        parsed: ParsedCommand,
        text: str,
        services: Services,
        news: CommandNews,
        allowed: Allowed,
    ) -> None:
        self._layer = layer
        self._parsed = parsed
        self._text = text
        self._services = services
        self._news = news
        self._allowed = allowed
        self._asked: ToolCall | None = None
        self._answer: asyncio.Future[ConfirmationOutcome] | None = None
        self._declined = False
        self.status = CommandExecutionStatus.STARTED
        self.begun = asyncio.Event()
        """Set when the command has shown something, asks, or has ended."""
        self.error: str | None = None
        """Why the command failed, if it did."""

    @property
    def concurrent(self) -> bool:
        """Whether the command may run while the agent works."""
        return self._parsed.command.concurrent

    @property
    def waits_for(self) -> str | None:
        """The id of the call that waits for the user; `None`: the command goes on by itself."""
        return None if self._asked is None else self._asked.tool_call_id

    async def run(self) -> Sequence[ContentPart]:
        """Run the command; return what it sends to the model."""
        try:
            result = await self._layer.run_parsed(self._parsed, self._text, self._show)
            return await self._carry_out(result)
        except CommandError as error:
            kind = ItemKind.INFO if self._declined else ItemKind.ERROR
            self._show(Item(kind=kind, text=str(error)))
            return ()
        finally:
            self.begun.set()

    def check(self, answer: Answer) -> None:
        """Check that `answer` fits the call that waits.

        Raises:
            RpcError: it does not.
        """
        check_options(answer, None if self._asked is None else self._asked.confirmation_request)
        if answer.given or len(answer.options) > 1:
            raise invalid_params(
                f"The confirmation of {answer.call_id} takes one option, and no fileDetails"
            )

    def take(self, outcome: ConfirmationOutcome) -> None:
        """Go on with the user's answer to the call that waits."""
        if self._answer is not None and not self._answer.done():
            self._asked = None
            self._answer.set_result(outcome)

    async def consents(self, text: str) -> bool:
        """Ask the client whether the user agrees to `text`; the command goes on with the answer."""
        self.status = CommandExecutionStatus.AWAITING_ACTION_CONFIRMATION
        call = self._call_about(ConfirmAction(prompt=text))
        if await self._ask(call) is ConfirmationOutcome.CANCEL:
            return False
        self._report(call, ToolCallStatus.SUCCEEDED, output=ToolOutput(text=""))
        return True

    async def _carry_out(self, result: Result) -> Sequence[ContentPart]:
        match result:
            case SubmitPrompt():
                return parts_to_content(result.content)
            case ConfirmShellCommands() | ConfirmAction():
                return await self._confirm(result)
            case CallTool():
                if result.history is not None:
                    self._loaded(result.history)
                note = await call_tool(result.tool, result.args, self._services, self)
                self._news.command_noted(note)
                return parts_to_content(result.then)
            case Item():
                self._show(result)
            case LoadHistory():
                self._loaded(result)
            case _:
                pass  # The layer refuses dialogs, and the method `/quit`.
        return ()

    async def _confirm(self, asked: ConfirmShellCommands | ConfirmAction) -> Sequence[ContentPart]:
        shell = asked.commands if isinstance(asked, ConfirmShellCommands) else ()
        call = self._call_about(asked)
        self.status = (
            CommandExecutionStatus.AWAITING_SHELL_CONFIRMATION
            if shell
            else CommandExecutionStatus.AWAITING_ACTION_CONFIRMATION
        )
        outcome = await self._ask(call)
        if outcome is ConfirmationOutcome.CANCEL:
            raise CommandError(_SHELL_DECLINED if shell else _DECLINED)
        if outcome is ConfirmationOutcome.PROCEED_ALWAYS:
            self._layer.session.shell_allowlist.update(shell)
        self._report(call, ToolCallStatus.EXECUTING)
        again = await self._layer.run_parsed(
            self._parsed, self._text, self._show, confirmed=not shell, approved=shell
        )
        self._report(call, ToolCallStatus.SUCCEEDED, output=ToolOutput(text=""))
        return await self._carry_out(again)

    def _call_about(self, asked: ConfirmShellCommands | ConfirmAction) -> ToolCall:
        """The call that stands for a question of the command."""
        name, params = " ".join(self._parsed.path), {"args": self._parsed.args}
        if isinstance(asked, ConfirmAction):
            generic = GenericDetails(description=asked.prompt)
            request = ConfirmationRequest(options=(ONCE, CANCEL), generic_details=generic)
        else:
            command = "\n".join(asked.commands)
            name, params = _SHELL, {"command": command}
            always: tuple[ConfirmationOption, ...] = (ALWAYS,) if self._allowed.session else ()
            details = ExecuteDetails(command=command)
            request = ConfirmationRequest(options=(ONCE, *always, CANCEL), execute_details=details)
        return ToolCall(
            tool_call_id=self._services.ids.uuid("call"),
            status=ToolCallStatus.PENDING,
            tool_name=name,
            description=self._text,
            input_parameters=params,
            confirmation_request=request,
        )

    async def _ask(self, call: ToolCall) -> ConfirmationOutcome:
        self._answer = asyncio.get_running_loop().create_future()
        self._asked = call
        self.begun.set()
        self._news.command_called(call.on_wire())
        outcome = await self._answer
        if outcome is ConfirmationOutcome.CANCEL:
            self._declined = True
            self._report(call, ToolCallStatus.CANCELLED)
        return outcome

    def _report(self, call: ToolCall, status: ToolCallStatus, **result: Any) -> None:
        """Report the whole call, which does not wait for the user any more."""
        changes = {"status": status, "confirmation_request": None, **result}
        self._news.command_called(call.model_copy(update=changes).on_wire())

    # ------------------------------------------------------------------ calls of the command

    async def allows(self, call: OwnCall, details: ConfirmationDetails) -> bool:
        """Ask the client whether the call may run."""
        self.status = CommandExecutionStatus.AWAITING_ACTION_CONFIRMATION
        params = call.invocation.params
        request = question_about(details, params, Allowed(session=False))
        asked = _whole(call, ToolCallStatus.PENDING).model_copy(
            update={"confirmation_request": request}
        )
        return await self._ask(asked) is not ConfirmationOutcome.CANCEL

    def changed(self, call: OwnCall, status: CallStatus, result: ToolResult | None) -> None:
        """Report the call."""
        found: dict[str, Any] = {}
        if result is not None and result.error is not None:
            failure = result.error
            found["error"] = ErrorDetails(message=failure.message, type=str(failure.type))
        elif result is not None:
            found["output"] = output_of(result.return_display, None)
        self._report(_whole(call, STATUSES[status]), STATUSES[status], **found)

    # ------------------------------------------------------------------ what it shows

    def _loaded(self, history: LoadHistory) -> None:
        count = len(history.items)
        text = (
            f"The conversation has {count} messages now."
            if count
            else "The conversation is empty now."
        )
        self._show(Item(kind=ItemKind.INFO, text=text))

    def _show(self, item: Item) -> None:
        self.begun.set()
        failed = item.kind is ItemKind.ERROR
        if failed:
            self.error = item.text
        self._news.command_said(item.text, error=item.text if failed else None)


def _whole(call: OwnCall, status: ToolCallStatus) -> ToolCall:
    return ToolCall(
        tool_call_id=call.call_id,
        status=status,
        tool_name=call.tool.name,
        description=call.invocation.description(),
        input_parameters=call.invocation.params,
    )

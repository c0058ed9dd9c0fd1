"""Asks the user to confirm one call, until the answer settles it.

The question is a call in `awaiting_approval`; the answer is a `ToolConfirmationResponse` with the
question's correlation id. Source: core `scheduler/confirmation.ts`, and the confirmation half of
`tools/tools.ts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol, runtime_checkable

from services.abort import AbortError, AbortSignal, until_aborted
from services.clock import Clock
from services.exhaustion import limited
from services.ids import IdSource
from services.message_bus import (
    MessageBus,
    RequestTimeout,
    ToolConfirmationRequest,
    ToolConfirmationResponse,
)
from services.policy.engine import PolicyEngine
from services.scheduler.approvals import EDIT_TOOLS
from services.scheduler.call_hooks import CallHooks
from services.scheduler.calls import CallStatus, ToolCallRequest
from services.scheduler.states import Approval, CallStore, ToolCall
from services.state import ApprovalMode, CoreEvents, SessionState, UserFeedback
from services.tools.contract import (
    ConfirmationDetails,
    ConfirmationOutcome,
    DelegatedQuestion,
    PolicyDecides,
    PreparedInvocation,
    ServerInvocation,
    ServerTool,
    Tool,
    ToolInvocation,
)
from services.wire import JsonObject

__all__ = ["Confirmation", "Confirmer", "ModifiableTool", "SaveCheckpoint"]

MOST_LOOKS: Final = 100
"""How often one question is asked while the user opens it in the editor again."""
_DECISION_TIMEOUT_MS: Final = 30_000
_SHELL: Final = "run_shell_command"
_NO_EDITOR: Final = "No external editor is available. Please run /editor to configure one."


SaveCheckpoint = Callable[[ToolCallRequest], Awaitable[object]]
"""Saves a checkpoint before an edit; it never raises."""


class ConfirmationError(Exception):
    """A confirmation that failed; the model receives the message."""


@runtime_checkable
class ModifiableTool(Protocol):
    """A tool whose proposed file content the user may replace while confirming it."""

    def current_content(self, params: JsonObject) -> str:
        """The text of the file that `params` name; empty where there is no file."""

    def modified_params(self, params: JsonObject, current: str, content: str) -> JsonObject:
        """The arguments that replace `current` by `content` instead of what `params` propose."""


@runtime_checkable
class AnsweredInvocation(Protocol):
    """A call that uses the answer itself."""

    def answered(self, outcome: ConfirmationOutcome, payload: Mapping[str, Any] | None) -> None:
        """Take the user's answer, a refusal included."""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The outcome, and the details that the user saw last; `None` without a question."""

    outcome: ConfirmationOutcome
    details: ConfirmationDetails | None


class Confirmer:
    """Runs the confirmation loop for calls of one store."""

    def __init__(
        self,
        *,
        store: CallStore,
        bus: MessageBus,
        policy: PolicyEngine,
        state: SessionState,
        events: CoreEvents,
        clock: Clock,
        ids: IdSource,
        hooks: CallHooks,
        waiting: Callable[[bool], None] | None,
        checkpoint: SaveCheckpoint | None = None,
    ) -> None:
        self._store = store
        self._bus = bus
        self._policy = policy
        self._state = state
        self._events = events
        self._clock = clock
        self._ids = ids
        self._hooks = hooks
        self._waiting = waiting
        self._checkpoint = checkpoint

    async def confirm(
        self,
        call_id: str,
        tool: Tool,
        signal: AbortSignal,
        *,
        forced: bool = False,
        system_message: str | None = None,
    ) -> Confirmation:
        """Ask about the active call `call_id` until the answer settles it.

        Args:
            call_id: The call.
            tool: Its tool.
            signal: Ends the question.
            forced: A hook asks for the confirmation. Mode and policy are not consulted again,
                unless the call delegates its question to another one, or leaves it to the policy.
            system_message: A hook's message, shown with the question.

        Raises:
            ConfirmationError: the signal was aborted, the call is gone, or the policy refuses it.
            AbortError: the signal was aborted while the user was asked.
        """
        shown: ConfirmationDetails | None = None
        for _ in range(MOST_LOOKS):
            if signal.aborted:
                raise ConfirmationError("Operation cancelled by user")
            call = self._store.get(call_id)
            if call is None or call.invocation is None:
                raise ConfirmationError(f"Tool call {call_id} lost during confirmation loop")
            details = (
                await _question(call.invocation)
                if forced and not isinstance(call.invocation, DelegatedQuestion | PolicyDecides)
                else await self._details(tool, call.invocation, signal)
            )
            if details is None:
                return Confirmation(ConfirmationOutcome.PROCEED_ONCE, shown)
            if system_message:
                fields = {**details.fields, "systemMessage": system_message}
                details = replace(details, fields=fields)
            await self._hooks.asking(details, signal)
            if shown is None and self._checkpoint is not None and tool.name in EDIT_TOOLS:
                await self._checkpoint(call.request)
            shown = details
            answer = await self._answer(call_id, details, signal)
            outcome = _outcome(answer)
            if isinstance(call.invocation, ServerInvocation):
                call.invocation.note_outcome(outcome)
            if isinstance(call.invocation, AnsweredInvocation):
                call.invocation.answered(outcome, answer.payload)
            if outcome is ConfirmationOutcome.MODIFY_WITH_EDITOR:
                self._events.emit(UserFeedback(severity="error", message=_NO_EDITOR))
                continue
            if answer.payload is not None and "newContent" in answer.payload:
                self._replace_content(call, tool, details, answer.payload)
                outcome = ConfirmationOutcome.PROCEED_ONCE
            return Confirmation(outcome, shown)
        unsettled = f"The question was put {MOST_LOOKS} times without a decision"
        raise limited(ConfirmationError(unsettled))

    async def _details(
        self, tool: Tool, invocation: ToolInvocation, signal: AbortSignal
    ) -> ConfirmationDetails | None:
        """The question of the invocation, unless mode and policy now allow the call."""
        if (
            invocation.respects_auto_edit
            and self._state.approval_mode is ApprovalMode.AUTO_EDIT
            and not self._policy.targets_build_file(invocation.params)
        ):
            return None
        if isinstance(invocation, PolicyDecides) and not invocation.needs_decision():
            return None
        if tool.name == _SHELL:
            # The core waits for its shell parser: calls of other tools ask their questions first.
            await asyncio.sleep(0)
        of_server = invocation if isinstance(invocation, ServerInvocation) else None
        name, args, shown = tool.name, invocation.params, tool.display_name or tool.name
        if isinstance(invocation, DelegatedQuestion):
            name, args = invocation.asked_name, invocation.asked_args
            shown = invocation.asked_shown_name
        request = ToolConfirmationRequest(
            tool_name=of_server.policy_name if of_server else name,
            args=args,
            correlation_id=self._ids.uuid("policy-request"),
            server_name=of_server.policy_server if of_server else None,
            annotations=tool.annotations if isinstance(tool, ServerTool) else None,
        )
        try:
            response = await self._bus.request(
                request, clock=self._clock, signal=signal, timeout_ms=_DECISION_TIMEOUT_MS
            )
        except RequestTimeout:
            return await _question(invocation)
        except AbortError:
            raise _refusal(shown) from None
        if response.requires_user_confirmation:
            return await _question(invocation)
        if not response.confirmed:
            raise _refusal(shown)
        return None

    async def _answer(
        self, call_id: str, details: ConfirmationDetails, signal: AbortSignal
    ) -> ToolConfirmationResponse:
        """Show the question and wait for its answer, without a time limit.

        Raises:
            AbortError: the signal was aborted.
        """
        correlation_id = self._ids.uuid("confirmation")
        answer: asyncio.Future[ToolConfirmationResponse]
        answer = asyncio.get_running_loop().create_future()

        def receive(response: ToolConfirmationResponse) -> None:
            if response.correlation_id == correlation_id and not answer.done():
                answer.set_result(response)

        # Before the question is published: a subscriber may answer at once.
        off = self._bus.subscribe(ToolConfirmationResponse, receive)
        try:
            self._store.transition(
                call_id, CallStatus.AWAITING_APPROVAL, Approval(details, correlation_id)
            )
            self._report_waiting(True)
            response = await until_aborted(_settled(answer), signal)
            self._report_waiting(False)
            return response
        finally:
            off()

    def _report_waiting(self, waits: bool) -> None:
        if self._waiting is not None:
            self._waiting(waits)

    def _replace_content(
        self,
        call: ToolCall,
        tool: Tool,
        details: ConfirmationDetails,
        payload: Mapping[str, Any],
    ) -> None:
        if details.type != "edit" or not isinstance(tool, ModifiableTool):
            return
        proposed = call.request.args
        args = tool.modified_params(proposed, tool.current_content(proposed), payload["newContent"])
        self._store.set_arguments(call.call_id, args, tool.build(args))


async def _question(invocation: ToolInvocation) -> ConfirmationDetails | None:
    """The question of the call; `None` if it needs none."""
    if isinstance(invocation, PreparedInvocation):
        await invocation.prepare()
    return invocation.confirmation_details()


def _refusal(shown: str) -> ConfirmationError:
    return ConfirmationError(f'Tool execution for "{shown}" denied by policy.')


async def _settled(
    answer: asyncio.Future[ToolConfirmationResponse],
) -> ToolConfirmationResponse:
    return await answer


def _outcome(answer: ToolConfirmationResponse) -> ConfirmationOutcome:
    if answer.outcome is not None:
        return answer.outcome
    return ConfirmationOutcome.PROCEED_ONCE if answer.confirmed else ConfirmationOutcome.CANCEL

"""Turns a request into a call that may run: resolves, builds, checks and confirms it.

Source: core `scheduler/scheduler.ts` (`_startBatch`, `_processToolCall`), `scheduler/policy.ts`,
`utils/tool-utils.ts` (`getToolSuggestion`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from agent_protocol.events import ToolDisplay
from services.abort import AbortError, AbortSignal
from services.clock import Clock
from services.edit_distance import nearest_names
from services.exhaustion import notice
from services.hooks.tool_hooks import CallVerdict
from services.message_bus import MessageBus
from services.policy.engine import PolicyCheck, PolicyEngine
from services.policy.rules import Decision
from services.scheduler.approvals import remember_answer
from services.scheduler.call_hooks import CallHooks
from services.scheduler.calls import CallStatus, ToolCallRequest
from services.scheduler.confirmation import Confirmation, Confirmer
from services.scheduler.responses import error_response
from services.scheduler.states import CallStore, ToolCall
from services.scheduler.style import BatchStyle
from services.settings import Settings
from services.state import ApprovalMode, SessionState
from services.tools.contract import ConfirmationOutcome, ServerTool, Tool, ToolErrorType

__all__ = ["Registry", "Resolver", "Validator"]


class Registry(Protocol):
    """The tools that can be called."""

    def get(self, name: str) -> Tool | None:
        """The active tool of this name (or legacy name)."""

    def all_names(self) -> list[str]:
        """The names of all active tools, in order of registration."""


class Resolver:
    """Turns requests into calls in `validating` or `error`."""

    def __init__(
        self, registry: Registry, clock: Clock, scheduler_id: str, style: BatchStyle
    ) -> None:
        self._registry = registry
        self._style = style
        self._clock = clock
        self._scheduler_id = scheduler_id

    def resolve(self, request: ToolCallRequest, mode: ApprovalMode) -> ToolCall:
        """Find the tool and build the invocation."""
        tool = request.tool or self._registry.get(request.name)

        def failed(message: str, error_type: ToolErrorType) -> ToolCall:
            return ToolCall(
                request=request,
                status=CallStatus.ERROR,
                scheduler_id=self._scheduler_id,
                approval_mode=mode,
                tool=tool,
                response=error_response(request, message, error_type),
                duration_ms=0,
            )

        if tool is None:
            suggestion = nearest_names(request.name, self._registry.all_names())
            message = self._style.not_found(request.name, suggestion)
            return failed(message, ToolErrorType.TOOL_NOT_REGISTERED)
        shown = request
        try:
            invocation = tool.build(request.args)
            if request.display is None:
                display = ToolDisplay(
                    name=tool.display_name or tool.name,
                    description=invocation.description() or tool.description,
                )
                shown = replace(request, display=display)
        except Exception as error:  # noqa: BLE001 - a tool may raise anything about its arguments
            notice(error)
            return failed(str(error), ToolErrorType.INVALID_TOOL_PARAMS)
        return ToolCall(
            request=shown,
            status=CallStatus.VALIDATING,
            scheduler_id=self._scheduler_id,
            approval_mode=mode,
            tool=tool,
            invocation=invocation,
            started_ms=self._clock.now_ms(),
        )


class NeedsConfirmation(Exception):
    """A call needs a confirmation in a run without a user."""


class Validator:
    """Moves an active call from `validating` to `scheduled`, or to its end."""

    def __init__(
        self,
        *,
        store: CallStore,
        policy: PolicyEngine,
        confirmer: Confirmer,
        state: SessionState,
        bus: MessageBus,
        settings: Settings,
        hooks: CallHooks,
        subagent: str | None,
        style: BatchStyle,
    ) -> None:
        self._store = store
        self._style = style
        self._policy = policy
        self._confirmer = confirmer
        self._state = state
        self._bus = bus
        self._workspace_policies = (
            settings.folder_trusted and settings.workspace_policies_dir is not None
        )
        self._hooks = hooks
        self._subagent = subagent

    async def validate(self, call: ToolCall, signal: AbortSignal, prompts: AbortSignal) -> None:
        """Check the policy, and ask the user if necessary. An exception ends the call.

        `prompts` ends open questions: it is aborted with `signal` and by `cancel_all`.
        """
        try:
            await self._validate(call, prompts)
        except Exception as error:  # noqa: BLE001 - any failure here belongs to this one call
            notice(error)
            if signal.aborted or isinstance(error, AbortError):
                self._store.transition(call.call_id, CallStatus.CANCELLED, "Operation cancelled")
                return
            self._fail(call, str(error), ToolErrorType.UNHANDLED_EXCEPTION)

    async def _validate(self, call: ToolCall, prompts: AbortSignal) -> None:
        # After an abort no question is asked and no tool runs, so that is not checked here.
        verdict = await self._hooks.before(call, prompts)
        if verdict.error is not None:
            self._fail(call, verdict.error.message, verdict.error.type)
            return
        if verdict.args is not None and verdict.invocation is not None:
            call = self._store.take_hook_arguments(call, verdict.args, verdict.invocation)
        await self._decide(call, verdict, prompts)

    async def _decide(self, call: ToolCall, verdict: CallVerdict, prompts: AbortSignal) -> None:
        """Ask the policy, and the user where the policy or a hook demands it."""
        if call.tool is None or call.invocation is None:
            raise ValueError(f"Tool call {call.call_id} has no tool")
        check = await self._check(call, call.tool)
        if check.decision is Decision.DENY and not verdict.asks:
            message = self._style.denied(call.tool, check.deny_message)
            self._fail(call, message, ToolErrorType.POLICY_VIOLATION)
            return
        asked = verdict.asks or check.decision is Decision.ASK_USER
        result = Confirmation(ConfirmationOutcome.PROCEED_ONCE, None)
        if asked:
            result = await self._confirmer.confirm(
                call.call_id,
                call.tool,
                prompts,
                forced=verdict.asks,
                system_message=verdict.system_message,
            )
        self._store.set_outcome(call.call_id, result.outcome)
        if asked and result.details is not None:
            remember_answer(
                tool=call.tool,
                invocation=call.invocation,
                outcome=result.outcome,
                details=result.details,
                state=self._state,
                bus=self._bus,
                workspace_policies=self._workspace_policies,
            )
        if result.outcome is ConfirmationOutcome.CANCEL:
            refused = self._style.refused(call.request)
            self._store.transition(call.call_id, CallStatus.CANCELLED, refused)
            if self._style.refusal_ends_batch:
                self._store.cancel_queued("User cancelled operation")
            return
        self._store.transition(call.call_id, CallStatus.SCHEDULED)

    async def _check(self, call: ToolCall, tool: Tool) -> PolicyCheck:
        """The policy's decision; a call that the client itself requested counts as confirmed."""
        request = call.request
        server = tool if isinstance(tool, ServerTool) else None
        check = await self._policy.decide(
            request.name,
            request.args,
            server_name=server.server_name if server else None,
            annotations=server.annotations if server else None,
            subagent=self._subagent,
        )
        if check.decision is not Decision.ASK_USER:
            return check
        if request.is_client_initiated and not request.args.get("additional_permissions"):
            return replace(check, decision=Decision.ALLOW)
        if not self._state.interactive:
            raise NeedsConfirmation(
                f'Tool execution for "{tool.display_name or tool.name}" requires user '
                "confirmation, which is not supported in non-interactive mode."
            )
        return check

    def _fail(self, call: ToolCall, message: str, error_type: ToolErrorType) -> None:
        response = error_response(call.request, message, error_type)
        self._store.transition(call.call_id, CallStatus.ERROR, response)

"""`CallReports`: the tool calls of a session become updates and permission requests.

Source: `packages/cli` `acp/acpSession.ts` (`runTool`). The published program runs the tools itself;
here the scheduler does, and this module reports what it publishes.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from services.bundle import Services
from services.message_bus import ToolCallsUpdate, ToolConfirmationResponse
from services.scheduler.calls import CallStatus
from services.scheduler.states import ToolCall
from services.tools.contract import ConfirmationDetails, ConfirmationOutcome
from services.wire import Json
from surfaces.acp.call_updates import (
    asked_call,
    call_shown,
    content_of,
    explained,
    failed_update,
    plan_of,
    text_content,
)
from surfaces.acp.client import Client
from surfaces.acp.outbox import Outbox
from surfaces.acp.permissions import PermissionFailed, ask, options_for
from surfaces.allowed import Allowed

__all__ = ["CallReports"]

_OUTPUT_EVERY_MS: Final = 1000
"""The interval of live output. A command that ends before has none."""


@dataclass(slots=True)
class _Reported:
    """What the client knows of one call."""

    question: str | None = None
    asking: asyncio.Task[None] | None = None
    started: bool = False
    ended: bool = False
    failed: bool = False
    output: Json = None
    output_at_ms: int = 0


class CallReports:
    """Reports calls from `watch` on. The task group runs the open questions."""

    def __init__(self, services: Services, client: Client, outbox: Outbox, always: Allowed) -> None:
        self._services = services
        self._client = client
        self._outbox = outbox
        self._always = always
        self._calls: dict[str, _Reported] = {}
        self._group: asyncio.TaskGroup | None = None

    def watch(self, group: asyncio.TaskGroup) -> None:
        """Report every change of a call, until the session ends."""
        self._group = group
        self._services.bus.subscribe(ToolCallsUpdate, self._on_update)

    def forget(self) -> None:
        """Forget the calls of a prompt that has ended; withdraw what is still asked."""
        for known in self._calls.values():
            _withdraw(known)
        self._calls.clear()

    def _on_update(self, update: ToolCallsUpdate) -> None:
        waits = False
        for call in update.calls:
            if not isinstance(call, ToolCall) or (waits and call.status.terminal):
                # A call may have failed before its turn: the client reads the calls in order.
                continue
            waits = waits or not call.status.terminal
            self._on_call(call, self._calls.setdefault(call.call_id, _Reported()))

    def _on_call(self, call: ToolCall, known: _Reported) -> None:
        if known.ended:
            return
        if call.status is not CallStatus.AWAITING_APPROVAL:
            _withdraw(known)
        match call.status:
            case CallStatus.AWAITING_APPROVAL if call.correlation_id != known.question:
                self._ask(call, known)
            case CallStatus.EXECUTING if not known.started:
                self._start(call, known)
            case CallStatus.EXECUTING:
                self._show_output(call, known)
            case CallStatus.SUCCESS | CallStatus.ERROR | CallStatus.CANCELLED:
                known.ended = True
                self._end(call, known)
            case _:
                pass

    def _start(self, call: ToolCall, known: _Reported) -> None:
        known.started = True
        known.output_at_ms = self._services.clock.now_ms()
        if known.question is None:
            update = {**call_shown(call), "status": "in_progress", "content": explained(call)}
            self._outbox.add({"sessionUpdate": "tool_call", **update})

    def _show_output(self, call: ToolCall, known: _Reported) -> None:
        output, now_ms = call.live_output, self._services.clock.now_ms()
        fresh = isinstance(output, str) and output and output != known.output
        if not fresh or now_ms - known.output_at_ms < _OUTPUT_EVERY_MS:
            return
        known.output, known.output_at_ms = output, now_ms
        self._outbox.add(
            {
                "sessionUpdate": "tool_call_update",
                "toolCallId": call.call_id,
                "status": "in_progress",
                "content": [text_content(str(output))],
            }
        )

    def _end(self, call: ToolCall, known: _Reported) -> None:
        response = call.response
        if response is None or call.tool is None or known.failed:
            return
        if call.status is CallStatus.ERROR:
            message = response.error or "The call failed."
            self._outbox.add(failed_update(call.call_id, call.tool, message))
            return
        if not known.started:
            return  # The user refused it, or it was cancelled before.
        plan = plan_of(response.result_display)
        if plan is not None:
            self._outbox.add(plan)
        if call.status is CallStatus.CANCELLED and not response.result_display:
            self._outbox.add(failed_update(call.call_id, call.tool, "The call was cancelled."))
            return
        content = content_of(response.result_display)
        update = {**call_shown(call), "status": "completed", "content": content}
        self._outbox.add({"sessionUpdate": "tool_call_update", **update})

    def _ask(self, call: ToolCall, known: _Reported) -> None:
        assert self._group is not None
        assert call.confirmation_details is not None
        _withdraw(known)
        known.question = call.correlation_id
        known.asking = self._group.create_task(
            self._answer(call, call.confirmation_details, known), name=f"ask about {call.call_id}"
        )

    async def _answer(self, call: ToolCall, details: ConfirmationDetails, known: _Reported) -> None:
        await self._outbox.sent()
        request = {
            "sessionId": self._outbox.session_id,
            "options": options_for(details.type, self._always),
            "toolCall": asked_call(call, details),
        }
        try:
            outcome = await ask(self._client, request)
        except PermissionFailed as error:
            known.failed = True
            self._outbox.add(failed_update(call.call_id, call.tool, str(error)))
            outcome = ConfirmationOutcome.CANCEL
        known.asking = None
        self._services.bus.publish(
            ToolConfirmationResponse(
                correlation_id=str(call.correlation_id),
                confirmed=outcome is not ConfirmationOutcome.CANCEL,
                outcome=outcome,
            )
        )


def _withdraw(known: _Reported) -> None:
    task, known.asking = known.asking, None
    if task is not None:
        task.cancel()

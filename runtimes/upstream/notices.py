"""Connects the core's notices with the session's own services.

Tool states and questions go to the message bus; retries and changes of model and mode go to the
core events. Observers so see a session of the core as they see one of ours.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass

from runtimes.upstream.connection import Connection
from services.abort import AbortController, AbortError, AbortSignal
from services.background import BackgroundTasks
from services.bundle import Services
from services.clock import sleep_until_or_abort
from services.message_bus import ToolCallsUpdate, ToolConfirmationResponse
from services.state import (
    AgentsDiscovered,
    AgentsRefreshed,
    ApprovalMode,
    ApprovalModeChanged,
    CoreEvent,
    HintsKept,
    HookMessage,
    Logged,
    ModelChanged,
    QuotaErrorOccurred,
    RetryAttempt,
    SessionUpdated,
    UserFeedback,
)
from services.threads import ThreadPaths, within_call
from services.tools.contract import CallProgress, ConfirmationDetails
from services.wire import Json, JsonObject

__all__ = ["Notices"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """A tool call of the core as an observer sees it."""

    call_id: str
    name: str
    status: str
    parent_call_id: str | None
    confirmation_details: ConfirmationDetails | None
    correlation_id: str | None
    live_output: Json | None
    process_id: int | None
    progress: CallProgress | None


class Notices:
    """Connects one session's driver with its services, both ways, until `close`."""

    def __init__(
        self,
        connection: Connection,
        services: Services,
        threads: ThreadPaths,
        tasks: BackgroundTasks,
    ) -> None:
        self._connection = connection
        self._services = services
        self._threads = threads
        self._tasks = tasks
        self._timers: dict[int, AbortController] = {}
        self._from_driver = False
        self._until_close = ExitStack()
        connection.handlers.update(
            calls=self._on_calls,
            notice=self._on_notice,
            timer=self._on_timer,
            untimer=self._on_untimer,
        )
        self._until_close.callback(
            services.bus.subscribe(ToolConfirmationResponse, self._confirmed)
        )
        self._until_close.callback(services.events.subscribe(self._changed_here))

    def close(self) -> None:
        """Stop listening to the services."""
        self._until_close.close()

    def _on_calls(self, message: JsonObject) -> None:
        for call in message["calls"]:
            self._threads.call(call["callId"], call["name"], call["parentCallId"])
        self._services.bus.publish(
            ToolCallsUpdate(
                calls=[_shown(call) for call in message["calls"]],
                scheduler_id=message["scheduler"],
            )
        )

    def _confirmed(self, answer: ToolConfirmationResponse) -> None:
        self._connection.order(
            "confirm",
            correlationId=answer.correlation_id,
            confirmed=answer.confirmed,
            outcome=None if answer.outcome is None else str(answer.outcome),
            payload=None if answer.payload is None else dict(answer.payload),
        )

    def _on_notice(self, message: JsonObject) -> None:
        payload = message.get("payload") or {}
        convert: dict[str, Callable[[JsonObject], CoreEvent | None]] = {
            "RetryAttempt": _retry,
            "ModelChanged": self._model_changed,
            "ApprovalModeChanged": self._mode_changed,
            "UserFeedback": _feedback,
            "HintsKept": lambda kept: HintsKept(texts=tuple(kept["texts"])),
        }
        with _inside(message):
            event = convert[message["name"]](payload)
            if event is not None:
                self._emit(event)

    def _emit(self, event: CoreEvent) -> None:
        self._from_driver = True
        try:
            self._services.events.emit(event)
        finally:
            self._from_driver = False

    def _model_changed(self, payload: JsonObject) -> None:
        """Follow the core, whose change is one of the configured and of the active model."""
        self._from_driver = True
        try:
            # It emits the event, unless this is the echo of our own change.
            self._services.state.set_model(str(payload["model"]))
        finally:
            self._from_driver = False

    def _mode_changed(self, payload: JsonObject) -> CoreEvent | None:
        mode = ApprovalMode(payload["mode"])
        if mode is not self._services.state.approval_mode:
            self._from_driver = True
            try:
                self._services.state.set_approval_mode(mode)  # emits the event
            finally:
                self._from_driver = False
        return None

    def _changed_here(self, event: CoreEvent) -> None:
        if self._from_driver:
            return
        match event:
            case ModelChanged(model=model):
                self._connection.order("setModel", model=model)
            case ApprovalModeChanged(mode=mode):
                self._connection.order("setApprovalMode", mode=str(mode))
            case QuotaErrorOccurred():
                self._connection.order("setQuotaError")
            case (
                RetryAttempt()
                | UserFeedback()
                | AgentsDiscovered()
                | AgentsRefreshed()
                | SessionUpdated()
                | HintsKept()
                | HookMessage()
                | Logged()
            ):
                pass  # The core has no use for these.

    def _on_timer(self, message: JsonObject) -> None:
        id_: int = message["id"]
        stop = self._timers[id_] = AbortController()
        due_ms = self._services.clock.now_ms() + float(message["ms"])
        self._tasks.start(self._fire(id_, due_ms, stop.signal), name="upstream wait")

    async def _fire(self, id_: int, due_ms: float, signal: AbortSignal) -> None:
        # Counted from the driver's message: a request that came with it takes a millisecond.
        try:
            await sleep_until_or_abort(self._services.clock, due_ms, signal)
        except AbortError:
            return
        self._timers.pop(id_, None)
        self._connection.send({"t": "fire", "timer": id_})

    def _on_untimer(self, message: JsonObject) -> None:
        timer = self._timers.pop(message["id"], None)
        if timer is not None:
            timer.abort()


def _inside(message: JsonObject) -> AbstractContextManager[None]:
    """Handle the message within the execution of the call that it names, if it names one."""
    call = message.get("insideCall")
    return nullcontext() if call is None else within_call(call)


def _shown(call: JsonObject) -> _Call:
    """The message has the values of the call's state alone."""
    asked, reported = call.get("confirmation"), call.get("progress")
    return _Call(
        call_id=call["callId"],
        name=call["name"],
        status=call["status"],
        parent_call_id=call["parentCallId"],
        correlation_id=call["correlationId"],
        confirmation_details=None if asked is None else _question(asked),
        live_output=call.get("liveOutput"),
        process_id=call.get("pid"),
        progress=None if reported is None else CallProgress(**reported),
    )


def _question(asked: JsonObject) -> ConfirmationDetails:
    fields = {key: value for key, value in asked.items() if key not in ("type", "title")}
    return ConfirmationDetails(
        type=str(asked.get("type")), title=str(asked.get("title")), fields=fields
    )


def _retry(payload: JsonObject) -> CoreEvent:
    return RetryAttempt(
        attempt=payload["attempt"],
        max_attempts=payload["maxAttempts"],
        delay_ms=payload["delayMs"],
        error=str(payload.get("error")),
        model=str(payload.get("model")),
    )


def _feedback(payload: JsonObject) -> CoreEvent:
    return UserFeedback(severity=str(payload["severity"]), message=str(payload["message"]))

"""The message bus: how the scheduler, the tools and the user's surface reach each other.

Messages are values of the types below; a handler subscribes to one type. Delivery is immediate and
in order of subscription. Publishing never raises: the error of a handler is logged, and
the other handlers still receive the message. The policy engine answers confirmation
requests and takes policy updates before any subscriber. Source: core `confirmation-bus/`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar, cast

from services.abort import AbortSignal, until_aborted
from services.clock import Clock
from services.policy.engine import PolicyEngine
from services.policy.rules import Decision
from services.policy.updates import UpdatePolicy
from services.tools.contract import CallProgress, ConfirmationDetails, ConfirmationOutcome
from services.wire import Json, JsonObject

__all__ = [
    "Announcement",
    "BusMessage",
    "MessageBus",
    "RequestTimeout",
    "SubagentActivityUpdate",
    "ToolCallView",
    "ToolCallsUpdate",
    "ToolConfirmationRequest",
    "ToolConfirmationResponse",
    "ToolPolicyRejection",
    "UpdatePolicy",
]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolConfirmationRequest:
    """A question whether a call may run. Subscribers get it only if the policy decides to ask.

    `forced_decision` replaces the policy's, except on a derived bus.
    """

    tool_name: str
    args: JsonObject
    correlation_id: str
    server_name: str | None = None
    annotations: Mapping[str, Any] | None = None
    subagent: str | None = None
    details: ConfirmationDetails | None = None
    forced_decision: Decision | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolConfirmationResponse:
    """The answer to a request or to a question of a `ToolCallsUpdate`.

    `outcome` is more precise than `confirmed`; `payload` holds `{newContent}` and the like.
    """

    correlation_id: str
    confirmed: bool
    outcome: ConfirmationOutcome | None = None
    payload: Mapping[str, Any] | None = None
    requires_user_confirmation: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPolicyRejection:
    """The policy refused a confirmation request."""

    tool_name: str
    args: JsonObject


class ToolCallView(Protocol):
    """A call as observers see it; the scheduler's own records have more."""

    @property
    def call_id(self) -> str:
        """The call's id."""
        ...

    @property
    def name(self) -> str:
        """The tool's name, as asked for."""
        ...

    @property
    def status(self) -> str:
        """`validating`, `scheduled`, `executing`, `awaiting_approval`, `success`, …"""
        ...

    @property
    def parent_call_id(self) -> str | None:
        """The call in whose execution this one is made, for a child's calls."""
        ...

    @property
    def confirmation_details(self) -> ConfirmationDetails | None:
        """The question, while the call awaits approval."""
        ...

    @property
    def correlation_id(self) -> str | None:
        """The id that an answer must carry; each question has a new one."""
        ...

    @property
    def live_output(self) -> Json | None:
        """The whole output so far, while the call executes."""
        ...

    @property
    def process_id(self) -> int | None:
        """The process that the call runs, while it executes."""
        ...

    @property
    def progress(self) -> CallProgress | None:
        """The progress that a server reported, while the call executes."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallsUpdate:
    """Every call of one scheduler, after every change: finished, active, waiting, in that order."""

    calls: Sequence[ToolCallView]
    scheduler_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SubagentActivityUpdate:
    """A subagent did something: one item of its list, new or changed."""

    subagent: str
    """Its name for the user."""
    activity: JsonObject
    """`{id, type, content, displayName?, description?, args?, status}`."""


Announcement = (
    ToolConfirmationResponse
    | ToolPolicyRejection
    | ToolCallsUpdate
    | SubagentActivityUpdate
    | UpdatePolicy
)
BusMessage = ToolConfirmationRequest | Announcement
M = TypeVar("M", bound=BusMessage)
_Handler = Callable[[Any], None]


class RequestTimeout(Exception):
    """A request had no answer in time."""


class MessageBus:
    """One session's bus. `derive` makes the bus of a subagent."""

    def __init__(self, policy: PolicyEngine) -> None:
        self._policy = policy
        self._handlers: dict[type[Any], list[_Handler]] = {}
        self._subagent: str | None = None
        self._parent: MessageBus | None = None

    def derive(self, subagent: str) -> MessageBus:
        """A bus with the same subscribers; of its requests only name and arguments count."""
        child = MessageBus(self._policy)
        child._handlers = self._handlers
        child._subagent = subagent
        child._parent = self
        return child

    def subscribe(
        self,
        type: type[M],
        handler: Callable[[M], None],
    ) -> Callable[[], None]:
        """Call `handler` with every message of `type`; returns the unsubscribe."""
        entry = cast("_Handler", handler)
        handlers = self._handlers.setdefault(type, [])
        handlers.append(entry)

        def remove() -> None:
            if entry in handlers:
                handlers.remove(entry)

        return remove

    def publish(self, message: Announcement) -> None:
        """Deliver `message`. Never raises. A confirmation request goes through `ask`."""
        try:
            if isinstance(message, UpdatePolicy):
                self._policy.apply_update(message)
        except Exception as error:  # noqa: BLE001 - a border: publishing never raises
            _log(error)
            return
        self._deliver(message)

    async def ask(self, message: ToolConfirmationRequest) -> None:
        """Publish a confirmation request: the policy answers it, or subscribers are asked.

        Returns once the policy has decided, which takes as long as its safety checkers do. Never
        raises.
        """
        if self._parent is not None:
            await self._parent.ask(self._scoped(message))
            return
        try:
            await self._decide(message)
        except Exception as error:  # noqa: BLE001 - a border: publishing never raises
            _log(error)

    async def request(
        self,
        message: ToolConfirmationRequest,
        *,
        clock: Clock,
        signal: AbortSignal,
        timeout_ms: float,
    ) -> ToolConfirmationResponse:
        """Publish `message` and wait for the response with its correlation id.

        Raises:
            RequestTimeout: none came within `timeout_ms`.
            AbortError: `signal` was aborted first.
        """
        answer: asyncio.Future[ToolConfirmationResponse]
        answer = asyncio.get_running_loop().create_future()

        def receive(response: ToolConfirmationResponse) -> None:
            if response.correlation_id == message.correlation_id and not answer.done():
                answer.set_result(response)

        async def asked() -> None:
            await self.ask(message)
            await answer

        off = self.subscribe(ToolConfirmationResponse, receive)
        try:
            await until_aborted(_in_time(asked(), clock, timeout_ms), signal)
            return answer.result()
        finally:
            off()

    def _scoped(self, message: ToolConfirmationRequest) -> ToolConfirmationRequest:
        """A subagent's request without the fields that could change the policy's decision."""
        inner = f"/{message.subagent}" if message.subagent else ""
        return replace(
            message,
            subagent=f"{self._subagent}{inner}",
            server_name=None,
            annotations=None,
            details=None,
            forced_decision=None,
        )

    async def _decide(self, request: ToolConfirmationRequest) -> None:
        check = await self._policy.decide(
            request.tool_name,
            request.args,
            server_name=request.server_name,
            annotations=request.annotations,
            subagent=request.subagent,
        )
        decision = request.forced_decision or check.decision
        if decision is Decision.ASK_USER and self._handlers.get(ToolConfirmationRequest):
            self._deliver(request)
            return
        if decision is Decision.DENY:
            self._deliver(ToolPolicyRejection(tool_name=request.tool_name, args=request.args))
        self._deliver(
            ToolConfirmationResponse(
                correlation_id=request.correlation_id,
                confirmed=decision is Decision.ALLOW,
                requires_user_confirmation=decision is Decision.ASK_USER,
            )
        )

    def _deliver(self, message: BusMessage) -> None:
        for handler in list(self._handlers.get(message.__class__, ())):
            try:
                handler(message)
            except Exception as error:  # noqa: BLE001 - see the module's first lines
                _log(error)


def _log(error: Exception) -> None:
    logger.warning("a message could not be delivered: %s", error, exc_info=error)


async def _in_time(work: Coroutine[Any, Any, None], clock: Clock, timeout_ms: float) -> None:
    """Await `work`; it has ended when this returns.

    Raises:
        RequestTimeout: it took longer than `timeout_ms`.
    """
    loop = asyncio.get_running_loop()
    working, sleeper = loop.create_task(work), loop.create_task(clock.sleep(timeout_ms))
    either: list[asyncio.Task[None]] = [working, sleeper]
    try:
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise RequestTimeout("Request timed out waiting for tool-confirmation-response")
        working.result()
    finally:
        for task in either:
            task.cancel()
        await asyncio.wait(either)

"""The message bus: who hears what, what the policy is asked, and when a request ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final, cast

from parity_tests.core_answers.subject import Subject
from services.abort import AbortController
from services.clock import Clock
from services.message_bus import (
    MessageBus,
    RequestTimeout,
    SubagentActivityUpdate,
    ToolCallsUpdate,
    ToolConfirmationRequest,
    ToolConfirmationResponse,
    ToolPolicyRejection,
    UpdatePolicy,
)
from services.policy.engine import PolicyEngine
from services.policy.rules import Decision
from services.tools.contract import ConfirmationOutcome

__all__ = ["SUBJECTS"]

_TYPES: Final[dict[str, type[Any]]] = {
    "request": ToolConfirmationRequest,
    "response": ToolConfirmationResponse,
    "rejection": ToolPolicyRejection,
    "calls": ToolCallsUpdate,
    "activity": SubagentActivityUpdate,
    "policy": UpdatePolicy,
}


class _Clock:
    """Moves by `advance` alone."""

    def __init__(self) -> None:
        self._now = 0.0
        self._sleeping: list[tuple[float, asyncio.Future[None]]] = []

    async def sleep(self, ms: float) -> None:
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sleeping.append((self._now + ms, woken))
        await woken

    def advance(self, ms: float) -> None:
        self._now += ms
        for due, woken in self._sleeping:
            if due <= self._now and not woken.done():
                woken.set_result(None)


class _Scene:
    """One bus with its children, and what was seen since the last step."""

    def __init__(self, decisions: dict[str, str]) -> None:
        self._decisions = decisions
        self._clock = _Clock()
        self._main = MessageBus(cast("PolicyEngine", self))
        self._off: dict[str, Callable[[], None]] = {}
        self._waiting: set[asyncio.Task[None]] = set()
        self.seen: list[Any] = []

    async def decide(self, tool_name: str, args: Any, **more: Any) -> Any:
        asked = [more[key] for key in ("server_name", "annotations", "subagent")]
        self.seen.append(["policy", tool_name, args, *asked])
        if tool_name == "fails":
            raise ValueError(tool_name)
        return SimpleNamespace(decision=Decision(self._decisions[tool_name]))

    def apply_update(self, update: UpdatePolicy) -> None:
        self.seen.append(["applied", update.tool_name])

    def _bus(self, path: str) -> MessageBus:
        """`a/b` is the bus of the child `b` of `a`."""
        bus = self._main
        for name in filter(None, path.split("/")):
            bus = bus.derive(name)
        return bus

    async def play(self, step: str, *given: Any) -> list[Any]:
        """What one step shows."""
        self.seen = []
        if step == "off":
            self._off[given[0]]()
        elif step == "pass":
            self._clock.advance(given[0])
        else:
            await getattr(self, f"_{step}")(*given)
        for _ in range(20):
            await asyncio.sleep(0)
        return self.seen

    async def _on(self, path: str, name: str, kind: str, does: Any) -> None:
        def heard(message: Any) -> None:
            self.seen.append([name, *_shown(message)])
            if does == "fail":
                raise ValueError(name)
            if does == "confirm":
                self._main.publish(
                    ToolConfirmationResponse(correlation_id=message.correlation_id, confirmed=True)
                )
            elif does is not None:
                self._off[does]()

        self._off[name] = self._bus(path).subscribe(_TYPES[kind], heard)

    async def _ask(self, path: str, fields: dict[str, Any]) -> None:
        await self._bus(path).ask(_request(fields))

    async def _tell(self, path: str, kind: str, fields: dict[str, Any]) -> None:
        self._bus(path).publish(_announcement(kind, fields))

    async def _request(self, path: str, ms: int, fields: dict[str, Any]) -> None:
        name = fields["id"]

        async def wait() -> None:
            signal = AbortController().signal
            try:
                answer = await self._bus(path).request(
                    _request(fields), clock=cast("Clock", self._clock), signal=signal, timeout_ms=ms
                )
            except RequestTimeout as error:
                self.seen.append(["late", name, str(error)])
            else:
                self.seen.append(["answered", name, *_shown(answer)])

        task = asyncio.get_running_loop().create_task(wait())
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)


def _request(fields: dict[str, Any]) -> ToolConfirmationRequest:
    forced = fields.get("forced")
    return ToolConfirmationRequest(
        tool_name=fields["tool"],
        args=fields.get("args", {}),
        correlation_id=fields["id"],
        server_name=fields.get("server"),
        annotations=fields.get("annotations"),
        subagent=fields.get("subagent"),
        details=fields.get("details"),
        forced_decision=forced and Decision(forced),
    )


def _announcement(kind: str, fields: dict[str, Any]) -> Any:
    if kind == "response":
        outcome = fields.get("outcome")
        return ToolConfirmationResponse(
            correlation_id=fields["id"],
            confirmed=fields["confirmed"],
            outcome=outcome and ConfirmationOutcome(outcome),
            payload=fields.get("payload"),
            requires_user_confirmation=fields.get("asks", False),
        )
    if kind == "calls":
        return ToolCallsUpdate(calls=(), scheduler_id=fields["id"])
    if kind == "activity":
        return SubagentActivityUpdate(subagent=fields["subagent"], activity=fields["activity"])
    return UpdatePolicy(tool_name=fields["tool"])


def _shown(message: Any) -> list[Any]:
    match message:
        case ToolConfirmationRequest():
            forced = message.forced_decision
            return [
                *("request", message.correlation_id, message.tool_name, message.args),
                *(message.server_name, message.annotations, message.subagent, message.details),
                forced and forced.value,
            ]
        case ToolConfirmationResponse():
            answer = [message.outcome, message.payload, message.requires_user_confirmation]
            return ["response", message.correlation_id, message.confirmed, *answer]
        case ToolPolicyRejection():
            return ["rejection", message.tool_name, message.args]
        case ToolCallsUpdate():
            return ["calls", message.scheduler_id]
        case SubagentActivityUpdate():
            return ["activity", message.subagent, message.activity]
        case _:
            return ["policy", message.tool_name]


async def _played(asked: dict[str, Any]) -> list[Any]:
    scene = _Scene(asked["decisions"])
    return [await scene.play(*step) for step in asked["steps"]]


def _play(asked: dict[str, Any]) -> list[Any]:
    return asyncio.run(_played(asked))


SUBJECTS: Final = (Subject("bus.play", _play),)

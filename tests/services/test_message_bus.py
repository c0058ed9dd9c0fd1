from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from services.abort import AbortController, AbortError
from services.clock import VirtualClock, virtual_loop
from services.message_bus import (
    MessageBus,
    RequestTimeout,
    ToolCallsUpdate,
    ToolConfirmationRequest,
    ToolConfirmationResponse,
    ToolPolicyRejection,
    UpdatePolicy,
)
from services.policy.rules import CheckerRule, CheckerSpec, Decision, PolicyRule
from services.state import ApprovalMode, CoreEvents, SessionState
from services.wire import JsonObject
from tests.services.policy.instant import InstantEngine

UPDATE = ToolCallsUpdate(calls=(), scheduler_id="root")


class SlowChecker:
    """The runner of one safety checker, which takes a second to allow."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock

    async def run(self, tool_name: str, args: JsonObject | None, checker: CheckerSpec) -> Decision:
        await self._clock.sleep(1000)
        return Decision.ALLOW


@pytest.fixture
def policy() -> InstantEngine:
    return new_policy()


def new_policy(**more: Any) -> InstantEngine:
    state = SessionState(
        session_id="s",
        model="m",
        approval_mode=ApprovalMode.DEFAULT,
        interactive=True,
        events=CoreEvents(),
    )
    rules = [
        PolicyRule(tool_name="good", decision=Decision.ALLOW),
        PolicyRule(tool_name="bad", decision=Decision.DENY),
        PolicyRule(tool_name="scoped", decision=Decision.DENY, subagent="a/b"),
        PolicyRule(tool_name="scoped", decision=Decision.ALLOW),
    ]
    return InstantEngine(rules, state=state, interactive=True, workspace_root=Path("/ws"), **more)


@pytest.fixture
def bus(policy: InstantEngine) -> MessageBus:
    return MessageBus(policy)


def request(name: str, **more: Any) -> ToolConfirmationRequest:
    return ToolConfirmationRequest(tool_name=name, args={}, correlation_id="c", **more)


def heard(bus: MessageBus, *types: type[Any]) -> list[Any]:
    messages: list[Any] = []
    for one in types:
        bus.subscribe(one, messages.append)
    return messages


def test_a_message_reaches_subscribers_of_its_type_until_they_leave(bus: MessageBus) -> None:
    first: list[Any] = []
    off = bus.subscribe(ToolCallsUpdate, first.append)
    other = heard(bus, ToolConfirmationResponse)

    bus.publish(UPDATE)
    off()
    off()
    bus.publish(UPDATE)

    assert first == [UPDATE]
    assert other == []


def test_a_failing_listener_stops_neither_the_publisher_nor_the_others(
    bus: MessageBus, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_message: object) -> None:
        raise RuntimeError("out of order")

    bus.subscribe(ToolCallsUpdate, fail)
    after = heard(bus, ToolCallsUpdate)

    bus.publish(UPDATE)

    assert after == [UPDATE]
    assert "a message could not be delivered: out of order" in caplog.text


@pytest.mark.parametrize(
    ("tool", "confirmed", "asks"),
    [("good", True, False), ("bad", False, False), ("other", False, True)],
)
def test_the_policy_answers_requests(
    bus: MessageBus, tool: str, confirmed: bool, asks: bool
) -> None:
    answers = heard(bus, ToolPolicyRejection, ToolConfirmationResponse)

    asyncio.run(bus.ask(request(tool)))

    rejection = [ToolPolicyRejection(tool_name="bad", args={})] if tool == "bad" else []
    assert answers == [
        *rejection,
        ToolConfirmationResponse(
            correlation_id="c", confirmed=confirmed, requires_user_confirmation=asks
        ),
    ]


def test_only_what_must_be_asked_is_forwarded(bus: MessageBus) -> None:
    asked = heard(bus, ToolConfirmationRequest)
    answers = heard(bus, ToolConfirmationResponse)

    for tool in ("good", "bad", "other"):
        asyncio.run(bus.ask(request(tool)))

    assert asked == [request("other")]
    assert [answer.confirmed for answer in answers] == [True, False]


def test_a_forced_decision_wins_on_the_sessions_own_bus_only(bus: MessageBus) -> None:
    answers = heard(bus, ToolConfirmationResponse)
    forced = request("bad", forced_decision=Decision.ALLOW)

    asyncio.run(bus.ask(forced))
    asyncio.run(bus.derive("agent").ask(forced))

    assert [answer.confirmed for answer in answers] == [True, False]


def test_a_derived_bus_names_its_subagent(bus: MessageBus) -> None:
    answers = heard(bus, ToolConfirmationResponse)

    asyncio.run(bus.derive("a").ask(request("scoped")))
    asyncio.run(bus.derive("a").derive("b").ask(request("scoped")))

    assert [answer.confirmed for answer in answers] == [True, False]


def test_a_derived_bus_shares_its_subscribers(bus: MessageBus) -> None:
    above = heard(bus, ToolCallsUpdate)
    child = bus.derive("a")
    below = heard(child, ToolCallsUpdate)

    child.publish(UPDATE)
    bus.publish(UPDATE)

    assert above == below == [UPDATE, UPDATE]


def test_a_policy_update_holds_before_subscribers_get_it(
    bus: MessageBus, policy: InstantEngine
) -> None:
    seen: list[Decision] = []
    bus.subscribe(UpdatePolicy, lambda _: seen.append(policy.check("other", {}).decision))

    bus.publish(UpdatePolicy(tool_name="other"))

    assert seen == [Decision.ALLOW]


def test_a_request_gets_the_response_with_its_id(bus: MessageBus) -> None:
    async def main() -> None:
        clock = VirtualClock()

        async def answer() -> None:
            await clock.sleep(500)
            for correlation_id in ("x", "c"):
                bus.publish(ToolConfirmationResponse(correlation_id=correlation_id, confirmed=True))

        def asked(_message: object) -> None:
            tasks.create_task(answer())

        bus.subscribe(ToolConfirmationRequest, asked)
        async with asyncio.TaskGroup() as tasks:
            response = await bus.request(
                request("other"), clock=clock, signal=AbortController().signal, timeout_ms=1000
            )
            assert (response.correlation_id, response.confirmed) == ("c", True)

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        runner.run(main())


@pytest.mark.parametrize("timeout_ms", [999, 1001])
def test_a_request_waits_for_safety_checkers_as_long_as_for_an_answer(timeout_ms: int) -> None:
    async def main() -> bool:
        clock = VirtualClock()
        slow = CheckerRule(tool_name="*", checker=CheckerSpec(name="slow"), priority=0)
        bus = MessageBus(new_policy(checkers=[slow], runner=SlowChecker(clock)))
        signal = AbortController().signal
        try:
            answer = await bus.request(
                request("good"), clock=clock, signal=signal, timeout_ms=timeout_ms
            )
        except RequestTimeout:
            return False
        return answer.confirmed

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        assert runner.run(main()) is (timeout_ms > 1000)


def test_a_request_without_an_answer_ends(bus: MessageBus) -> None:
    heard(bus, ToolConfirmationRequest)

    async def main() -> int:
        clock = VirtualClock(0)
        with pytest.raises(RequestTimeout, match="timed out waiting for tool-confirmation"):
            await bus.request(
                request("other"), clock=clock, signal=AbortController().signal, timeout_ms=60_000
            )
        return clock.now_ms()

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        assert runner.run(main()) == 60_000


def test_an_abort_ends_a_request(bus: MessageBus) -> None:
    heard(bus, ToolConfirmationRequest)

    async def main() -> None:
        clock, controller = VirtualClock(), AbortController()

        async def abort() -> None:
            await clock.sleep(5)
            controller.abort()

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(abort())
            with pytest.raises(AbortError):
                await bus.request(
                    request("other"), clock=clock, signal=controller.signal, timeout_ms=1000
                )

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        runner.run(main())

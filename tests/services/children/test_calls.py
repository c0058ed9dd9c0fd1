"""Calls of a subagent whose scheduler loses the results."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest

from services.abort import AbortController, AbortSignal
from services.children.calls import ChildCalls, LostToolResult
from services.children.child_services import ChildServices
from services.scheduler.calls import CompletedToolCall, ToolCallRequest


class Forgetful:
    """A scheduler that returns no results."""

    def __init__(self) -> None:
        self.made: list[dict[str, Any]] = []
        self.asked: list[ToolCallRequest] = []

    @contextmanager
    def derived(self, **options: Any) -> Iterator[Forgetful]:
        self.made.append(options)
        yield self

    async def schedule(
        self, requests: Sequence[ToolCallRequest], signal: AbortSignal
    ) -> list[CompletedToolCall]:
        self.asked += requests
        return []


def run(scheduler: Forgetful, signal: AbortSignal) -> Any:
    services = SimpleNamespace(
        scheduler=scheduler, tools=SimpleNamespace(get=lambda _: None), bus="bus", ids="ids"
    )
    child = SimpleNamespace(
        services=services,
        toolset=SimpleNamespace(allowed_names=lambda: frozenset({"look"})),
        definition=SimpleNamespace(name="helper"),
        request=SimpleNamespace(parent_call_id="parent"),
        report=lambda *_: None,
    )
    calls = ChildCalls(cast("ChildServices", child), waiting=lambda _: None, record=lambda *_: None)
    return asyncio.run(calls.run([{"name": "look", "args": {}}], "a#0", signal, "m"))


def test_a_lost_result_raises_an_error() -> None:
    with pytest.raises(LostToolResult) as raised:
        run(Forgetful(), AbortController().signal)
    assert str(raised.value) == (
        "[LocalAgentExecutor] Critical System Failure: Tool execution result was lost/dropped by "
        "the scheduler for callId a#0-0 (look). This indicates an internal race condition or "
        "scheduler bug."
    )


def test_after_an_abort_a_result_may_be_missing() -> None:
    controller = AbortController()
    controller.abort()
    outcome = run(Forgetful(), controller.signal)
    assert outcome.parts == []
    assert not outcome.completed


def test_the_scheduler_gets_the_id_and_name_of_the_subagent() -> None:
    scheduler = Forgetful()
    controller = AbortController()
    controller.abort()
    run(scheduler, controller.signal)
    [made] = scheduler.made
    assert (made["scheduler_id"], made["subagent"], made["bus"]) == ("a#0", "helper", "bus")
    [request] = scheduler.asked
    assert (request.parent_call_id, request.prompt_id) == ("parent", "a#0")

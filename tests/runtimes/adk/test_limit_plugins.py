"""The plugins of the limits, of steering and of a completed task, each in a stock `App`.

Where the runtime drives them is covered by the corpus and by the tests of the agents.
"""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

from runtimes.adk.plugins.child import CompleteTaskAdkPlugin
from runtimes.adk.plugins.limits import (
    MaxTimeAdkPlugin,
    MaxTurnsAdkPlugin,
    TokenLimitAdkPlugin,
)
from runtimes.adk.plugins.steering import SteeringAdkPlugin
from services.chat import MAX_TURNS_EXCEEDED, SessionTurns
from services.clock import VirtualClock
from services.steering import InjectionService, InjectionSource
from services.subagents.steering_inbox import SteeringInbox
from tests.runtimes.adk.stock import Stock, answer, call


def look(path: str) -> dict[str, Any]:
    """Look at a file."""
    return {"result": path}


UNASKED: Any = None  # text is estimated without a model


def codes(events: list[Any]) -> list[str]:
    return [event.error_code for event in events if event.error_code]


async def test_turns_of_a_send_are_limited():
    plugin = MaxTurnsAdkPlugin(2, SessionTurns(count=-10))
    stock = Stock([[call("look", path="a")]] * 3, plugin, tools=[look])
    events = await stock.send("go")
    assert len(stock.requests) == 2
    assert codes(events) == [MAX_TURNS_EXCEEDED]
    assert events[-1].custom_metadata == {
        "code": MAX_TURNS_EXCEEDED,
        "maxTurns": 2,
        "turnCount": 2,
    }


async def test_each_send_has_its_turns_and_the_session_its_requests():
    plugin = MaxTurnsAdkPlugin(2)
    stock = Stock([[answer("a")], [answer("b")], [answer("c")]], plugin)
    ends = [codes(await stock.send(words)) for words in ("one", "two", "three")]
    assert ends == [[], [], [MAX_TURNS_EXCEEDED]]
    assert len(stock.requests) == 2


@pytest.mark.parametrize(("limit", "sent"), [(0, 0), (-1, 1)])
async def test_no_turns_and_no_limit_of_turns(limit, sent):
    stock = Stock([[answer("a")]], MaxTurnsAdkPlugin(limit))
    events = await stock.send("go")
    assert (len(stock.requests), codes(events)) == (sent, [MAX_TURNS_EXCEEDED] * (1 - sent))


async def test_driven_plugins_leave_adks_callbacks_alone():
    plugins = (
        MaxTurnsAdkPlugin(0, driven=True),
        TokenLimitAdkPlugin(UNASKED, driven=True),
        MaxTimeAdkPlugin(VirtualClock(), 0, driven=True),
        SteeringAdkPlugin(
            SteeringInbox(InjectionService(VirtualClock(), steering=True)), driven=True
        ),
    )
    stock = Stock([[answer("a")]], *plugins)
    assert codes(await stock.send("go")) == []
    assert plugins[0].turns == 0


async def test_request_that_the_window_has_no_room_for_is_refused():
    used = types.GenerateContentResponseUsageMetadata(prompt_token_count=1_048_571)
    stock = Stock([[answer("a", usage_metadata=used)], [answer("b")]], TokenLimitAdkPlugin(UNASKED))
    assert codes(await stock.send("short")) == []
    events = await stock.send("longer than what is left")
    assert codes(events) == ["CONTEXT_WINDOW_OVERFLOW"]
    assert events[-1].error_message == "Context window will overflow (estimated: 6, remaining: 5)"
    assert len(stock.requests) == 1


class Slow:
    """A tool that takes time, of the user's or of its own."""

    def __init__(self, clock: VirtualClock, plugin: MaxTimeAdkPlugin, *, asks: bool) -> None:
        self._clock, self._plugin, self._asks = clock, plugin, asks

    async def look(self, path: str) -> dict[str, Any]:
        """Look at a file."""
        if self._asks:
            self._plugin.waiting(True)
        await self._clock.sleep(2_000)
        if self._asks:
            self._plugin.waiting(False)
        return {"result": path}


@pytest.mark.parametrize("asks", [False, True])
def test_time_of_a_run_is_limited_and_the_users_is_not_counted(kit, asks):
    async def go():
        clock = VirtualClock()
        plugin = MaxTimeAdkPlugin(clock, 1_000)
        tool = Slow(clock, plugin, asks=asks).look
        stock = Stock([[call("look", path="a")], [answer("a")]], plugin, tools=[tool])
        events = await stock.send("go")
        await stock.close()
        return codes(events), len(stock.requests)

    assert kit.in_loop(go) == (([], 2) if asks else (["MAX_TIME_EXCEEDED"], 1))


async def test_what_was_sent_goes_before_the_answers_once():
    steering = InjectionService(VirtualClock(), steering=True)

    def looking(path: str) -> dict[str, Any]:
        """Look at a file."""
        steering.add("use b", InjectionSource.USER_STEERING)
        return {"result": path}

    steps = [[call("looking", path="a")], [call("look", path="b")], [answer("a")]]
    plugin = SteeringAdkPlugin(SteeringInbox(steering))
    stock = Stock(steps, plugin, tools=[looking, look])
    await stock.send("go")
    kinds = [
        ["answer" if part.function_response else "text" for part in request[-1].parts]
        for request in stock.requests
    ]
    assert kinds == [["text"], ["text", "answer"], ["answer"]]
    assert "use b" in str(stock.requests[1][-1].parts)
    assert steering._listeners == {}


async def test_what_waits_for_the_main_loop_goes_before_the_answers_of_tools_once():
    steering = InjectionService(VirtualClock(), steering=True, interactive=True)
    steering.add("use b", InjectionSource.USER_STEERING)
    steps = [[call("look", path="a")], [call("look", path="b")], [answer("a")]]
    stock = Stock(steps, SteeringAdkPlugin(steering.main), tools=[look])
    await stock.send("go")
    kinds = [
        ["answer" if part.function_response else "text" for part in request[-1].parts]
        for request in stock.requests
    ]
    assert kinds == [["text"], ["text", "answer"], ["answer"]]


def complete_task(result: str) -> dict[str, Any]:
    """Submit the result."""
    return {"error": "too short"} if result == "x" else {"result": result}


async def test_completed_task_ends_the_run_and_a_refused_one_does_not():
    plugin = CompleteTaskAdkPlugin()
    steps = [[call("complete_task", result=result)] for result in ("x", "found")]
    stock = Stock([*steps, [answer("never")]], plugin, tools=[complete_task])
    events = await stock.send("go")
    assert (len(stock.requests), plugin.result) == (2, "found")
    assert [bool(event.actions.skip_summarization) for event in events][-1] is True


async def test_time_stops_when_a_run_fails():
    plugin = MaxTimeAdkPlugin(VirtualClock(), 1_000)
    stock = Stock([ValueError("broken")], plugin)
    with pytest.raises(ValueError, match="broken"):
        await stock.send("go")
    assert plugin._deadline._task is None


def test_conversation_has_its_limits_on_the_app_and_drives_them(kit):
    async def script(played, runtime):
        manager = runtime.agent()._runner.plugin_manager
        limits = [manager.get_plugin(name) for name in ("max_turns", "token_limit")]
        assert [type(plugin) for plugin in limits] == [MaxTurnsAdkPlugin, TokenLimitAdkPlugin]
        assert all(plugin.driven for plugin in limits)

    kit.run(script, [])

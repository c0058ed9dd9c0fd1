"""`HookBridgePlugin` in a stock `App`, by ADK's callbacks.

Where the model layer calls its methods is covered by the corpus and by `test_hooks`.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types

from runtimes.adk.plugins.hook_bridge import HookBridgePlugin, hook_bridge
from services.hooks.model_call import AgentExecutionBlocked, AgentExecutionStopped
from tests.runtimes.adk.stock import Stock, answer, call


def hooks(**events):
    """Each event's hook logs its input and gives an output."""
    found = {}
    for event, output in events.items():
        command = f"cat >> {event}; echo >> {event}; printf '%s' '{json.dumps(output)}'"
        found[event] = [{"hooks": [{"type": "command", "command": command}]}]
    return found


class Seen(BasePlugin):
    """Keeps the requests as the model gets them."""

    def __init__(self) -> None:
        super().__init__(name="seen")
        self.requests = []

    async def before_model_callback(self, *, callback_context, llm_request):
        self.requests.append(llm_request.model_copy(deep=True))


def run(kit, steps, *, streams=False, tools=(), **events):
    """The events of one send, the requests, and what the hooks' logs say."""

    async def go():
        async with kit.services(hooks=hooks(**events)) as played:
            seen = Seen()
            plugin = HookBridgePlugin(played.services.hooks)
            stock = Stock(steps, plugin, seen, streams=streams, tools=tools)
            got = await stock.send("hello")
            await stock.close()
            assert plugin._calls == {}
            logs = {
                event: [
                    json.loads(line)
                    for line in (played.services.workspace.root / event).read_text().splitlines()
                ]
                for event in events
            }
            return got, seen.requests, logs

    return kit.in_loop(go)


def look(path: str) -> str:
    """Look at a file."""
    return path


def test_hooks_change_the_request_that_the_model_gets(kit):
    said = {
        "model": "gemini-2.5-pro",
        "config": {"temperature": 0.25},
        "messages": [{"role": "user", "content": "changed"}],
    }
    choice = {"mode": "NONE"}
    events, (request,), logs = run(
        kit,
        [[answer("x")]],
        tools=[look],
        BeforeModel={"hookSpecificOutput": {"llm_request": said}},
        BeforeToolSelection={"hookSpecificOutput": {"toolConfig": choice}},
    )
    assert request.model == "gemini-2.5-pro"
    assert request.config.temperature == 0.25
    assert [part.text for part in request.contents[0].parts] == ["changed"]
    calling = request.config.tool_config.function_calling_config
    assert calling.mode is types.FunctionCallingConfigMode.NONE
    assert [each.name for each in request.config.tools[0].function_declarations] == ["look"]
    assert events[0].content.parts[0].text == "x"
    assert logs["BeforeModel"][0]["llm_request"]["messages"][0]["content"] == "hello"


@pytest.mark.parametrize(
    ("output", "code", "texts"),
    [
        ({"continue": False, "stopReason": "enough"}, AgentExecutionStopped.code, []),
        ({"decision": "block", "reason": "enough"}, AgentExecutionBlocked.code, []),
        (
            {
                "decision": "block",
                "reason": "enough",
                "hookSpecificOutput": {
                    "llm_response": {"candidates": [{"content": {"parts": ["made up"]}}]}
                },
            },
            AgentExecutionBlocked.code,
            ["made up"],
        ),
    ],
)
def test_verdict_before_the_model_answers_in_its_place(kit, output, code, texts):
    (event,), requests, _ = run(kit, [], BeforeModel=output)
    assert (event.error_code, event.error_message) == (code, "enough")
    found = [part.text for part in (event.content and event.content.parts) or ()]
    assert found == texts
    assert requests == []


REPLACED = {
    "hookSpecificOutput": {"llm_response": {"candidates": [{"content": {"parts": ["other"]}}]}}
}


def streamed():
    return [answer("on", partial=True), answer("e", partial=True), answer("one")]


def test_hooks_change_each_delta_once_and_not_the_whole_answer(kit):
    events, _, logs = run(kit, [streamed()], streams=True, AfterModel=REPLACED)
    assert [event.content.parts[0].text for event in events] == ["other", "other", "one"]
    assert [event.partial for event in events] == [True, True, None]
    received = [each["llm_response"]["candidates"][0]["content"] for each in logs["AfterModel"]]
    assert [each["parts"] for each in received] == [["on"], ["e"]]


def test_answer_that_was_not_streamed_is_changed_as_a_whole(kit):
    events, _, logs = run(kit, [[answer("one")]], AfterModel=REPLACED)
    assert [event.content.parts[0].text for event in events] == ["other"]
    assert len(logs["AfterModel"]) == 1


@pytest.mark.parametrize(
    ("output", "code"),
    [
        ({"continue": False, "stopReason": "enough"}, AgentExecutionStopped.code),
        ({"decision": "block", "reason": "enough"}, AgentExecutionBlocked.code),
    ],
)
def test_verdict_on_a_delta_leaves_nothing_of_the_answer_but_the_error(kit, output, code):
    steps = [[answer("on", partial=True), call("look", path="a")]]
    events, _, logs = run(kit, steps, streams=True, tools=[look], AfterModel=output)
    assert [(event.error_code, event.error_message) for event in events] == [(code, "enough")]
    assert len(logs["AfterModel"]) == 1


def test_runtime_has_the_plugin_only_where_there_are_hooks_for_model_calls(kit):
    async def made(**events):
        async with kit.services(hooks=hooks(**events)) as played:
            return hook_bridge(played.services.hooks)

    assert kit.in_loop(lambda: made(AfterAgent={})) == ()
    for event in ("BeforeModel", "BeforeToolSelection", "AfterModel"):
        (plugin,) = kit.in_loop(lambda event=event: made(**{event: {}}))
        assert plugin.driven is True
    assert hook_bridge(None) == ()


async def test_driven_plugin_does_nothing_in_adks_callbacks():
    nothing: Any = None
    plugin = HookBridgePlugin(nothing, driven=True)
    given = {"callback_context": nothing}
    assert await plugin.before_model_callback(**given, llm_request=nothing) is None
    assert await plugin.after_model_callback(**given, llm_response=nothing) is None

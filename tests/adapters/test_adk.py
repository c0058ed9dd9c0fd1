"""A stock agent of ADK, as `adk run` takes it, behind the adapter."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.apps import App

from adapters import adk_runtime
from agent_protocol.events import AgentEvent
from parity_tests.stage import answer, calls, chunks
from tests.adapters.stage import kinds, plain, play, stage
from tests.runtimes.third_party import forgotten_modules

USAGE = {"promptTokenCount": 7, "candidatesTokenCount": 2}


def order(item: str) -> dict[str, Any]:
    """Order an item."""
    return {"item": item, "id": "A-1"}


def shop(**options: Any) -> LlmAgent:
    return LlmAgent(
        name="shop", model="gemini-2.5-flash", instruction="Sell.", tools=[order], **options
    )


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "local")


def with_usage(step: dict[str, Any]) -> dict[str, Any]:
    step["stream"][-1]["usageMetadata"] = USAGE
    return step


def played(runtime: Any, *steps: dict[str, Any], says: tuple[str, ...] = ("hi",)) -> Any:
    found: list[AgentEvent] = []
    asked: list[Any] = []

    async def scene() -> None:
        async with stage(runtime, *steps) as on:
            for text in says:
                found.extend(await on.say(text))
            asked.extend(each.request for each in on.requests)

    play(scene)
    return found, asked


@pytest.mark.parametrize("streaming", [False, True])
def test_calls_results_texts_and_tokens(streaming: bool) -> None:
    steps = [with_usage(calls(("order", {"item": "tea"}))), with_usage(chunks("Or", "dered."))]

    events, asked = played(adk_runtime(shop(), streaming=streaming), *steps)

    found = [event for event in events if event.type != "usage"]
    assert kinds(found) == ["tool_request", "tool_response", "message", "agent_end"]
    call, got, said, _ = map(plain, found[2:])
    assert (call["name"], call["args"]) == ("order", {"item": "tea"})
    assert (got["requestId"], got["data"]) == (call["requestId"], {"item": "tea", "id": "A-1"})
    assert said["content"] == [{"type": "text", "text": "Ordered."}]
    usage = [plain(event) for event in events if event.type == "usage"]
    assert usage == [{"model": "gemini-2.5-flash", "inputTokens": 7, "outputTokens": 2}] * 2
    assert [each.config.get("stream") for each in asked] == [None if streaming else False] * 2


def test_a_conversation_goes_on() -> None:
    events, asked = played(adk_runtime(shop()), answer("a"), answer("b"), says=("one", "two"))

    texts = [part["text"] for each in asked[1].contents for part in each["parts"]]
    assert texts == ["one", "a", "two"]
    assert events[-1].type == "agent_end"


def test_two_runs_are_the_same() -> None:
    first, second = (
        played(adk_runtime(shop()), calls(("order", {"item": "x"})), answer("b"))[0]
        for _ in range(2)
    )

    assert first == second


def test_a_failure_of_the_model_is_seen_as_adk_shows_it() -> None:
    step = {"error": {"status": 503, "message": "busy", "grpc": "UNAVAILABLE"}}

    events, _ = played(adk_runtime(shop()), step)

    assert plain(events[-1]) == {"reason": "failed"}
    assert {plain(event)["status"] for event in events if event.type == "error"} == {"UNAVAILABLE"}


def test_each_conversation_begins_with_what_its_tools_need() -> None:
    begun: list[Any] = []

    def begin(session: Any) -> None:
        begun.append(session)
        session.state["rows"] = [{"item": len(begun)}]

    made = adk_runtime(shop(), begin=begin, shows={"rows": lambda session: session.state["rows"]})

    async def scene() -> None:
        async with stage(made, answer("a"), answer("b")) as on:
            await on.say("one")
            assert on.runtime.shown() == {"rows": [{"item": 1}]}
            await on.runtime.reset()
            assert on.runtime.shown() == {"rows": [{"item": 2}]}

    play(scene)


def test_an_app_works_as_well() -> None:
    events, _ = played(adk_runtime(App(name="shop", root_agent=shop())), answer("a"))

    assert plain(events[2])["content"] == [{"type": "text", "text": "a"}]


def test_a_thought_is_no_text() -> None:
    parts = [{"text": "Hm.", "thought": True}, {"text": "Yes."}]
    chunk = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}

    events, _ = played(adk_runtime(shop(), streaming=True), {"stream": [chunk]})

    said = [event for event in events[2:] if event.type == "message"]
    found = [part for event in said for part in plain(event)["content"]]
    assert found == [{"type": "thought", "thought": "Hm."}, {"type": "text", "text": "Yes."}]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("root_agent = 3", "TypeError: shop_agent:root_agent is no agent of ADK but of type int"),
        ("x = 1", "AttributeError: module 'shop_agent' has no attribute 'root_agent'"),
        ("import gone", "ModuleNotFoundError: No module named 'gone'"),
    ],
)
def test_what_a_name_leads_to_is_checked_before_anything_runs(
    source: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "shop_agent.py").write_text(source)
    made = adk_runtime("shop_agent:root_agent")
    try:
        with pytest.raises(Exception, match=problem.partition(": ")[2]) as raised:
            made.check(None)
    finally:
        forgotten_modules("shop_agent")

    assert type(raised.value).__name__ == problem.partition(":")[0]
    assert "shop_agent" not in sys.modules
    assert "shop_agent" in made.modules

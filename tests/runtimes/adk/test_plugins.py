"""The plugins: what they see of a run, and what they do about it."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
from google.adk.agents._streaming_mode import StreamingMode
from google.adk.agents.llm_agent import LlmAgent
from google.adk.agents.run_config import RunConfig
from google.adk.apps.app import App
from google.adk.events.event import Event
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.genai import types

from runtimes.adk.notes import LOOP_DETECTED, Answer, Delta, Looped, note_of
from runtimes.adk.plugins.loop_detection import LoopDetectionAdkPlugin
from runtimes.adk.run import Run, RunLink
from services.abort import AbortController
from services.loop_detection.detector import LoopDetector, LoopVerdict
from services.model.sdk_contents import WireContent
from services.model.stream import AssembledTurn
from services.scheduler.calls import ToolCallRequest


class Detector(LoopDetector):
    def __init__(self) -> None:
        self.fed = []

    def add_text(self, text):
        self.fed.append(text)
        return LoopVerdict(count=int("loop" in text))

    def add_tool_call(self, name, args):
        self.fed.append((name, args))
        return LoopVerdict(count=2 * int(name == "loop"))

    def reset(self, prompt_id, user_prompt=""):
        self.fed.append(prompt_id)


def event(part, *, partial=True, note=None):
    content = WireContent.of({"role": "model", "parts": [part]}, note or Delta(part=part))
    return Event(author="a", invocation_id="i", content=content, partial=partial)


CALL = {"functionCall": {"name": " loop ", "args": {"a": 1}}}


class Watched:
    """A run with the plugin, and what the events that it saw became."""

    def __init__(self) -> None:
        self.detector, link = Detector(), RunLink()
        self.run = Run(prompt_id="p", signal=AbortController().signal)
        link.begin(self.run)
        self.plugin: Any = LoopDetectionAdkPlugin(self.detector, link)

    async def see(self, seen):
        return await self.plugin.on_event_callback(invocation_context=None, event=seen)


@pytest.mark.parametrize(
    ("seen", "fed"),
    [
        (event({"text": "x"}), ["x"]),
        (event({"functionCall": {"name": "f"}}), [("f", {})]),
        (event({"text": "loop", "thought": True}), []),
        (event({"text": "loop"}, partial=None), []),
        (
            event({"text": "loop"}, partial=None, note=Answer(cast("AssembledTurn", "turn"), "m")),
            [],
        ),
    ],
)
async def test_partial_deltas_are_fed_and_thoughts_and_consolidated_events_never(seen, fed):
    watched = Watched()
    assert await watched.see(seen) is None
    assert watched.detector.fed == fed
    assert watched.run.step.stream.signal.aborted is False


@pytest.mark.parametrize(("part", "strikes"), [({"text": "loop"}, 1), (CALL, 2)])
async def test_loop_ends_the_models_stream_alone_and_replaces_its_delta(part, strikes):
    watched = Watched()
    got = await watched.see(event(part))
    assert (got.error_code, note_of(got)) == (LOOP_DETECTED, Looped(strikes))
    assert got.partial is True
    assert got.content.parts == []
    assert watched.run.step.stream.signal.reason == LOOP_DETECTED
    assert watched.run.signal.aborted is False
    assert watched.run.step.loop.count == strikes


async def test_delta_that_closes_a_loop_is_no_part_of_what_the_answer_showed():
    watched = Watched()
    answer = watched.run.step.answer
    chunk = {"candidates": [{"content": {"parts": [CALL]}, "finishReason": "STOP"}]}
    call = ToolCallRequest(call_id="1", name="loop", args={}, prompt_id="p")
    delta = next(answer.deltas(chunk, lambda _call: call))
    assert answer.calls == [call]
    await watched.see(event(delta.part, note=delta))
    assert answer.calls == []
    assert answer.asked is True
    assert answer.finish_reason is None


class Chanting(BaseLlm):
    """A stock model that says the same for ever, and counts how often."""

    said: int = 0

    async def generate_content_async(self, llm_request, stream=False):
        content = types.Content()
        while self.said < 100:
            self.said += 1
            text = "loop" if self.said == 3 else "la"
            part = types.Part(text=text)
            content = types.Content(role="model", parts=[part])
            yield LlmResponse(content=content, partial=True)
            await asyncio.sleep(0)
        yield LlmResponse(content=content)


async def test_stock_app_with_the_plugin_ends_a_looping_answer():
    model, detector = Chanting(model="m"), Detector()
    app = App(
        name="stock",
        root_agent=LlmAgent(name="stock_agent", model=model),
        plugins=[LoopDetectionAdkPlugin(detector)],
    )
    sessions = InMemorySessionService()
    runner = Runner(app=app, session_service=sessions)
    await sessions.create_session(app_name="stock", user_id="u", session_id="s")
    events = [
        event
        async for event in runner.run_async(
            user_id="u",
            session_id="s",
            new_message=types.UserContent("hello"),
            run_config=RunConfig(streaming_mode=StreamingMode.SSE),
        )
    ]
    await runner.close()
    codes = [event.error_code for event in events]
    assert codes == [None, None, LOOP_DETECTED, "INVOCATION_ABORTED"]
    assert detector.fed == [events[0].invocation_id, "la", "la", "loop"]
    assert "loop" not in str([event.content for event in events])

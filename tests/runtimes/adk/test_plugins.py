"""The plugins: what they see of a run, and what they do about it."""

from __future__ import annotations

from typing import Any, cast

from google.adk.events.event import Event

from runtimes.adk.notes import Answer, Chunk, WireContent
from runtimes.adk.plugins.loop_detection import LoopDetectionAdkPlugin
from runtimes.adk.run import LOOP_DETECTED, Run, RunLink
from services.abort import AbortController
from services.loop_detection.detector import LoopVerdict


class Detector:
    def __init__(self) -> None:
        self.fed = []

    def add_text(self, text):
        self.fed.append(text)
        return LoopVerdict(count=int(text == "loop"))

    def add_tool_call(self, name, args):
        return self.add_text(name)


def event(note, *, partial):
    return Event(author="a", invocation_id="i", content=WireContent.bare(note), partial=partial)


async def watch(seen):
    """The run, once the plugin has seen an event, and what the detector has been fed."""
    detector, link = Detector(), RunLink()
    run = Run(prompt_id="p", signal=AbortController().signal)
    link.begin(run)
    plugin = LoopDetectionAdkPlugin(cast("Any", detector), link)
    assert await plugin.on_event_callback(invocation_context=cast("Any", None), event=seen) is None
    return run, detector.fed


async def test_partial_deltas_are_fed_and_consolidated_events_never():
    for note, partial, expected in (
        (Chunk({}), True, ["x", "f"]),
        (Chunk({}), None, []),
        (Answer(cast("Any", "turn"), "m"), None, []),
    ):
        run, fed = await watch(event(note, partial=partial))
        assert run.step.loops_with_text("x") is False
        assert run.step.loops_with_call("f", {}) is False
        assert fed == expected
        assert run.step.stream.signal.aborted is False


async def test_loop_ends_the_models_stream_and_nothing_else():
    run, _ = await watch(event(Chunk({}), partial=True))
    assert run.step.loops_with_call("loop", {}) is True
    assert run.step.stream.signal.reason == LOOP_DETECTED
    assert run.signal.aborted is False
    assert run.step.loop.count == 1

"""`session.events` beside a history that is masked, compressed, resumed, rewound or reset."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from google.adk.sessions.base_session_service import BaseSessionService

from runtimes.adk.root import AGENT_NAME
from services.model.errors import ApiError
from services.model.sdk_contents import wire_of

from .session_kit import (
    MASKING,
    Stamping,
    answers,
    converse,
    made,
    reading,
    register,
    said,
    session_of,
    stamps,
    texts,
)

__all__ = ["converse", "made", "register"]


def test_masking_replaces_parts_in_the_events_that_hold_them(kit, converse):
    async def script(played, runtime, say):
        await say("one")
        session = await session_of(played, runtime)
        before = list(session.events)
        held = [list(event.content.parts or ()) for event in before]
        await say("two")
        session = await session_of(played, runtime)
        return before, held, list(session.events), runtime.transcript()

    asks = kit.parts_chunk(
        {"text": "look"}, kit.call("read_file", {"file_path": "long.txt"}), finish="STOP"
    )
    steps = [[asks], *answers(kit, "a", "b")]
    before, held, after, transcript = converse(steps, script, **MASKING)
    masked = transcript[2]["parts"][0]
    assert masked["functionResponse"]["response"]["output"].startswith("<tool_output_masked>")
    assert [event.id for event in after[:4]] == [event.id for event in before]
    assert all(new is old for new, old in zip(after, before, strict=False))
    response = after[2].content.parts[0]
    assert response is not held[2][0]
    assert response.function_response.response == masked["functionResponse"]["response"]
    assert wire_of(after[2].content)["parts"][0] is masked
    for index in (0, 1, 3):
        assert all(a is b for a, b in zip(after[index].content.parts, held[index], strict=True))
    assert texts(after) == ["one", "look", "a", "two", "b"]


def test_masking_reaches_unread_events(kit, converse, made):
    async def script(played, runtime, say):
        await say("one", "two")
        session = await session_of(played, runtime)
        assert made == []
        return list(session.events)

    events = converse([reading(kit), *answers(kit, "a", "b")], script, **MASKING)
    output = events[2].content.parts[0].function_response.response["output"]
    assert output.startswith("<tool_output_masked>")
    assert events[2].author == AGENT_NAME
    assert events[2].invocation_id == events[0].invocation_id
    assert texts(events) == ["one", "a", "two", "b"]


def test_masking_goes_by_the_response_itself_where_calls_share_an_id(kit, converse):
    async def script(played, runtime, say):
        await say("one", "two")
        before = [event.id for event in (await session_of(played, runtime)).events]
        await say("three")
        return before, list((await session_of(played, runtime)).events)

    call = kit.call("read_file", {"file_path": "long.txt"}, id="same")
    ask = [kit.parts_chunk(call, finish="STOP")]
    steps = [ask, *answers(kit, "a"), ask, *answers(kit, "b", "c")]
    # Enough to protect one output, but not both.
    options = {"masking_protection_tokens": 8_000, "masking_min_prunable_tokens": 100}
    before, events = converse(steps, script, **options)
    assert [event.id for event in events][:-2] == before
    first, second = (events[index].content.parts[0].function_response for index in (2, 6))
    assert first.response["output"].startswith("<tool_output_masked>")
    assert not second.response["output"].startswith("<tool_output_masked>")


def test_compression_keeps_the_events_of_what_it_keeps(kit, converse, register):
    stamping = Stamping()
    register(stamping)
    used = {"promptTokenCount": 600_000}
    steps = [
        *answers(kit, "a", "b", "c"),
        [kit.text("d", "STOP", usageMetadata=used)],
        kit.text("short", "STOP"),
        kit.text("verified", "STOP"),
        *answers(kit, "e"),
    ]

    async def script(played, runtime, say):
        await say("one" * 20_000, "two", "three", "four")
        before = stamps((await session_of(played, runtime)).events)
        await say("five")
        return before, list((await session_of(played, runtime)).events)

    before, after = converse(steps, script)
    assert texts(after)[-2:] == ["five", "e"]
    assert "verified" in texts(after)[0]
    kept = [stamp for stamp in stamps(after) if stamp in before]
    assert kept
    assert kept == before[-len(kept) :]
    assert len({event.id for event in after}) == len(after) == len(kept) + 4
    assert after[0].invocation_id == f"e-{after[0].id}"


def test_rewind_leaves_the_events_before_the_message(kit, converse):
    async def script(played, runtime, say):
        await say("one", "two", "three")
        before = stamps((await session_of(played, runtime)).events)
        messages = runtime._conversation.recording.messages
        await runtime.rewind(next(m["id"] for m in messages if m["content"] == [{"text": "two"}]))
        await say("four")
        return before, list((await session_of(played, runtime)).events)

    before, after = converse(answers(kit, *"abcd"), script)
    assert texts(after) == ["one", "a", "four", "d"]
    assert stamps(after)[:2] == before[:2]
    assert len({event.id for event in after}) == len(after)


def test_resume_of_the_own_recording_keeps_the_events(kit, converse):
    async def script(played, runtime, say):
        await say("one", "two")
        before = stamps((await session_of(played, runtime)).events)
        await runtime.resume(None)
        await say("three")
        return before, list((await session_of(played, runtime)).events)

    before, after = converse([reading(kit), *answers(kit, *"abc")], script)
    # As upstream reads a recording, a call's results follow it once more.
    again = [event for event in after if event.id.endswith("_response")]
    assert [event.invocation_id for event in again] == [after[0].invocation_id]
    assert [stamp for stamp in stamps(after) if stamp not in stamps(again)][:-2] == before
    assert texts(after) == ["one", "a", "two", "b", "three", "c"]


def test_a_recording_gives_the_same_events_in_every_process(kit, converse):
    async def script(played, runtime, say):
        await say("one", "two")
        return runtime._conversation.recording.path

    path = converse([reading(kit), *answers(kit, "a", "b")], script)

    async def again(played, runtime, say):
        await runtime.resume(path)
        await say("three")
        return list((await session_of(played, runtime)).events)

    runs = [converse(answers(kit, "c"), again) for _ in range(2)]
    assert stamps(runs[0])[:-2] == stamps(runs[1])[:-2]
    events = runs[0]
    assert texts(events) == ["one", "a", "two", "b", "three", "c"]
    assert len({event.id for event in events}) == len(events)
    invocations = list(dict.fromkeys(event.invocation_id for event in events))
    assert len(invocations) == 3
    assert invocations[0] == f"e-{events[0].id}"
    assert events[1].invocation_id == events[2].invocation_id == invocations[0]


def test_what_came_to_nothing_is_not_shown(kit, converse):
    async def script(played, runtime, say):
        await say("one", "two", "three")
        return texts((await session_of(played, runtime)).events)

    steps = [*answers(kit, "a"), ApiError.from_parts(400, "bad"), *answers(kit, "c")]
    assert converse(steps, script) == ["one", "a", "three", "c"]


def test_reset_begins_with_nothing(kit, converse):
    async def script(played, runtime, say):
        await say("one")
        await runtime.reset()
        await say("two")
        return list((await session_of(played, runtime)).events)

    events = converse(answers(kit, "a", "b"), script)
    assert texts(events) == ["two", "b"]
    assert events[0].id != "adk-event-1"


def test_a_rewind_drops_the_live_session_and_the_next_send_appends_what_is_left(
    kit, converse, monkeypatch
):
    appended: list[Any] = []
    append_event = BaseSessionService.append_event

    async def noting(self: Any, session: Any, event: Any) -> Any:
        appended.append(event.id)
        return await append_event(self, session, event)

    async def script(played, runtime, say):
        await say("one", "two", "three")
        before = await session_of(played, runtime)
        ids = [event.id for event in before.events]
        messages = runtime._conversation.recording.messages
        await runtime.rewind(next(m["id"] for m in messages if m["content"] == [{"text": "three"}]))
        monkeypatch.setattr(BaseSessionService, "append_event", noting)
        await say("four")
        after = await session_of(played, runtime)
        return before, ids, after, [event.id for event in after.events]

    before, ids, after, now = converse(answers(kit, *"abcd"), script)
    assert after is not before
    assert after.id == before.id
    assert appended[:4] == now[:4] == ids[:4]
    assert texts(after.events) == ["one", "a", "two", "b", "four", "d"]
    assert after.events.settled == len(after.events)


def test_a_rewind_that_takes_nothing_back_keeps_the_session(kit, converse):
    async def script(played, runtime, say):
        await say("one")
        before = await session_of(played, runtime)
        await runtime.rewind("unknown")
        return before is await session_of(played, runtime)

    assert converse(answers(kit, "a"), script)


def test_a_history_that_is_loaded_keeps_the_events_of_equal_turns(kit, converse):
    async def script(played, runtime, say):
        await say("one", "two", "three")
        before = stamps((await session_of(played, runtime)).events)
        loaded = copy.deepcopy(runtime.transcript())[:4]
        runtime._conversation.load_history(loaded)
        await runtime._went_back()
        await say("four")
        return before, list((await session_of(played, runtime)).events)

    before, after = converse(answers(kit, *"abcd"), script)
    assert texts(after) == ["one", "a", "two", "b", "four", "d"]
    assert stamps(after)[:4] == before[:4]


def test_the_transcript_is_what_the_events_say(kit, converse):
    async def script(played, runtime, say):
        await say("one")
        events = (await session_of(played, runtime)).events
        kept = runtime.transcript()
        events[-1].content = events[0].content
        return kept, runtime.transcript()

    kept, shown = converse(answers(kit, "a"), script)
    assert [content["role"] for content in kept] == ["user", "model"]
    assert shown[0]["parts"] == [*kept[0]["parts"], {"text": "one"}]


@pytest.mark.parametrize("read", [False, True])
def test_events_have_the_thoughts_that_a_resume_adds(kit, converse, read):
    async def script(played, runtime, say):
        await say("one")
        events = (await session_of(played, runtime)).events
        before = [said(event)["parts"] for event in events[1:2] if read]
        await runtime.resume(None)
        await say("two")
        events = (await session_of(played, runtime)).events
        return before, said(events[1])["parts"]

    thought = kit.parts_chunk({"text": "**Look** inside", "thought": True})
    before, after = converse([[thought, *reading(kit)], *answers(kit, "a", "b")], script)
    assert [next(iter(part)) for part in after] == ["text", "functionCall"]
    assert all([next(iter(part)) for part in parts] == ["functionCall"] for parts in before)

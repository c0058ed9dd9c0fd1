"""`session.events`: the whole conversation, made when it is read."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import pytest
from google.adk.events.event import Event
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.sessions.base_session_service import BaseSessionService
from google.adk.sessions.session import Session

from runtimes.adk.agent import USER_ID, AdkAgentProtocol
from runtimes.adk.root import AGENT_NAME, APP_NAME
from runtimes.adk.runtime import AdkRuntime
from runtimes.adk.session_events import SettledEvent, UnreadEvent
from runtimes.chat_runtime import ChatRuntime
from services.model.errors import ApiError
from services.model.sdk_contents import wire_of

MASKING = {"masking_protection_tokens": 100, "masking_min_prunable_tokens": 100}
LONG = "".join(f"line {number}\n" for number in range(3000))


def texts(events: Iterable[Event]) -> list[str]:
    return [
        part.text
        for event in events
        for part in (event.content.parts if event.content else None) or ()
        if part.text
    ]


def kinds(events: Iterable[Event]) -> list[str]:
    found = []
    for event in events:
        assert event.content is not None
        parts = wire_of(event.content)["parts"]
        found.append(f"{event.author}:{'+'.join(next(iter(part)) for part in parts)}")
    return found


def said(event: Event) -> Any:
    """The content of an event, as the API's JSON."""
    assert event.content is not None
    return wire_of(event.content)


async def session_of(played: Any, runtime: Any) -> Session:
    found = await runtime._sessions.get_session(
        app_name=APP_NAME, user_id=USER_ID, session_id=played.services.state.session_id
    )
    assert found is not None
    return found


@pytest.fixture
def made(monkeypatch) -> list[SettledEvent]:
    """Every settled event that was made since the test began, other than for the transcript."""
    found: list[SettledEvent] = []
    make = SettledEvent.made

    def counted(self: SettledEvent) -> Event:
        found.append(self)
        return make(self)

    monkeypatch.setattr(SettledEvent, "made", counted)
    monkeypatch.setattr(AdkRuntime, "transcript", ChatRuntime.transcript)
    return found


@pytest.fixture
def register(monkeypatch) -> Callable[..., None]:
    """Has every agent made from now on get these plugins too."""

    def register(*mine: BasePlugin) -> None:
        init: Any = AdkAgentProtocol.__init__

        def added(self, *args, plugins, **options):
            init(self, *args, plugins=(*plugins, *mine), **options)

        monkeypatch.setattr(AdkAgentProtocol, "__init__", added)

    return register


Talk = Callable[..., Awaitable[None]]


class Conversed:
    """Runs a script in which messages are sent to one agent."""

    def __init__(self, kit: Any) -> None:
        self._kit = kit

    def __call__(self, steps: list[Any], script: Callable[..., Awaitable[Any]], **options) -> Any:
        result: list[Any] = []

        async def go(played, runtime):
            (played.services.workspace.root / "long.txt").write_text(LONG)
            agent = runtime.agent()
            self._kit.listen(agent, played)

            async def say(*words: str) -> None:
                for each in words:
                    await agent.send(self._kit.message(each))
                    await runtime.settled()

            result.append(await script(played, runtime, say))

        self._kit.run(go, steps, **options)
        return result[0]


@pytest.fixture
def converse(kit) -> Conversed:
    return Conversed(kit)


def answers(kit: Any, *words: str) -> list[Any]:
    return [[kit.text(each, "STOP")] for each in words]


def reading(kit: Any) -> list[Any]:
    """A call, as a step of the model's script."""
    return [kit.parts_chunk(kit.call("read_file", {"file_path": "long.txt"}), finish="STOP")]


def test_settled_turns_are_shown_in_every_way_of_reading(kit, converse, made):
    async def script(played, runtime, say):
        await say("one", "two")
        session = await session_of(played, runtime)
        assert made == []
        return session

    session = converse(answers(kit, "a", "b"), script)
    events = session.events
    assert len(events) == 4
    assert made == []
    assert texts(events) == texts(list(events)) == texts([*events]) == ["one", "a", "two", "b"]
    assert len(made) == 4
    assert texts(reversed(events)) == ["b", "two", "a", "one"]
    assert texts([events[0], events[-1]]) == ["one", "b"]
    assert texts(events[1:3]) == ["a", "two"]
    assert events[1] in events
    assert events.index(events[2]) == 2
    assert texts((*events, *events.copy())) == texts(events) * 2
    assert len(made) == 4


@pytest.mark.parametrize(
    "copied",
    [
        copy.deepcopy,
        copy.copy,
        lambda session: session.model_copy(),
        lambda session: session.model_copy(deep=True),
        lambda session: pickle.loads(pickle.dumps(session)),
        lambda session: Session.model_validate(session.model_dump()),
        lambda session: Session.model_validate_json(session.model_dump_json()),
        lambda session: Session.model_validate(session.model_dump(mode="json", by_alias=True)),
        lambda session: Session(**dict(session)),
        lambda session: Session(id="", app_name="", user_id="", events=session.events),
    ],
)
def test_copies_of_a_session_that_was_not_read_hold_the_conversation(kit, converse, copied):
    async def script(played, runtime, say):
        await say("one", "two")
        return copied(await session_of(played, runtime)), await session_of(played, runtime)

    copy_, session = converse(answers(kit, "a", "b"), script)
    assert texts(copy_.events) == ["one", "a", "two", "b"]
    assert [event.id for event in copy_.events] == [event.id for event in session.events]
    assert {type(event) for event in session.events} == {Event}
    assert {type(event) for event in copy_.events} == {Event}
    dumped = json.loads(json.dumps(session.model_dump(mode="json")))
    assert texts(Session.model_validate(dumped).events) == ["one", "a", "two", "b"]


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, pickle.dumps, repr])
def test_an_unread_event_becomes_an_ordinary_one(copied):
    fields = {"id": "x", "invocation_id": "i", "author": "user", "timestamp": 1.0}
    record = SettledEvent(fields, {"role": "user", "parts": [{"text": "hello"}]})
    assert type(record.event) is UnreadEvent
    result = copied(record.event)
    assert type(record.event) is Event
    assert record.event == record.made()
    if isinstance(result, Event):
        assert result == record.event
        assert type(result) is Event


def test_unread_events_can_be_written_to():
    record = SettledEvent({"id": "x", "author": "user", "timestamp": 1.0}, None)
    record.event.author = "other"
    assert (record.event.author, record.event.id) == ("other", "x")


class Watching(BasePlugin):
    """Notes what callbacks find in `session.events`."""

    def __init__(self) -> None:
        super().__init__("watching")
        self.seen: dict[str, list[list[str]]] = {}

    def note(self, moment: str, session: Session) -> None:
        self.seen.setdefault(moment, []).append(kinds(session.events))

    async def on_user_message_callback(self, *, invocation_context, user_message):
        self.note("on_user_message", invocation_context.session)

    async def before_run_callback(self, *, invocation_context):
        self.note("before_run", invocation_context.session)

    async def before_model_callback(self, *, callback_context, llm_request):
        self.note("before_model", callback_context.session)

    async def on_event_callback(self, *, invocation_context, event):
        moment = "partial" if event.partial else "whole"
        self.note(moment, invocation_context.session)

    async def after_run_callback(self, *, invocation_context):
        self.note("after_run", invocation_context.session)


def test_callbacks_see_settled_turns_then_the_current_invocation(kit, register):
    watching = Watching()
    register(watching)
    kit.play([reading(kit), *answers(kit, "a", "b")], "one", "two")
    me = AGENT_NAME
    first = ["user:text", f"{me}:functionCall", f"{me}:functionResponse", f"{me}:text"]
    assert watching.seen["on_user_message"] == [[], first]
    assert watching.seen["before_run"] == [first[:1], [*first, "user:text"]]
    assert watching.seen["before_model"] == [first[:1], first[:3], [*first, "user:text"]]
    assert {tuple(seen) for seen in watching.seen["partial"]} == {
        tuple(first[:1]),
        tuple(first[:3]),
        (*first, "user:text"),
    }
    assert watching.seen["after_run"] == [first, [*first, "user:text", f"{me}:text"]]


class Stamping(BasePlugin):
    """Writes metadata and state onto events."""

    def __init__(self) -> None:
        super().__init__("stamping")
        self.count = 0
        self.stamped: list[tuple[str, str, str, Any]] = []

    async def on_event_callback(self, *, invocation_context, event):
        if not event.partial:
            self.count += 1
            event.custom_metadata = {"number": self.count}
            stamp = (event.id, event.invocation_id, event.author, event.custom_metadata)
            self.stamped.append(stamp)


def stamps(events: Iterable[Event]) -> list[tuple[str, str, str, Any]]:
    return [(e.id, e.invocation_id, e.author, e.custom_metadata) for e in events]


def test_rebuilt_events_keep_ids_author_and_metadata(kit, converse, register):
    stamping = Stamping()
    register(stamping)

    async def script(played, runtime, say):
        await say("one", "two")
        return list((await session_of(played, runtime)).events)

    events = converse([reading(kit), *answers(kit, "a", "b")], script)
    of_agent = [event for event in events if event.author != "user"]
    assert stamps(of_agent) == stamping.stamped
    assert len({event.id for event in events}) == len(events) == 6
    invocations = [event.invocation_id for event in events]
    assert invocations == [invocations[0]] * 4 + [invocations[4]] * 2
    assert invocations[0] != invocations[4]
    answer = events[-1]
    assert (answer.model_version, answer.finish_reason) == ("gemini-2.5-flash", "STOP")


def test_ids_are_the_same_in_every_run_and_unique_in_a_session(kit, converse):
    async def script(played, runtime, say):
        await say("one", "two")
        other = runtime.agent()
        await other.send(kit.message("three"))
        await runtime.settled()
        return stamps((await session_of(played, runtime)).events)

    runs = [converse(answers(kit, "a", "b", "c"), script) for _ in range(2)]
    assert runs[0] == runs[1]
    assert len({stamp[0] for stamp in runs[0]}) == 6
    assert len({stamp[1] for stamp in runs[0]}) == 3


def test_a_conversation_of_1000_turns_makes_no_settled_event(kit, converse, made):
    ask = kit.parts_chunk(kit.call("glob", {"pattern": "*"}), finish="STOP")
    steps = [step for _ in range(3) for step in ([ask], [ask], [kit.text("x", "STOP")])]

    async def script(played, runtime, say):
        said = ({"role": role, "parts": [{"text": "x"}]} for role in ("user", "model") * 500)
        runtime._conversation.replace_history(said)
        await say("one", "two", "three")
        assert made == []
        return await session_of(played, runtime)

    session = converse(steps, script, disable_loop_detection=True)
    assert len(session.events) == 1018
    assert len({event.id for event in session.events}) == len(made) == 1018


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

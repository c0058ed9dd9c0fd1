"""`session.events`: the whole conversation, made when it is read."""

from __future__ import annotations

import copy
import json
import pickle

import pytest
from google.adk.events.event import Event
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.sessions.session import Session

from runtimes.adk.root import AGENT_NAME
from runtimes.adk.session_events import SettledEvent, UnreadEvent

from .session_kit import (
    Stamping,
    answers,
    converse,
    kinds,
    made,
    reading,
    register,
    session_of,
    stamps,
    texts,
)

__all__ = ["converse", "made", "register"]


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

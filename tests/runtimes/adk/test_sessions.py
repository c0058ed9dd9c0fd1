"""`GcliSessionService`: live sessions, and what goes to the conversation."""

from __future__ import annotations

from typing import Any, cast

import pytest
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions.base_session_service import GetSessionConfig
from google.genai import types

from runtimes.adk.notes import Answer, ToolsDone
from runtimes.adk.session_events import live_events
from runtimes.adk.sessions import GcliSessionService
from services.children.calls import CallsOutcome
from services.clock import VirtualClock
from services.history.view import RequestView
from services.model.sdk_contents import WireContent, wire_of

NOTHING = CallsOutcome(parts=[], submitted_output=None, completed=False, aborted=False)
TURN, ANSWER = (Answer(cast("Any", words), "m") for words in ("turn", "answer"))
KEY: dict[str, Any] = {"app_name": "app", "user_id": "u", "session_id": "s"}


class Archive:
    """A history, to which each answer is added as its text."""

    def __init__(self) -> None:
        self.answers = []
        self.expected = None
        self.expect = lambda answer: None
        self.view = RequestView()

    @property
    def turn_ids(self):
        return [f"turn-{number}" for number in range(len(self.view.raw))]

    def answer(self, turn, model) -> None:
        self.answers.append((turn, model))
        self.say(turn, "model")

    def say(self, words, role) -> None:
        self.view.append({"role": role, "parts": [{"text": words}]})


async def fresh() -> tuple[GcliSessionService, Any, Any]:
    archive: Any = Archive()
    service = GcliSessionService(archive, VirtualClock())
    return service, service.open(**KEY), archive


def said(words: str, role: str = "user", note=None, **more) -> Event:
    content = WireContent.of({"role": role, "parts": [{"text": words}]}, note)
    return Event(
        author="user" if role == "user" else "a", invocation_id="i", content=content, **more
    )


def parts(event: Event) -> list[types.Part]:
    return event.content.parts or []


async def test_get_session_hands_out_the_live_object():
    service, session, _ = await fresh()
    assert await service.get_session(**KEY) is session
    assert await service.get_session(**{**KEY, "user_id": "other"}) is None


async def test_filtered_session_is_a_copy():
    service, session, _ = await fresh()
    for number in range(3):
        await service.append_event(session, said(str(number), timestamp=float(number)))
    last = await service.get_session(**KEY, config=GetSessionConfig(num_recent_events=2))
    assert [event.timestamp for event in last.events] == [1.0, 2.0]
    none = await service.get_session(**KEY, config=GetSessionConfig(num_recent_events=0))
    assert none.events == []
    late = await service.get_session(**KEY, config=GetSessionConfig(after_timestamp=2.0))
    late.events.clear()
    late.state["mine"] = True
    assert len(session.events) == 3
    assert session.state == {}


async def test_session_ids_are_used_once():
    service, _, _ = await fresh()
    with pytest.raises(AlreadyExistsError):
        await service.create_session(**KEY)
    with pytest.raises(AlreadyExistsError):
        service.open(**KEY)


async def test_a_session_of_others_is_kept_as_google_adk_keeps_it():
    service, session, archive = await fresh()
    archive.say("hello", "user")
    created = await service.create_session(app_name="app", user_id="u", state={"mine": 1})
    await service.append_event(created, said("answer", "model", ANSWER))
    found = await service.get_session(app_name="app", user_id="u", session_id=created.id)
    assert found is not None
    assert found is not created
    assert [parts(event)[0].text for event in found.events] == ["answer"]
    assert found.state == {"mine": 1}
    assert (session.state, archive.answers) == ({}, [])


async def test_partial_events_pass_through():
    service, session, archive = await fresh()
    partial = said("x", "model", TURN, partial=True)
    partial.actions.state_delta["gone"] = 1
    assert await service.append_event(session, partial) is partial
    assert session.events == []
    assert session.state == {}
    assert archive.answers == []


async def test_events_without_content_count_but_are_never_the_pending_turn():
    service, session, _ = await fresh()
    await service.append_event(session, said("hello"))
    actions = EventActions(state_delta={"kept": 1}, artifact_delta={"file": 0})
    await service.append_event(session, Event(author="a", invocation_id="i", actions=actions))
    assert session.state == {"kept": 1}
    assert service.pending_parts(session) == [{"text": "hello"}]
    service.discard_pending(session)
    assert [event.author for event in session.events] == ["a"]
    service.settle(session)
    assert session.state == {"kept": 1}
    assert [event.actions.artifact_delta for event in session.events] == [{"file": 0}]


async def test_each_event_is_appended_once_and_moves_the_time():
    service, session, _ = await fresh()
    await service.append_event(session, said("x", timestamp=12.5))
    assert len(session.events) == 1
    assert session.last_update_time == 12.5


async def test_answers_go_to_the_archive():
    service, session, archive = await fresh()
    await service.append_event(session, said("x", "model", TURN))
    assert archive.answers == [("turn", "m")]


@pytest.mark.parametrize("note", [ToolsDone(()), NOTHING])
async def test_tool_responses_settle_their_round(note):
    service, session, _ = await fresh()
    await service.append_event(session, said("hello"))
    await service.append_event(session, said("call", "model"))
    done = said("response", "user", note)
    await service.append_event(session, done)
    assert live_events(session.events) == [done]


async def test_pending_is_the_user_turn_at_the_end():
    service, session, _ = await fresh()
    assert service.pending(session) is None
    assert service.pending_parts(session) == []
    await service.append_event(session, said("hello"))
    assert service.pending_parts(session) == [{"text": "hello"}]
    service.discard_pending(session)
    assert session.events == []
    await service.append_event(session, said("x", "model"))
    service.discard_pending(session)
    assert len(session.events) == 1
    service.settle(session)
    assert session.events == []


async def test_plain_content_counts_as_pending_too():
    service, session, _ = await fresh()
    content = types.Content(role="user", parts=[types.Part(text="plain")])
    await service.append_event(session, Event(author="user", invocation_id="i", content=content))
    assert service.pending_parts(session) == [{"text": "plain"}]


async def test_every_event_of_the_user_since_the_last_answer_is_pending():
    service, session, archive = await fresh()
    await service.append_event(session, said("answer", "model"))
    for words in ("first", "second"):
        await service.append_event(session, said(words))
    pending = service.pending(session)
    assert pending is not None
    assert wire_of(pending) == {"role": "user", "parts": [{"text": "first"}, {"text": "second"}]}
    assert [event.content.parts[0].text for event in session.events[1:]] == ["first", "second"]
    service.extend_pending(session, [{"text": "other"}])
    assert service.pending_parts(session) == [{"text": "other"}]
    archive.say("other", "user")
    service.settle(session)
    assert [wire_of(event.content)["parts"] for event in session.events] == [[{"text": "other"}]]


async def test_state_changes_are_kept_and_temporary_ones_are_not_stored():
    service, session, _ = await fresh()
    actions = EventActions(state_delta={"kept": 1, "temp:gone": 2})
    event = await service.append_event(session, said("x", actions=actions))
    assert session.state == {"kept": 1, "temp:gone": 2}
    assert event.actions.state_delta == {"kept": 1}
    service.settle(session)
    assert session.state == {"kept": 1}


async def test_sessions_follow_a_history_that_was_replaced():
    service, session, archive = await fresh()
    other = service.open(**{**KEY, "session_id": "t"})
    archive.say("hello", "user")
    service.refresh(session)
    archive.view.replace([{"role": "user", "parts": [{"text": "summary"}]}])
    await service.append_event(session, said("live"))
    for each, texts in ((session, ["summary", "live"]), (other, ["summary"])):
        found = await service.get_session(**{**KEY, "session_id": each.id})
        assert found is each
        assert [parts(event)[0].text for event in found.events] == texts


async def test_a_reset_leaves_neither_events_nor_state():
    service, session, archive = await fresh()
    archive.say("hello", "user")
    actions = EventActions(state_delta={"gone": 1, "user:kept": 2})
    await service.append_event(session, said("hello", actions=actions))
    service.settle(session)
    assert [event.actions.state_delta for event in session.events] == [actions.state_delta]
    archive.view.replace([])
    service.reset()
    service.refresh(session)
    assert session.events == []
    assert session.state == {"user:kept": 2}


async def test_an_event_appended_to_a_copy_reaches_the_session():
    service, session, _ = await fresh()
    config = GetSessionConfig(num_recent_events=0)
    copy = await service.get_session(**KEY, config=config)
    event = said("x", actions=EventActions(state_delta={"kept": 1}))
    assert copy is not None
    await service.append_event(copy, event)
    assert copy.events == session.events == [event]
    assert copy.state == session.state == {"kept": 1}


async def test_filters_count_settled_events():
    service, session, archive = await fresh()
    for words in "ab":
        await service.append_event(session, said(words, timestamp=1.0))
        archive.say(words, "user")
        await service.append_event(session, said("answer", "model", ANSWER))
        service.settle(session)
    await service.append_event(session, said("live", timestamp=9e12))
    recent = await service.get_session(**KEY, config=GetSessionConfig(num_recent_events=3))
    assert [parts(event)[0].text for event in recent.events] == ["b", "answer", "live"]
    late = await service.get_session(**KEY, config=GetSessionConfig(after_timestamp=9e12))
    assert [parts(event)[0].text for event in late.events] == ["live"]


async def test_a_list_that_a_plugin_put_into_a_session_does_not_stay():
    service, session, archive = await fresh()
    archive.say("hello", "user")
    session.events = []
    await service.append_event(session, said("x", "model", ANSWER))
    service.settle(session)
    assert [event.content.role for event in session.events] == ["user", "model"]


async def test_list_and_delete():
    service, session, _ = await fresh()
    other = await service.create_session(app_name="app", user_id="v", session_id="t")
    await service.append_event(session, said("x", timestamp=9e9))
    listed = await service.list_sessions(app_name="app")
    assert [found.id for found in listed.sessions] == [other.id, session.id]
    assert listed.sessions[1].events == []
    assert len((await service.list_sessions(app_name="app", user_id="u")).sessions) == 1
    await service.delete_session(**KEY)
    assert await service.get_session(**KEY) is None
    with pytest.raises(SessionNotFoundError):
        await service.append_event(session, said("y"))
    await service.delete_session(**KEY)

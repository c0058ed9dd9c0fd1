"""`InspectingAdkPlugin`: each rule, broken on purpose, ends the run of a cassette."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from google.adk.events.event import Event
from google.adk.models.llm_request import LlmRequest
from google.adk.sessions.session import Session
from google.genai import types

from harness.cassette.load import build_cassette
from harness.replay.handover import inspected
from harness.replay.runner import run_cassette
from runtimes.adk import responses, session_events
from runtimes.adk.plugins import inspecting
from runtimes.adk.plugins.inspecting import BrokenRule
from runtimes.adk.request_edits import RequestBase
from runtimes.adk.session_events import SettledEvent
from runtimes.adk.sessions import GcliSessionService
from runtimes.adk.tools import DeclaredTools
from services.model.sdk_contents import TypedHistory


def _answer(text: str) -> dict[str, Any]:
    content = {"role": "model", "parts": [{"text": text}]}
    candidate = {"content": content, "finishReason": "STOP"}
    usage = {"promptTokenCount": 7, "candidatesTokenCount": 1, "totalTokenCount": 8}
    return {"stream": [{"candidates": [candidate], "usageMetadata": usage}]}


def _errors(*script: dict[str, Any]) -> str:
    document = {
        "cassette": 1,
        "name": "family/case",
        "session": {"model": "gemini-2.5-flash", "approval_mode": "yolo"},
        "script": list(script),
        "model": [_answer(text) for text in ("one", "two", "three")],
    }
    cassette = build_cassette(document, Path("/corpus/family/case.yaml"), Path("/corpus"))
    events = run_cassette(cassette, "adk").events
    return "\n".join(event["message"] for event in events if event["type"] == "error")


_SENDS = ({"send": "a"}, {"send": "b"}, {"send": "c"})
_REWOUND_TWICE = (*_SENDS[:2], {"rewind": {"to": 2}}, {"rewind": {"to": 0}}, {"send": "c"})
_REWOUND = ({"send": "a"}, {"send": "b"}, {"rewind": {"to": 0}}, {"send": "c"})


def test_the_harness_plays_the_variant_that_inspects() -> None:
    assert inspected("adk") == "adk@runtimes.adk.plugins.inspecting:InspectingAdkPlugin"
    assert inspected("adk@other:plugin") == "adk@other:plugin"
    assert inspected("legacy") == "legacy"


@pytest.mark.parametrize("script", [_SENDS, _REWOUND, _REWOUND_TWICE])
def test_nothing_is_broken(script: tuple[dict[str, Any], ...]) -> None:
    assert _errors(*script) == ""


def test_a_turn_keeps_its_event(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_events, "_places", lambda *_: {})
    assert "not the event that the turn had" in _errors(*_SENDS)


def test_ids_are_given_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GcliSessionService, "next_id", lambda _: "the id")
    assert "an id is empty or there twice" in _errors(*_SENDS)


def test_an_event_keeps_its_invocation(monkeypatch: pytest.MonkeyPatch) -> None:
    made = SettledEvent.made

    def elsewhere(self: SettledEvent) -> Any:
        return made(self).model_copy(update={"invocation_id": "e-0"})

    monkeypatch.setattr(SettledEvent, "made", elsewhere)
    assert "another author or invocation" in _errors(*_SENDS)


def test_what_an_agent_said_belongs_to_an_invocation() -> None:
    def event(author: str, invocation: str) -> Event:
        content = types.Content(parts=[types.Part(text="x")])
        event_id = f"{author} {invocation}"
        return Event(id=event_id, author=author, invocation_id=invocation, content=content)

    asked = event("user", "e-1")
    inspecting._check_fresh([asked, event("agent", "e-1")], inspecting._Known())
    with pytest.raises(BrokenRule, match="in an invocation of its own: agent e-2"):
        inspecting._check_fresh([asked, event("agent", "e-2")], inspecting._Known())


def test_state_is_rewound(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(self: GcliSessionService) -> None:
        self._turns.follow(keeps_state=False)

    monkeypatch.setattr(GcliSessionService, "rewound", nothing)
    assert "the state is not that of the events" in _errors(*_REWOUND)


@pytest.mark.parametrize(
    ("name", "rule"), [("_finish_reason", "finish reason"), ("_usage", "usage")]
)
def test_fields_of_answers(monkeypatch: pytest.MonkeyPatch, name: str, rule: str) -> None:
    monkeypatch.setattr(responses, name, lambda _: None)
    assert rule in _errors({"send": "a"})


def test_a_session_that_is_not_there_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    known = GcliSessionService.get_session

    async def made(self: GcliSessionService, **names: Any) -> Session:
        empty = Session(id=names["session_id"], app_name="a", user_id="u")
        return await known(self, **names) or empty

    monkeypatch.setattr(GcliSessionService, "get_session", made)
    assert "a session that is not there" in _errors({"send": "a"})


@pytest.mark.parametrize(
    ("owner", "name", "gives", "rule"),
    [
        (RequestBase, "write_routed", None, "no model"),
        (RequestBase, "write_instruction", "", "no system instruction"),
        (TypedHistory, "follow", (), "not the contents of the history"),
        (RequestBase, "write_tools", None, "not the tools of the session"),
    ],
)
def test_a_request_shows_what_is_sent(
    monkeypatch: pytest.MonkeyPatch, owner: type, name: str, gives: Any, rule: str
) -> None:
    monkeypatch.setattr(owner, name, lambda *_, **__: gives)
    assert rule in _errors({"send": "a"})


def test_the_table_of_tools_is_that_of_the_declarations(monkeypatch: pytest.MonkeyPatch) -> None:
    write = RequestBase.write_tools

    def forgetting(self: RequestBase, request: LlmRequest, declared: DeclaredTools) -> None:
        write(self, request, declared)
        request.tools_dict.clear()

    monkeypatch.setattr(RequestBase, "write_tools", forgetting)
    assert "not the table of its tools" in _errors({"send": "a"})

"""Cassettes through a client of A2A."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")

from harness.cassette.load import build_cassette, load_cassette
from harness.parity.compare import compare_observations
from harness.parity.divergence import ChannelName
from harness.replay.client import Unplayable
from harness.replay.observation import Observation
from harness.replay.runner import run_cassette
from services.wire import JsonObject
from surfaces.a2a.voice import TaskVoice

CASSETTES = Path(__file__).parents[4] / "cassettes"
SIDES = ("a2a:legacy", "a2a:adk")


def played(name: str, side: str) -> Observation:
    return run_cassette(load_cassette(CASSETTES / f"{name}.yaml", CASSETTES), side)


def requests(seen: Observation, method: str) -> Sequence[JsonObject]:
    messages = [each["message"] for each in seen.wire if each["from"] == "client"]
    return [message for message in messages if message["method"] == method]


def parts(seen: Observation, sender: str) -> Sequence[JsonObject]:
    """The parts of all messages of the client, or of all status updates of the agent."""
    messages = [each["message"] for each in seen.wire if each["from"] == sender]
    said = [
        message["params"].get("message")
        if sender == "client"
        else message.get("result", {}).get("status", {}).get("message")
        for message in messages
    ]
    return [part for each in said if each for part in each["parts"]]


@pytest.mark.parametrize("side", SIDES)
def test_a_prompt_is_a_message_and_the_answer_its_updates(side: str) -> None:
    seen = played("text/text", side)

    assert seen.error is None
    (prompt,) = requests(seen, "message/stream")
    assert prompt["params"]["message"]["parts"] == [{"kind": "text", "text": "Say hi"}]
    assert {"kind": "text", "text": "Hello there."} in parts(seen, "agent")
    last = seen.wire[-1]["message"]
    assert (last["id"], last["result"]["final"]) == (prompt["id"], True)
    assert last["result"]["status"]["state"] == "completed"


@pytest.mark.parametrize(
    "name",
    ["mcp/asked", "ask_user/asked_twice_at_once", "text/model_change", "abort/between_chunks"],
)
def test_both_runtimes_exchange_the_same(name: str) -> None:
    control, candidate = (played(name, side) for side in SIDES)

    assert control.error is None
    assert len(control.wire) > 4
    assert compare_observations(control, candidate).divergences == ()


@pytest.mark.parametrize("side", SIDES)
def test_questions_get_the_answers_of_the_cassette(side: str) -> None:
    seen = played("mcp/asked", side)

    asked = [part["data"] for part in parts(seen, "agent") if "data" in part]
    offered = {
        call["toolCallId"]: {option["id"] for option in call["confirmationRequest"]["options"]}
        for call in asked
        if "confirmationRequest" in call
    }
    chosen = [part["data"] for part in parts(seen, "client") if "data" in part]
    assert [each["selectedOptionId"] for each in chosen] == [
        "proceed_once",
        "proceed_always_tool",
        "proceed_always_server",
    ]
    assert all(each["selectedOptionId"] in offered[each["toolCallId"]] for each in chosen)


@pytest.mark.parametrize("side", SIDES)
def test_questions_at_once_are_answered_in_one_message(side: str) -> None:
    seen = played("policy/shell_question_after_others", side)

    messages = [
        request["params"]["message"]["parts"] for request in requests(seen, "message/stream")
    ]
    assert seen.error is None
    assert max(sum("data" in part for part in each) for each in messages) == 2


@pytest.mark.parametrize("side", SIDES)
def test_an_abort_is_a_cancel(side: str) -> None:
    seen = played("abort/between_chunks", side)

    assert len(requests(seen, "tasks/cancel")) == 1
    states = [
        each["message"]["result"]["status"]["state"]
        for each in seen.wire
        if each["from"] == "agent" and each["message"].get("result", {}).get("final")
    ]
    assert states[-1] == "canceled"


def test_a_client_that_gets_no_text_is_seen_on_the_wire_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    control = played("text/text", SIDES[0])
    monkeypatch.setattr(TaskVoice, "text", lambda self, kind, text: None)
    candidate = played("text/text", SIDES[1])

    divergences = compare_observations(control, candidate).divergences
    assert {each.channel for each in divergences} == {ChannelName.WIRE}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"script": [{"send": "a"}, {"rewind": 0}, {"send": "b"}]}, "no request for `Rewind`"),
        ({"script": [{"send": "a"}, {"set_approval_mode": "yolo"}]}, "another approval mode"),
        (
            {"script": [{"send": {"content": [{"type": "media", "uri": "x"}]}}]},
            "a prompt of texts",
        ),
    ],
)
def test_what_no_client_can_send_is_refused(changes: Any, words: str, tmp_path: Path) -> None:
    document = {
        "cassette": 1,
        "name": "x/y",
        "session": {"model": "gemini-2.5-flash"},
        "script": [{"send": "a"}],
        "model": [{"text": "ok"}],
        **changes,
    }
    cassette = build_cassette(document, tmp_path / "x/y.yaml", tmp_path)
    with pytest.raises(Unplayable, match=words):
        run_cassette(cassette, SIDES[0])

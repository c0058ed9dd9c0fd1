"""Cassettes through an ACP client."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("acp")

from acp.schema import RequestPermissionRequest, SessionNotification

from harness.cassette.load import build_cassette, load_cassette
from harness.parity.compare import compare_observations
from harness.parity.divergence import ChannelName
from harness.replay.client import Unplayable
from harness.replay.observation import Observation
from harness.replay.runner import run_cassette
from services.wire import JsonObject
from surfaces.acp.turn import Turn

CASSETTES = Path(__file__).parents[4] / "cassettes"
SIDES = ("acp:legacy", "acp:adk")


def played(name: str, side: str) -> Observation:
    return run_cassette(load_cassette(CASSETTES / f"{name}.yaml", CASSETTES), side)


def sent(seen: Observation, sender: str, method: str) -> Sequence[JsonObject]:
    messages = [each["message"] for each in seen.wire if each["from"] == sender]
    return [message for message in messages if message.get("method") == method]


def answers(seen: Observation) -> Sequence[JsonObject]:
    """The results that the client sent."""
    messages = [each["message"] for each in seen.wire if each["from"] == "client"]
    return [message["result"] for message in messages if "result" in message]


@pytest.mark.parametrize("side", SIDES)
def test_a_prompt_is_a_request_and_the_answer_its_updates(side: str) -> None:
    seen = played("text/text", side)

    assert seen.error is None
    assert [event["type"] for event in seen.events][-1] == "agent_end"
    (prompt,) = sent(seen, "client", "session/prompt")
    assert prompt["params"]["prompt"] == [{"type": "text", "text": "Say hi"}]
    updates = [each["params"]["update"] for each in sent(seen, "agent", "session/update")]
    assert {"type": "text", "text": "Hello there."} in [each.get("content") for each in updates]
    last = seen.wire[-1]["message"]
    assert (last["id"], last["result"]["stopReason"]) == (prompt["id"], "end_turn")


@pytest.mark.parametrize("name", ["mcp/asked", "abort/mid_stream_wait"])
def test_both_runtimes_exchange_the_same(name: str) -> None:
    control, candidate = (played(name, side) for side in SIDES)

    assert control.error is None
    assert len(control.wire) > 5
    assert compare_observations(control, candidate).divergences == ()


@pytest.mark.parametrize("side", SIDES)
def test_permission_requests_get_the_answers_of_the_cassette(side: str) -> None:
    seen = played("mcp/asked", side)

    for asked in sent(seen, "agent", "session/request_permission"):
        RequestPermissionRequest.model_validate(asked["params"])
    assert [answer["outcome"] for answer in answers(seen)] == [
        {"outcome": "selected", "optionId": option}
        for option in ("proceed_once", "proceed_always_tool", "proceed_always_server")
    ]
    for update in sent(seen, "agent", "session/update"):
        SessionNotification.model_validate(update["params"])


@pytest.mark.parametrize("side", SIDES)
def test_an_abort_is_a_cancel(side: str) -> None:
    seen = played("abort/mid_stream_wait", side)

    assert len(sent(seen, "client", "session/cancel")) == 1
    first = sent(seen, "client", "session/prompt")[0]
    messages = [each["message"] for each in seen.wire if each["from"] == "agent"]
    (response,) = [each for each in messages if each.get("id") == first["id"]]
    assert response["result"] == {"stopReason": "cancelled"}


def test_a_client_that_gets_no_text_is_seen_on_the_wire_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    control = played("text/text", SIDES[0])
    monkeypatch.setattr(Turn, "_message", lambda self, message: None)
    candidate = played("text/text", SIDES[1])

    divergences = compare_observations(control, candidate).divergences
    assert {each.channel for each in divergences} == {ChannelName.WIRE}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"script": [{"send": "/about"}]}, "is a command"),
        ({"script": [{"send": "a"}, {"reset": True}, {"send": "b"}]}, "no request for `Reset`"),
        (
            {"script": [{"send": {"content": [{"type": "text", "text": t} for t in "ab"]}}]},
            "one text",
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

"""Real agents asked from whole sessions: the same in both runtimes, flag off and on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.cassette.format import Cassette
from harness.cassette.load import build_cassette
from harness.replay.observation import Observation
from harness.replay.runner import run_cassette
from tests.services.subagents.remote.conftest import Server

TOKEN = "token-81d02e5c66"


def asking(server: Server, card: str, *queries: str, sessions: bool, auth: str = "") -> Cassette:
    """A session that asks one agent one thing after the other."""
    definition = f"---\nkind: remote\nname: far\nagent_card_url: {server.card(card)}\n{auth}---\n"
    model: list[dict[str, Any]] = []
    for query in queries:
        call = {"name": "invoke_agent", "args": {"agent_name": "far", "prompt": query}}
        content = {"role": "model", "parts": [{"functionCall": call}]}
        model.append({"stream": [{"candidates": [{"content": content, "finishReason": "STOP"}]}]})
    document = {
        "cassette": 1,
        "name": "family/case",
        "session": {
            "model": "gemini-2.5-flash",
            "approval_mode": "yolo",
            "settings": {"adk": {"agentSessionSubagentEnabled": sessions}},
        },
        "home_files": {".gemini/agents/far.md": definition},
        "script": [{"send": "x"}],
        "model": [*model, {"text": "done"}],
    }
    return build_cassette(document, Path("/corpus/family/case.yaml"), Path("/corpus"))


def answers(seen: Observation) -> list[str]:
    """The results of calls that the model received."""
    assert seen.error is None
    return [
        part["functionResponse"]["response"]["output"]
        for content in seen.transcript
        for part in content["parts"]
        if "functionResponse" in part
    ]


@pytest.mark.parametrize("sessions", [False, True], ids=["direct", "session"])
@pytest.mark.parametrize("runtime", ["legacy", "adk"])
@pytest.mark.sampled(2)
def test_an_agent_is_asked_and_asks_back(server: Server, runtime: str, sessions: bool) -> None:
    seen = run_cassette(asking(server, "old", "work", "ask", "blue", sessions=sessions), runtime)
    assert answers(seen) == [
        "Looking. Found it. Done.\n\nArtifact (report):\none two",
        "Which colour?",
        "You chose blue.",
    ]


@pytest.mark.parametrize("runtime", ["legacy", "adk"])
def test_a_second_session_begins_its_own_conversation(server: Server, runtime: str) -> None:
    cassette = asking(server, "old", "ask", sessions=True)
    assert answers(run_cassette(cassette, runtime)) == ["Which colour?"]
    assert answers(run_cassette(cassette, runtime)) == ["Which colour?"]


@pytest.mark.parametrize("sessions", [False, True], ids=["direct", "session"])
@pytest.mark.parametrize("runtime", ["legacy", "adk"])
@pytest.mark.parametrize("card", ["now", "locked.bearer"])
def test_nothing_that_is_observed_has_a_credential(
    server: Server, runtime: str, sessions: bool, card: str
) -> None:
    auth = f"auth:\n  type: http\n  scheme: Bearer\n  token: {TOKEN}\n"
    cassette = asking(server, card, "echo", "say hello", sessions=sessions, auth=auth)
    seen = run_cassette(cassette, runtime)
    echoed, said = answers(seen)
    assert "authorization=Bearer REDACTED" in echoed
    assert said == "hello"
    assert TOKEN not in repr(seen)

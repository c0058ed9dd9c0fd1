"""Whole sessions with real agents, in the published core and in both runtimes: no difference.

Over protocol 0.3, all that the core speaks. What is known to differ is in `docs/subagents.md`.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from harness.cassette.format import Cassette
from harness.cassette.load import build_cassette
from harness.replay.observation import Observation
from harness.replay.runner import run_cassette
from harness.triage.pairs import compared
from tests.runtimes.upstream.stand_ins import calls, needs_core
from tests.services.subagents.remote.conftest import Server

TALK = ("say hello", "work", "ask", "blue", "fail", "reject", "withdraw", "permit", "yes", "parts")
CASES: dict[str, tuple[dict[str, Any], str, tuple[str, ...]]] = {
    "streaming": ({"path": "/old/rpc"}, "", TALK),
    "at once": ({"path": "/old/rpc", "streaming": False}, "", TALK[:5]),
    "over http": ({"path": "/oldrest", "rest": True}, "", ("say hello", "ask", "blue", "fail")),
    "broken off": ({"path": "/dropping/rpc"}, "", ("x", "y")),
    "refused": ({"path": "/refusing/rpc?code=-32001&how=500", "streaming": False}, "", ("x",)),
    "let in": ({"path": "/locked/bearer/rpc"}, "token-81d02e5c66", ("say a", "say b")),
    # Too short to be looked for in what the agent says.
    "not let in": ({"path": "/locked/bearer/rpc"}, "bad", ("a", "b", "c")),
}
"""Where the agent is, the token that it is given, what it is asked in one session."""


def cassette(server: Server, name: str, *, sessions: bool) -> Cassette:
    """A session that asks the agent of a case one thing after the other."""
    where, token, queries = CASES[name]
    card = {
        "name": "Far",
        "description": "Knows prices.",
        "url": server.url + where["path"],
        "preferredTransport": "HTTP+JSON" if where.get("rest") else "JSONRPC",
        "protocolVersion": "0.3.0",
        "capabilities": {"streaming": where.get("streaming", True)},
    }
    lines = [
        "kind: remote",
        "name: far",
        "description: Asks.",
        f"agent_card_json: '{dumped(card)}'",
    ]
    if token:
        lines += ["auth:", "  type: http", "  scheme: Bearer", f"  token: {token}"]
    document = {
        "cassette": 1,
        "name": "family/case",
        "session": {
            "model": "gemini-2.5-flash",
            "approval_mode": "yolo",
            # Only the core declares its tools for plans, and no request here needs them.
            "settings": {"plan": False, "adk": {"agentSessionSubagentEnabled": sessions}},
        },
        "home_files": {".gemini/agents/far.md": "\n".join(["---", *lines, "---", ""])},
        "script": [{"send": "x"}],
        "model": [
            *(calls("invoke_agent", agent_name="far", prompt=query) for query in queries),
            {"text": "done"},
        ],
    }
    return build_cassette(document, Path("/corpus/family/case.yaml"), Path("/corpus"))


def dumped(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def asked(server: Server, since: int) -> list[str]:
    """The calls that reached the server since then; ids as numbers, in the order of their birth."""
    found, numbers = [], {None: "none"}
    for request in server.seen()["asked"][since:]:
        # Under the core the session's own services load the agent as well, and ask it nothing.
        if request["method"] == "GET" or "body" not in request:
            continue
        body = json.loads(request["body"] or "{}")
        params = body.get("params", body)
        message = params.get("message", {})
        message["messageId"] = "a message"
        for key in ("contextId", "taskId"):
            message[key] = numbers.setdefault(message.get(key), str(len(numbers)))
        secret = request["headers"].get("authorization")
        found.append(dumped([request["path"], body.get("method"), params, secret]))
    return found


@needs_core
@pytest.mark.parametrize(
    ("name", "sessions"),
    [
        ("streaming", False),
        ("streaming", True),
        ("at once", True),
        ("over http", False),
        ("broken off", True),
        ("refused", False),
        ("let in", True),
        ("not let in", False),
    ],
)
@pytest.mark.slow
def test_the_core_and_both_runtimes_send_receive_and_show_the_same(
    server: Server, name: str, sessions: bool
) -> None:
    seen: list[Observation] = []
    heard: list[list[str]] = []
    for runtime in ("upstream", "legacy", "adk"):
        before = len(server.seen()["asked"])
        seen.append(run_cassette(cassette(server, name, sessions=sessions), runtime))
        heard.append(asked(server, before))
    for control, candidate in pairwise(seen):
        result = compared(control, candidate, name)
        assert (result.blockers, result.divergences) == ((), ())
    assert len(heard[0]) >= len(CASES[name][2])
    assert heard[0] == heard[1] == heard[2]

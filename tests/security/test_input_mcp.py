"""MCP servers that keep a client busy: a prompt starts and ends whatever they give notice of."""

from __future__ import annotations

import asyncio
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from harness.cassette.load import build_cassette
from harness.parity.compare import compare_observations
from harness.parity.divergence import Divergence
from harness.parity.rules import TIME_KEYS
from harness.replay.observation import Observation
from harness.replay.runner import run_cassette
from services.abort import AbortController
from services.background import background_tasks
from services.clock import VirtualClock, virtual_loop
from services.mcp.refresh import Refresher

SERVER = """
import json, sys
def send(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
    sys.stdout.flush()
listings = 0
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message or "method" not in message:
        continue
    method = message["method"]
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "serverInfo": {"name": "s", "version": "1"},
                  "capabilities": {"tools": {"listChanged": True}}}
    elif method == "tools/list":
        listings += 1
        open("listings", "w").write(str(listings))
        name = "tool" + (str(listings) if "changing" in sys.argv else "")
        result = {"tools": [{"name": name, "inputSchema": {"type": "object"}}]}
        if "before" in sys.argv:
            send(method="notifications/tools/list_changed")
    else:
        result = {}
    send(id=message["id"], result=result)
    if method == "tools/list" and "before" not in sys.argv:
        send(method="notifications/tools/list_changed")
"""


def run(tmp_path: Path, runtime: str, *switches: str) -> Observation:
    server = tmp_path / "server.py"
    server.write_text(SERVER)
    configured = {"command": sys.executable, "args": [str(server), *switches], "trust": True}
    document = {
        "cassette": 1,
        "name": "x",
        "session": {"model": "gemini-2.5-flash", "settings": {"mcpServers": {"s": configured}}},
        "script": [{"send": "one"}, {"send": "two"}],
        "model": [{"text": "first"}, {"text": "second"}],
    }
    return run_cassette(build_cassette(document, tmp_path / "x.yaml"), runtime, deadline_s=30)


@pytest.mark.parametrize("switches", [(), ("before",), ("changing", "before"), ("changing",)])
def test_a_server_that_gives_notice_after_each_listing_keeps_no_prompt_from_starting(
    tmp_path: Path, switches: tuple[str, ...]
) -> None:
    legacy, adk = (run(tmp_path, runtime, *switches) for runtime in ("legacy", "adk"))

    for seen in (legacy, adk):
        assert seen.error is None
        said = [part.get("text") for turn in seen.transcript for part in turn["parts"]]
        assert said[-3:] == ["first", "two", "second"]
        assert int(seen.workspace_changes["listings"] or "0") < 60
    if not switches:
        divergences = compare_observations(legacy, adk).divergences
        # How many listings fit before a prompt depends on the real speed of the server's process.
        elsewhere = [each for each in divergences if str(each.channel) != "workspace"]
        assert all(is_a_listing_more_or_less(each) for each in elsewhere), elsewhere


def is_a_listing_more_or_less(divergence: Divergence) -> bool:
    """Whether only times differ, by a whole number of the pauses between two listings."""
    if divergence.path.rpartition(".")[2] not in TIME_KEYS:
        return False
    one, other = (
        datetime.fromisoformat(str(value)) for value in (divergence.control, divergence.candidate)
    )
    return (one - other) % timedelta(milliseconds=500) == timedelta(0)


async def rounds_of(notices: int, *, waits: int) -> list[int]:
    """How many listings there were after each wait; the server gives notice at its first ones."""
    clock, listed, counts = VirtualClock(), 0, []
    async with background_tasks() as tasks:

        async def fetch(unchanged: object) -> bool:
            nonlocal listed
            listed += 1
            if listed <= notices:
                refresher.notice()
            await asyncio.sleep(0)
            return True

        async def changed() -> None:
            await asyncio.sleep(0)

        refresher = Refresher(
            what="tools of s",
            fetch_and_replace=fetch,
            changed=changed,
            tasks=tasks,
            clock=clock,
            leaving=AbortController().signal,
        )
        refresher.notice()
        for _ in range(waits):
            await refresher.settled()
            counts.append(listed)
    return counts


@pytest.mark.parametrize(
    ("notices", "counts"), [(0, [1, 1]), (3, [4, 4]), (1_000, [10, 20]), (12, [10, 13])]
)
def test_a_list_is_fetched_ten_times_at_most_before_the_next_wait(
    notices: int, counts: list[int]
) -> None:
    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        assert runner.run(rounds_of(notices, waits=2)) == counts

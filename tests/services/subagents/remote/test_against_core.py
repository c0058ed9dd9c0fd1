"""The same calls through the published core: what it answers and shows is what we do."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from runtimes.published import DEFAULT_VERSION, find_node, package_folder
from services.abort import AbortController
from services.wire import js_json
from tests.runtimes.upstream.stand_ins import needs_core
from tests.services.subagents.remote.conftest import Open, Server, agent, on_virtual_time

CORE = Path(__file__).with_name("core.mjs")
OLD = ("old", "old-still")
QUERIES = ("say hello", "work", "parts", "ask", "permit", "fail", "reject", "withdraw")
RAW = ("dropping", "nothing", "absent", "locked/bearer")
"""Agents without a card of the old protocol."""
REFUSALS = ((-32050, "500"), (-32050, ""), (-32001, "500"), (-32001, ""), (-32050, "event"))
"""Codes of errors, one of which has a name, and how they are sent."""


def jobs(server: Server) -> list[dict[str, Any]]:
    """Calls, each in a session of its own: over protocol 0.3, all that the core speaks."""
    found: list[dict[str, Any]] = []
    for session in (False, True):
        for name in OLD:
            card = {"agentCardUrl": server.card(name)}
            found += [{"card": card, "session": session, "query": query} for query in QUERIES]
        for name in RAW:
            for streaming in (True, False):
                text = json.dumps(
                    {"url": f"{server.url}/{name}/rpc", "capabilities": {"streaming": streaming}}
                )
                found.append({"card": {"agentCardJson": text}, "session": session, "query": "x"})
        for code, how in REFUSALS:
            for streaming in (True,) if how == "event" else (False, True) if how else (False,):
                found += [
                    {"card": {"agentCardJson": json.dumps(card)}, "session": session, "query": "x"}
                    for card in refusing(server, code, how, streaming=streaming)
                ]
        for kind in ("gone", "private", "list"):
            card = {"agentCardUrl": server.bad(kind)}
            found.append({"card": card, "session": session, "query": "x"})
        card = {"agentCardJson": json.dumps({"url": "http://127.0.0.1:9/", "capabilities": {}})}
        found.append({"card": card, "session": session, "query": "x"})
        waiting = {"card": {"agentCardUrl": server.card("old")}, "session": session}
        found.append({**waiting, "query": "wait", "abortAt": "Waiting."})
        first = {"card": {"agentCardUrl": server.card("first")}, "session": session}
        found.append({**first, "query": "loud"})
    return found


def refusing(server: Server, code: int, how: str, *, streaming: bool) -> list[dict[str, Any]]:
    """Cards of an agent that answers with an error, over JSON-RPC and over HTTP+JSON."""
    capabilities = {"streaming": streaming}
    rest = {"url": f"{server.url}/refusing/{code}/{how or '500'}", "capabilities": capabilities}
    return [
        {"url": f"{server.url}/refusing/rpc?code={code}&how={how}", "capabilities": capabilities},
        {**rest, "preferredTransport": "HTTP+JSON"},
    ]


@pytest.fixture
def theirs(server: Server) -> list[str]:
    """What the core answers, a line for each job."""
    command: list[Any] = [
        find_node(),
        CORE,
        package_folder(DEFAULT_VERSION),
        json.dumps(jobs(server)),
    ]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return [line for line in run.stdout.splitlines() if line.startswith('{"llmContent"')]


@needs_core
@on_virtual_time
@pytest.mark.slow
async def test_every_call_is_answered_and_shown_as_the_core_does(
    server: Server, opened: Open, theirs: list[str]
) -> None:
    asked = jobs(server)
    ours = [await answered(opened, job) for job in asked]
    assert len(theirs) == len(asked)
    different = [
        (job, their, our)
        for job, their, our in zip(asked, theirs, ours, strict=True)
        if json.loads(their) != json.loads(our) and not job_differs(job)
    ]
    assert different == []


def job_differs(job: dict[str, Any]) -> bool:
    """A missing response: the core reports its parser's error, we report the response."""
    text = job["card"].get("agentCardJson", "")
    return "/nothing/" in text and '"streaming": false' in text


async def answered(opened: Open, job: dict[str, Any]) -> str:
    abort = AbortController()
    card = job["card"]
    definition = agent(card_url=card.get("agentCardUrl"), card_json=card.get("agentCardJson"))
    async with opened() as session:
        result = await session.call(
            definition,
            job["query"],
            sessions=job["session"],
            abort=abort,
            on_show=lambda shown: (
                abort.abort()
                if "abortAt" in job and shown.get("result") == job["abortAt"]
                else None
            ),
        )
    return js_json(
        {
            "llmContent": result.llm_content,
            "returnDisplay": result.return_display,
            "shown": session.shown,
        }
    )


@pytest.mark.parametrize("kind", [False, True])
def test_jobs_are_of_both_kinds(kind: bool) -> None:
    assert sum(job["session"] is kind for job in jobs(Server("http://h"))) > 20

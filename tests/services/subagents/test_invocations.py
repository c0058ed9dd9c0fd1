"""Both invocations of a local agent: what they show, publish and bring back."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from typing import Any

import pytest

from services.abort import AbortError
from services.subagents.definition import ABORTED_OUTPUT, AgentOutput, TerminateMode
from services.subagents.subagents import Subagents
from services.threads import ThreadPaths
from services.wire import JsonObject, js_json
from tests.runtimes.upstream.stand_ins import needs_core
from tests.services.subagents.core_twin import from_core
from tests.services.subagents.invocation_kit import Bench, NamedError, StandInChild, agent, ended

GOAL = {"result": "done", "terminate_reason": "GOAL"}
BOTH = pytest.mark.parametrize("session", [False, True], ids=["direct", "session"])


def thought(text: Any) -> JsonObject:
    return {"type": "THOUGHT_CHUNK", "data": {"text": text}}


def begun(call_id: str, **data: Any) -> JsonObject:
    return {
        "type": "TOOL_CALL_START",
        "data": {"name": "read_file", "callId": call_id, "args": {}, **data},
    }


def over(call_id: str, data: Any = None) -> JsonObject:
    return {"type": "TOOL_CALL_END", "data": {"name": "read_file", "id": call_id, "data": data}}


def error(text: str, **data: Any) -> JsonObject:
    return {"type": "ERROR", "data": {"error": text, "errorType": "GENERIC", **data}}


CASES: dict[str, dict[str, Any]] = {
    "nothing happens": {},
    "thoughts overwrite each other": {"activities": [thought("one"), thought("two")]},
    "a call begins and ends": {
        "activities": [
            begun("c1", displayName="ReadFile", description="a.txt", args={"file_path": "a.txt"}),
            over("c1", {"x": 1}),
        ]
    },
    "a call ends badly": {"activities": [begun("c1", args={}), over("c1", {"isError": True})]},
    "a call ends that never began": {"activities": [over("c9"), over("")]},
    "a call without a name": {
        "activities": [{"type": "TOOL_CALL_START", "data": {"callId": "", "args": {}}}]
    },
    "two calls of one id": {"activities": [begun("c1"), begun("c1"), over("c1"), over("c1")]},
    "a call fails": {"activities": [begun("c1"), error("no such file", callId="c1")]},
    "a call is refused": {
        "activities": [
            begun("c1"),
            error("User rejected this operation. Rethink.", callId="c1", errorType="REJECTED"),
        ]
    },
    "refused by its words": {"activities": [begun("c1"), error("User rejected this operation.x")]},
    "a call is cancelled": {
        "activities": [begun("c1"), error("Request cancelled.", callId="c1")],
        "output": {"result": "", "terminate_reason": "ABORTED"},
    },
    "cancelled by its kind": {"activities": [error("gone", errorType="CANCELLED")]},
    "an error without a call": {"activities": [error("boom"), thought("on"), error(" spaced ")]},
    "more than three things": {
        "activities": [begun(f"c{n}") for n in range(5)] + [over("c0"), over("c4"), thought("t")]
    },
    "texts are trimmed": {
        "activities": [begun("c1", name="  read  ", displayName="  Read  ", description="  d  ")]
    },
    "secrets": {
        "activities": [
            thought("my password: hunter2 and more"),
            begun(
                "c1",
                displayName="curl --token abcdefghijkl",
                description="cat /home/u/.ssh/id.pem",
                args={"headers": {"Authorization": "Bearer x"}, "list": ["api_key=1"], "n": 1},
            ),
            error("secret=42 failed", callId="c1"),
        ]
    },
    "array indices as keys": {"activities": [begun("c1", args={"b": 1, "10": 2, "2": 3})]},
    "it runs out of time": {"output": {"result": "late", "terminate_reason": "TIMEOUT"}},
    "it says nothing at its end": {
        "output": {"result": "", "terminate_reason": "ERROR_NO_COMPLETE_TASK_CALL"}
    },
    "it fails": {"activities": [begun("c1"), thought("t")], "error": {"message": "bad request"}},
    "it fails and has said so": {
        "activities": [begun("c1"), error("Error: bad")],
        "error": {"message": "bad"},
    },
    "it fails after three things": {
        "activities": [begun("c1"), begun("c2"), begun("c3")],
        "error": {"message": "bad"},
    },
    "it fails with words of an abort": {
        "activities": [begun("c1")],
        "error": {"message": "Request was Aborted by peer"},
    },
    "it cannot be made": {"broken": "no prompt"},
    "no client shows it": {"silent": True, "activities": [thought("t")]},
    "no client shows it and it fails": {
        "silent": True,
        "activities": [begun("c1")],
        "error": {"message": "bad"},
    },
    "an input of another name": {"params": {"objective": "find it"}},
    "several inputs": {"params": {"query": "q", "depth": 3, "wide": None}},
    "an empty query": {"params": {"query": ""}},
    "a display name": {
        "definition": {"displayName": "The Helper"},
        "activities": [begun("c1"), error("x"), over("c1")],
    },
    "aborted while it runs": {
        "activities": [begun("c1"), thought("t")],
        "abort": True,
        "output": {"result": "half", "terminate_reason": "ABORTED"},
    },
}
JOBS = [
    {
        "kind": "invocation",
        "name": name,
        "session": session,
        "activities": [],
        "output": GOAL,
        "params": {"query": "read a.txt"},
        "definition": {},
        **case,
    }
    for name, case in CASES.items()
    for session in (False, True)
]


def without_ids(texts: Sequence[str]) -> list[str]:
    """Generated ids, numbered in the order of their appearance."""
    seen: dict[str, str] = {}

    def named(match: re.Match[str]) -> str:
        return seen.setdefault(match[0], f"id-{len(seen)}")

    return [re.sub(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", named, text) for text in texts]


async def ours(job: dict[str, Any]) -> dict[str, Any]:
    async def work(child: StandInChild) -> AgentOutput:
        for each in job["activities"]:
            child.report(each["type"], each["data"])
        if job.get("abort"):
            bench.controller.abort()
            await child.aborted.wait()
        if "error" in job:
            raise NamedError(name=job["error"].get("name"), message=job["error"]["message"])
        output = job["output"]
        return ended(output["result"], TerminateMode(output["terminate_reason"]))

    bench = Bench(work, broken=job.get("broken"))
    definition = agent(display_name=job["definition"].get("displayName"))
    call = bench.call(job["params"], session=job["session"], definition=definition)
    report: dict[str, Any] = {"description": call.description()}
    try:
        result = await bench.execute(call, silent=bool(job.get("silent")))
        report["result"] = [
            js_json(result.llm_content),
            js_json(result.return_display),
            None if result.data is None else js_json(dict(result.data)),
        ]
        report["error"] = result.error
    except (AbortError, NamedError) as raised:
        report["raised"] = [raised.name or "Error", str(raised)]
    if bench.children:
        report["given"] = bench.children[0].inputs
    return {**report, "outputs": bench.outputs, "published": bench.published}


def comparable(report: dict[str, Any]) -> str:
    keys = ("description", "outputs", "published", "result", "error", "raised", "given")
    whole = "\n".join(json.dumps(report.get(key), ensure_ascii=False) for key in keys)
    return without_ids([whole])[0]


@needs_core
@pytest.mark.slow
async def test_every_call_shows_and_brings_back_what_it_does_in_the_core() -> None:
    for job, theirs in zip(JOBS, from_core(JOBS), strict=True):
        mine = await ours(job)
        assert comparable(mine).split("\n") == comparable(theirs).split("\n"), job["name"]


@BOTH
async def test_an_abort_reaches_the_child_in_the_same_step(session: bool) -> None:
    seen: list[bool] = []

    async def work(child: StandInChild) -> AgentOutput:
        bench.controller.abort()
        seen.append(child.aborted.is_set())
        return ended("", TerminateMode.ABORTED)

    bench = Bench(work)
    with pytest.raises(AbortError):
        await bench.execute(bench.call({"query": "q"}, session=session))
    assert seen == [True]


@BOTH
async def test_an_abort_ends_the_child_before_the_call_ends(session: bool) -> None:
    async def work(child: StandInChild) -> AgentOutput:
        child.report("TOOL_CALL_START", begun("c1")["data"])
        bench.controller.abort()
        await child.aborted.wait()
        await asyncio.sleep(0)
        return ended("", TerminateMode.ABORTED)

    bench = Bench(work)
    with pytest.raises(AbortError, match="Operation cancelled by user"):
        await bench.execute(bench.call({"query": "go"}, session=session))
    assert not bench.children[0].running
    last = json.loads(bench.outputs[-1])
    assert last["state"] == "cancelled"
    assert last["recentActivity"][0]["status"] == "cancelled"


@BOTH
async def test_an_abort_in_a_model_call_is_shown_once_unless_the_child_is_a_session(
    session: bool,
) -> None:
    async def work(child: StandInChild) -> AgentOutput:
        child.report("THOUGHT_CHUNK", {"text": "Half"})
        bench.controller.abort()
        return ABORTED_OUTPUT

    bench = Bench(work)
    with pytest.raises(AbortError):
        await bench.execute(bench.call({"query": "go"}, session=session))
    states = [json.loads(output)["state"] for output in bench.outputs]
    assert states == ["running", "running", *["cancelled"] * (2 if session else 1)]


@BOTH
async def test_a_signal_that_is_aborted_already_ends_the_child_too(session: bool) -> None:
    async def work(child: StandInChild) -> AgentOutput:
        await child.aborted.wait()
        return ended("", TerminateMode.ABORTED)

    bench = Bench(work)
    bench.controller.abort()
    with pytest.raises(AbortError):
        await bench.execute(bench.call({"query": "go"}, session=session))
    assert not bench.children[0].running


@BOTH
async def test_a_cancelled_task_waits_for_the_end_of_its_child(session: bool) -> None:
    started = asyncio.Event()

    async def work(child: StandInChild) -> AgentOutput:
        started.set()
        await child.aborted.wait()
        return ended("", TerminateMode.ABORTED)

    bench = Bench(work)
    task = asyncio.get_running_loop().create_task(
        bench.execute(bench.call({"query": "go"}, session=session))
    )
    await started.wait()
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert not bench.children[0].running
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_the_wait_for_a_child_that_ignores_an_abort_is_limited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("services.subagents.child_run._LAST_WAIT_S", 0)
    deaf = asyncio.Event()

    async def work(child: StandInChild) -> AgentOutput:
        bench.controller.abort()
        await deaf.wait()
        return ended()

    bench = Bench(work)
    with pytest.raises(AbortError):
        await bench.execute(bench.call({"query": "go"}))


async def test_published_progress_does_not_change_later() -> None:
    async def work(child: StandInChild) -> AgentOutput:
        child.report("TOOL_CALL_START", begun("c1")["data"])
        child.report("TOOL_CALL_END", over("c1")["data"])
        return ended()

    bench = Bench(work)
    await bench.execute(bench.call({"query": "go"}))
    assert [js_json(value) for value in bench.shown] == bench.outputs


async def test_agents_side_by_side_make_ids_that_do_not_depend_on_each_other() -> None:
    bench = Bench(lambda child: ended())
    parts, call = bench.parts, bench.call({"query": "go"})
    call._parts = parts
    first, second = call.trail("one"), call.trail("two")
    ids = [first.new_id(), second.new_id(), first.new_id()]
    call._parts = bench.parts
    again = call.trail("one")
    assert ids[0] != ids[1]
    assert [again.new_id(), again.new_id()] == [ids[0], ids[2]]


async def test_the_model_receives_the_error_of_a_missing_runtime() -> None:
    bench = Bench(lambda child: ended())
    bench.subagents = Subagents(ThreadPaths())
    result = await bench.execute(bench.call({"query": "go"}))
    assert result.llm_content == (
        "Subagent 'helper' failed. Error: no runtime is open that could run a subagent"
    )
    assert result.data is None

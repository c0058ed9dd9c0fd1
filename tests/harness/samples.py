"""Observations made up for tests, and a backend that hands them out instead of running anything.

The backend's functions are module-level: worker processes find them by name.
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.errors import CassetteFormatError, ReplayFailure
from harness.experiment.backend import Backend, LoadedCassette
from harness.replay.observation import Observation, RunPaths
from harness.replay.request_log import RequestLog
from services.abort import AbortController
from services.model.generator import LlmRole, ModelRequest
from services.state import RetryAttempt

TIME = "2026-01-01T00:00:00.000Z"
CALL = "read_file_1767225600001_0"
_BEHAVIOUR = re.compile(r"P-\d{3}")


@dataclass(frozen=True)
class Facts:
    """A cassette, as far as comparing wants to know."""

    name: str = "tools/read"
    unused: tuple[int, ...] = ()
    phase: str | None = "A"
    contract: tuple[str, ...] = ()


def paths(base: str = "/tmp/run-a") -> RunPaths:
    return RunPaths(workspace=f"{base}/ws", home=f"{base}/home", cassettes="/corpus")


def ask(contents: Sequence[dict[str, Any]], **changes: Any) -> ModelRequest:
    values: dict[str, Any] = {
        "model": "gemini-2.5-flash",
        "contents": contents,
        "role": LlmRole.MAIN,
        "prompt_id": "p",
        "signal": AbortController().signal,
        "config": {
            "temperature": 1,
            "systemInstruction": "You work in /tmp/run-a/ws.",
            "tools": [{"functionDeclarations": [{"name": "read_file"}, {"name": "glob"}]}],
        },
    }
    return ModelRequest(**{**values, **changes})


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": text}]}


def model(text: str) -> dict[str, Any]:
    return {"role": "model", "parts": [{"text": text}]}


def conversation(call: str = CALL, base: str = "/tmp/run-a") -> list[dict[str, Any]]:
    """A question, a tool call, its answer, the last word."""
    return [
        {"role": "user", "parts": [{"text": f"In {base}/ws"}, {"text": "Read a.txt"}]},
        {
            "role": "model",
            "parts": [{"functionCall": {"id": call, "name": "read_file", "args": {"p": 1}}}],
        },
        {
            "role": "user",
            "parts": [
                {
                    "functionResponse": {
                        "id": call,
                        "name": "read_file",
                        "response": {"output": "hello"},
                    }
                }
            ],
        },
        model("It says hello."),
    ]


def observation(
    runtime: str = "legacy",
    *,
    name: str = "tools/read",
    base: str = "/tmp/run-a",
    call: str = CALL,
) -> Observation:
    """A whole run with one tool call; equal for every runtime but for what is asked otherwise."""
    where = paths(base)
    contents = conversation(call, base)
    log = RequestLog(where)
    system = {**ask([]).config, "systemInstruction": f"You work in {base}/ws."}
    log.observe("generateContentStream", ask(contents[:1], config=system))
    log.observe("generateContentStream", ask(contents[:3], config=system))
    stream = {"streamId": "s0", "timestamp": TIME}
    events: list[dict[str, Any]] = [
        {**stream, "type": "agent_start"},
        {**stream, "type": "tool_request", "requestId": call, "name": "read_file", "args": {}},
        {**stream, "type": "tool_response", "requestId": call, "name": "read_file"},
        {
            **stream,
            "type": "message",
            "role": "agent",
            "content": [{"type": "text", "text": "It says hello."}],
        },
        {**stream, "type": "usage", "model": "m", "inputTokens": 10, "outputTokens": 2},
        {
            **stream,
            "type": "error",
            "status": "INTERNAL",
            "message": "late",
            "fatal": False,
            "_meta": {"code": "E1", "stack": "at x.py:1"},
        },
        {**stream, "type": "agent_end", "reason": "completed"},
    ]
    for number, event in enumerate(events):
        event["id"] = f"s0-{number}"
    recorded = {"id": "0b4e28ba-2fa1-41d2-883f-0016d3cca427", "timestamp": TIME}
    return Observation(
        name=name,
        runtime=runtime,
        paths=where,
        versions={"parity": "0.1.0"},
        events=events,
        transcript=contents,
        requests=log.requests,
        recording={
            "tmp/ws/chats/session-1.jsonl": [
                {"sessionId": "s", "startTime": TIME, "lastUpdated": TIME, "kind": "main"},
                {**recorded, "type": "user", "content": [{"text": "Read a.txt"}]},
                {"$set": {"lastUpdated": TIME}},
            ]
        },
        tool_states={call: ["validating", "scheduled", "executing", "success"]},
        retries=[
            RetryAttempt(attempt=1, max_attempts=10, delay_ms=5000.0, error="E", model="m"),
        ],
        side_events=[{"event": "model-changed", "model": "m"}],
        workspace_changes={"new.txt": f"{base}/ws", "old.txt": None},
    )


def load(file: Path, root: Path) -> LoadedCassette:
    """What a file's text says happens: see `run`."""
    text = file.read_text()
    if "broken" in text:
        raise CassetteFormatError(file, "model", "is wrong", "mend it")
    name = file.absolute().relative_to(root).with_suffix("").as_posix()
    phase = "B" if "phase B" in text else "A"
    return _Scripted(name=name, text=text, phase=phase, contract=tuple(_BEHAVIOUR.findall(text)))


@dataclass(frozen=True)
class _Scripted(Facts):
    text: str = ""


def run(cassette: LoadedCassette, runtime: str) -> Observation:
    """An observation; where the text says so, one that differs, or something worse."""
    assert isinstance(cassette, _Scripted)
    seen = observation(runtime, name=cassette.name)
    text = cassette.text
    if "crashes" in text:
        raise RuntimeError("no such wheel\nmore")
    if "gives up" in text:
        raise ReplayFailure(cassette.name, "the disk is full", "make room")
    if "interrupts" in text:
        raise KeyboardInterrupt
    if "waits" in text:
        _wait(Path(text.partition("waits at ")[2]))
    if "kills its worker" in text:
        os.kill(os.getpid(), signal.SIGKILL)
    if "stalls" in text:
        return replace(seen, stalled=True)
    if "takes for ever" in text:
        return replace(seen, stalled=True, deadline_passed=True)
    if "is objected to" in text:
        log = RequestLog(seen.paths)
        log.observe("generateContentStream", ask(conversation()[:2]))
        return replace(seen, requests=log.requests)
    if "loses usage" in text and runtime == "adk":
        return replace(seen, events=[e for e in seen.events if e["type"] != "usage"])
    return seen


def _wait(meeting: Path) -> None:
    """Wait like a run that hangs in a child process, and report its end.

    `meeting` is a FIFO: a reader of it knows that the waiting has begun.
    """
    try:
        meeting.write_text("waiting")
        time.sleep(60)
    finally:
        meeting.with_suffix(".unwound").write_text("")


def starts_processes(cassette: LoadedCassette) -> str | None:
    assert isinstance(cassette, _Scripted)
    return "the model calls run_shell_command: ls" if "shell" in cassette.text else None


def runtimes() -> list[str]:
    return ["adk", "legacy"]


def preload(names: Collection[str]) -> None:
    assert set(names) <= set(runtimes())


BACKEND = Backend(
    load=load, run=run, starts_processes=starts_processes, runtimes=runtimes, preload=preload
)


def write_corpus(folder: Path, **cases: str) -> Path:
    """`family__name="text"` becomes `folder/family/name.yaml`."""
    for name, text in cases.items():
        file = folder / f"{name.replace('__', '/')}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder

"""Hooks that hang, flood, print garbage, or leave a process behind."""

from __future__ import annotations

import json
import os
import signal
import tracemalloc
from contextlib import suppress

import pytest

from harness.replay.observation import Observation
from services.scheduler.scheduler import MAX_TAIL_CALLS
from tests.processes import ends
from tests.runtimes.faults.stage import Stage, answer, call, hook, reason, responses

READ = call("read_file", file_path="a.txt")
FILES = {"a.txt": "alpha\n"}
OUTPUT = {"output": "alpha\n"}
HANGS = "echo $$ >> pids; sleep 1000 & echo $! >> pids; wait"
LIMIT_MS = 250
"""Enough for a shell to start; a shell that has not started needs no end."""
MEGABYTE = 1024 * 1024


def started(seen: Observation) -> list[str]:
    """The processes that hooks have written to their file."""
    return (seen.workspace_changes.get("pids") or "").split()


@pytest.mark.parametrize(
    "event",
    [
        "BeforeTool",
        "AfterTool",
        "BeforeAgent",
        "AfterAgent",
        "BeforeModel",
        "AfterModel",
        "BeforeToolSelection",
        "PreCompress",
    ],
)
@pytest.mark.sampled(8)
def test_a_hook_that_hangs_is_ended_with_its_group_and_the_run_goes_on(
    stage: Stage, event: str
) -> None:
    seen = stage.play(
        answer(READ),
        {"text": "done"},
        files=FILES,
        settings={"hooks": {event: hook(HANGS, timeout=LIMIT_MS)}},
    )

    assert responses(seen) == [OUTPUT]
    assert reason(seen) == "completed"
    assert all(map(ends, started(seen)))
    assert any(event in feedback.message for feedback in stage.feedback)


@pytest.mark.sampled(2)
def test_a_hook_that_ignores_being_ended_is_killed(stage: Stage) -> None:
    seen = stage.play(
        answer(READ),
        {"text": "done"},
        files=FILES,
        settings={"hooks": {"BeforeTool": hook(f"trap '' TERM; {HANGS}; wait", timeout=LIMIT_MS)}},
    )

    assert responses(seen) == [OUTPUT]
    assert all(map(ends, started(seen)))


def test_an_abort_ends_the_hook_that_hangs(stage: Stage) -> None:
    seen = stage.play(
        answer(READ),
        {"text": "never"},
        files=FILES,
        settings={"hooks": {"BeforeTool": hook(HANGS)}},
        during=[{"when": {"tool": "read_file"}, "delay_ms": 300, "do": "abort"}],
    )

    assert reason(seen) == "aborted"
    assert all(map(ends, started(seen)))


@pytest.mark.parametrize("code", [0, 2])
@pytest.mark.sampled(4)
def test_a_flood_from_a_hook_is_cut(stage: Stage, code: int) -> None:
    flood = "head -c 40000000 /dev/zero | tr '\\0' x"

    tracemalloc.start()
    try:
        seen = stage.play(
            answer(READ),
            {"text": "done"},
            files=FILES,
            settings={"hooks": {"AfterTool": hook(f"{flood}; {flood} >&2; exit {code}")}},
        )
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    # A refusal of sixteen megabytes fits into no model's window; nothing else changes the result.
    assert responses(seen) == ([] if code == 2 else [OUTPUT])
    assert most < (500 if code == 2 else 200) * MEGABYTE


@pytest.mark.parametrize(
    "garbage",
    ['{"decision": "deny", "reas', "[", '{"decision": 5}', '{"hookSpecificOutput": 3}', "\\xff\\0"],
    ids=["half", "open", "number", "no_mapping", "binary"],
)
@pytest.mark.parametrize("event", ["BeforeTool", "AfterModel", "BeforeModel", "AfterAgent"])
def test_garbage_from_a_hook_changes_nothing(stage: Stage, event: str, garbage: str) -> None:
    seen = stage.play(
        answer(READ),
        {"text": "done"},
        files=FILES,
        settings={"hooks": {event: hook(f"printf '{garbage}'")}},
    )

    assert responses(seen) == [OUTPUT]
    assert reason(seen) == "completed"


def test_bytes_that_are_no_text_are_a_readable_refusal(stage: Stage) -> None:
    command = r"printf 'a\xff\xed\xa0\x80\0\033[31m'; exit 2"

    seen = stage.play(
        answer(READ),
        {"text": "done"},
        files=FILES,
        settings={"hooks": {"BeforeTool": hook(command)}},
    )

    [response] = responses(seen)
    assert response["error"].startswith("Tool execution blocked: a\ufffd")
    assert response["error"].endswith("\0\x1b[31m")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_a_hook_that_a_signal_ends_does_not_block(stage: Stage, number: signal.Signals) -> None:
    seen = stage.play(
        answer(READ),
        {"text": "done"},
        files=FILES,
        settings={"hooks": {"BeforeTool": hook(f"echo no; kill -{number.value} $$")}},
    )

    assert responses(seen) == [OUTPUT]


def test_a_process_that_keeps_a_hooks_pipes_is_not_waited_for(stage: Stage) -> None:
    command = 'sleep 1000 & echo $! > pids; echo \'{"decision":"deny"}\''

    seen = stage.play(
        answer(READ),
        {"text": "done"},
        files=FILES,
        settings={"hooks": {"BeforeTool": hook(command, timeout=LIMIT_MS)}},
    )

    assert reason(seen) == "completed"
    assert all(map(ends, started(seen)))


@pytest.mark.sampled(2)
def test_a_process_that_left_the_group_is_not_waited_for(stage: Stage) -> None:
    command = "setsid sh -c 'echo $$ > pids; exec sleep 1000' & while [ ! -s pids ]; do :; done"

    seen = stage.play(
        answer(READ),
        {"text": "done"},
        files=FILES,
        settings={"hooks": {"BeforeTool": hook(command, timeout=2000)}},
    )

    pid = int(seen.workspace_changes["pids"] or "")
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    assert responses(seen) == [OUTPUT]
    assert reason(seen) == "completed"


@pytest.mark.sampled(2)
def test_a_hook_that_wants_another_call_after_every_call_is_obeyed_a_hundred_times(
    stage: Stage,
) -> None:
    again = {"name": "read_file", "args": {"file_path": "a.txt"}}
    output = {"hookSpecificOutput": {"hookEventName": "AfterTool", "tailToolCallRequest": again}}
    command = f"echo x >> count; printf '%s' '{json.dumps(output)}'"
    seen = stage.play(
        answer(READ),
        {"text": "done"},
        files=FILES,
        settings={"hooks": {"AfterTool": hook(command)}},
    )

    assert responses(seen) == [OUTPUT]
    assert reason(seen) == "completed"
    assert (seen.workspace_changes["count"] or "").count("x") == 1 + MAX_TAIL_CALLS

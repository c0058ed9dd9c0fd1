from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from services.abort import AbortController
from services.hooks.process import MAX_OUTPUT_BYTES, Ending, HookOutcome, run_hook_process
from tests.services.hooks.stand_ins import Lifeline

AGES = "3600"
"""Seconds that no test would wait: a test that waits for this sleep hangs."""
LIMIT_MS = 1000
"""Enough for a shell to start on a busy machine."""
BUSY = f"while true; do sleep {AGES}; done"


async def run(
    command: str, folder: Path, *, given: bytes = b"", limit_ms: float = 30_000
) -> HookOutcome:
    return await run_hook_process(
        command,
        given=given,
        folder=folder,
        environment={"PATH": os.environ["PATH"]},
        limit_ms=limit_ms,
        signal=None,
    )


async def test_both_streams_and_the_exit_code_come_back(tmp_path: Path) -> None:
    outcome = await run("cat; echo é >&2; pwd >&2; exit 3", tmp_path, given=b"in\xc3\xa9\xff")

    assert outcome == HookOutcome(
        ending=Ending.BY_ITSELF, exit_code=3, stdout="iné\ufffd", stderr=f"é\n{tmp_path}\n"
    )


async def test_the_shell_speaks_under_its_bare_name(tmp_path: Path) -> None:
    outcome = await run("no_such_hook", tmp_path)

    assert (outcome.exit_code, outcome.stderr) == (
        127,
        "bash: line 1: no_such_hook: command not found\n",
    )


async def test_a_signal_leaves_no_exit_code(tmp_path: Path) -> None:
    outcome = await run("echo out; kill -9 $$", tmp_path)

    assert (outcome.exit_code, outcome.stdout) == (None, "out\n")


@pytest.mark.parametrize("command", ["true", "exec <&-; echo closed"])
async def test_a_hook_need_not_read_its_input(command: str, tmp_path: Path) -> None:
    outcome = await run(command, tmp_path, given=b"x" * 1_000_000)

    assert (outcome.ending, outcome.exit_code) == (Ending.BY_ITSELF, 0)


async def test_a_long_input_arrives_whole(tmp_path: Path) -> None:
    outcome = await run("wc -c", tmp_path, given=b"x" * 1_000_000)

    assert outcome.stdout.strip() == "1000000"


async def test_the_output_of_what_a_hook_left_running_is_waited_for(tmp_path: Path) -> None:
    outcome = await run("(sleep 0.05; echo late) & echo early", tmp_path)

    assert outcome.stdout == "early\nlate\n"


@pytest.mark.parametrize(
    "command",
    [f"sleep {AGES} & echo before; wait", f"sleep {AGES} & echo before", f'trap "" TERM; {BUSY}'],
)
@pytest.mark.sampled(3)
async def test_the_whole_group_is_ended_at_the_limit(command: str, tmp_path: Path) -> None:
    line = Lifeline(tmp_path)

    outcome = await run(Lifeline.HELD + command, tmp_path, limit_ms=LIMIT_MS)

    assert outcome.ending is Ending.TIMED_OUT
    await line.up()
    await line.gone()


async def test_a_process_that_left_the_group_is_not_waited_for(tmp_path: Path) -> None:
    line = Lifeline(tmp_path)
    command = f"setsid bash -c '{Lifeline.HELD} exec sleep {AGES}' & echo out"

    outcome = await run(command, tmp_path, limit_ms=LIMIT_MS)

    assert (outcome.ending, outcome.stdout) == (Ending.TIMED_OUT, "out\n")
    os.kill(await line.up(), signal.SIGKILL)
    await line.gone()


async def test_a_flood_is_cut_and_the_rest_is_read(tmp_path: Path) -> None:
    outcome = await run(f"head -c {MAX_OUTPUT_BYTES + 100_000} /dev/zero; echo end >&2", tmp_path)

    assert (outcome.ending, outcome.stderr) == (Ending.BY_ITSELF, "end\n")
    assert len(outcome.stdout) == MAX_OUTPUT_BYTES


async def test_an_abort_ends_the_group(tmp_path: Path) -> None:
    controller = AbortController()
    line = Lifeline(tmp_path)
    running = asyncio.create_task(
        run_hook_process(
            f"{Lifeline.HELD} sleep {AGES} & wait",
            given=b"",
            folder=tmp_path,
            environment={"PATH": os.environ["PATH"]},
            limit_ms=3_600_000,
            signal=controller.signal,
        )
    )
    await line.up()
    controller.abort()

    assert (await running).ending is Ending.ABORTED
    await line.gone()


@pytest.mark.parametrize("first", ["", "read -r line; "])
async def test_a_cancelled_hook_leaves_nothing_behind(first: str, tmp_path: Path) -> None:
    # A hook may be up before its start is over; one that has read its input is past that.
    line = Lifeline(tmp_path)
    command = f"{first}{Lifeline.HELD} sleep {AGES} & wait"
    running = asyncio.create_task(run(command, tmp_path, given=b"go\n"))
    await line.up()
    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    await line.gone()


async def test_a_missing_folder_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await run("true", tmp_path / "nowhere")

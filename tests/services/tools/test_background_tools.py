from __future__ import annotations

import asyncio
import os
from dataclasses import replace

import pytest

from services.steering import InjectionService, InjectionSource
from services.tools.background import BackgroundHistory, background_log
from services.tools.contract import ToolErrorType


def log_of(bench, pid: int, text: str) -> None:
    bench.host.background_history.started(pid, "make serve")
    log = background_log(bench.host.workspace.home, pid)
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(text)


async def test_an_empty_list_of_background_commands_is_reported(bench):
    result = await bench.run("list_background_processes")
    assert result.llm_content == result.return_display == "No background processes found."


async def test_each_process_is_listed_with_how_it_ended(bench):
    history = bench.host.background_history
    for pid in (1, 2, 3):
        history.started(pid, f"run {pid}")
    history.ended(2, exit_code=0, signal=None)
    history.ended(3, exit_code=None, signal=9)
    history.ended(4, exit_code=1, signal=None)
    assert (await bench.run("list_background_processes")).llm_content == (
        "- [PID 1] RUNNING: `run 1`\n"
        "- [PID 2] EXITED: `run 2` (Exit Code: 0)\n"
        "- [PID 3] EXITED: `run 3` (Signal: 9)"
    )


def test_only_a_hundred_are_remembered():
    history = BackgroundHistory()
    for pid in range(101):
        history.started(pid, "x")
    assert 0 not in history
    assert [process.pid for process in history] == list(range(1, 101))


async def test_a_command_that_goes_on_is_listed_and_its_end_noted(bench):
    await bench.run("run_shell_command", command="sleep 60", is_background=True, delay_ms=0)
    assert [process.running for process in bench.host.background_history] == [True]
    (command,) = bench.host.background
    command.kill()
    await asyncio.wait([command.closed])
    await asyncio.sleep(0)
    listed = (await bench.run("list_background_processes")).llm_content
    assert listed == "- [PID 4242] EXITED: `sleep 60` (Signal: 9)"


async def test_a_command_that_ended_in_time_counts_as_running_with_an_empty_log(bench):
    await bench.run("run_shell_command", command="echo hi", is_background=True, delay_ms=5000)
    listed = await bench.run("list_background_processes")
    assert listed.llm_content == "- [PID 4242] RUNNING: `echo hi`"
    assert (await bench.run("read_background_output", pid=4242)).llm_content == "Log is empty."


@pytest.mark.parametrize(
    ("text", "lines", "expected"),
    [
        ("a\nb\nc\n", None, "Full Log Output:\na\nb\nc"),
        ("a\nb\nc\n", 3, "Full Log Output:\na\nb\nc"),
        ("a\nb\nc", 2, "Showing last 2 of 3 lines:\nb\nc"),
        ("\n", None, "Full Log Output:\n"),
    ],
)
async def test_the_last_lines_of_a_log_are_read(bench, text, lines, expected):
    log_of(bench, 7, text)
    given = {} if lines is None else {"lines": lines}
    assert (await bench.run("read_background_output", pid=7, **given)).llm_content == expected


async def test_only_the_last_64_kib_are_read_and_a_cut_line_is_left_out(bench):
    log_of(bench, 7, "".join(f"{number:06}\n" for number in range(20_000)))
    read = (await bench.run("read_background_output", pid=7, lines=100_000)).llm_content
    lines = read.split("\n")
    assert lines[0] == "Full Log Output:"
    assert (lines[1], lines[-1], len(lines)) == ("010638", "019999", 9363)


async def test_processes_of_others_are_refused(bench):
    result = await bench.run("read_background_output", pid=1)
    assert result.error.type is ToolErrorType.EXECUTION_FAILED
    assert result.error.message == "Background process history lookup failed for PID 1"
    assert result.llm_content == (
        "Access denied. Background process ID 1 not found in this session's history."
    )


async def test_a_missing_log_is_reported(bench):
    bench.host.background_history.started(7, "x")
    result = await bench.run("read_background_output", pid=7)
    log = background_log(bench.host.workspace.home, 7)
    assert result.error.message == f"Log file not found at {log}"


async def test_a_log_that_is_a_link_is_refused(bench, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("s")
    log_of(bench, 7, "")
    log = background_log(bench.host.workspace.home, 7)
    log.unlink()
    log.symlink_to(secret)
    result = await bench.run("read_background_output", pid=7)
    assert result.error.message == (
        "Symbolic link detected at predicted log path. Access is denied for security reasons."
    )


async def test_a_link_where_a_log_belongs_is_not_written_through(bench, tmp_path):
    target = tmp_path / "target"
    target.write_text("kept")
    log = background_log(bench.host.workspace.home, 4242)
    log.parent.mkdir(parents=True)
    log.symlink_to(target)
    await bench.run("run_shell_command", command="echo hi", is_background=True, delay_ms=5000)
    assert target.read_text() == "kept"


async def test_an_abort_ends_the_wait_before_reading(bench):
    log_of(bench, 7, "x")
    bench.controller.abort()
    result = await bench.run("read_background_output", pid=7, delay_ms=600_000)
    assert result.llm_content == "Full Log Output:\nx"


@pytest.mark.parametrize("behaviour", ["inject", "notify", "silent"])
async def test_the_end_of_a_background_command_is_reported_if_the_settings_say_so(bench, behaviour):
    steering = InjectionService(bench.host.clock, steering=False)
    bench.host = replace(bench.host, steering=steering)
    bench = bench.with_settings(background_completion=behaviour)
    gate = bench.root / "gate"
    os.mkfifo(gate)
    await bench.run("run_shell_command", command="cat gate", is_background=True, delay_ms=0)
    (command,) = bench.host.background
    await asyncio.to_thread(gate.write_text, "after\n")
    await asyncio.wait([command.closed])
    said = steering.after(-1, InjectionSource.BACKGROUND_COMPLETION)
    log = background_log(bench.host.workspace.home, next(iter(bench.host.background_history)).pid)
    note = f"[Background command completed successfully. Output saved to {log}]"
    assert (
        said
        == {
            "inject": [f"<output>\n{note}\n\nafter\n</output>"],
            "notify": [f"<output>\n{note}\n</output>"],
            "silent": [],
        }[behaviour]
    )

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from pathlib import Path

import pytest

from agent_protocol.events import TextDisplay, ToolDisplay
from services.clock import VirtualClock, virtual_loop
from services.tools.contract import ConfirmationOutcome, ToolErrorType, ToolExecution
from services.tools.live_output import LiveOutput
from services.tools.shell_process import shell_environment
from tests.processes import ends


def inside(result) -> str:
    match = re.fullmatch(
        r"<untrusted_context>\n(.*)\n</untrusted_context>", result.llm_content, re.DOTALL
    )
    assert match is not None
    return match[1]


def alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


async def pid_in(file: Path) -> int:
    """The id that a command writes once it runs."""
    for _ in range(1000):
        if file.exists() and file.read_text().strip():
            return int(file.read_text())
        await asyncio.sleep(0.01)
    raise AssertionError(f"{file} was never written")


async def test_both_streams_are_read_in_order_and_the_group_is_named(bench):
    result = await bench.run("run_shell_command", command="echo hello; echo err >&2; echo end")
    assert inside(result) == "Output: hello\nerr\nend\nProcess Group PGID: 4242"
    assert result.return_display == "hello\nerr\nend"
    assert result.display == ToolDisplay(
        name="Shell",
        description="echo hello; echo err >&2; echo end",
        result=TextDisplay(text="hello\nerr\nend"),
    )
    assert result.data is None


async def test_a_failing_command_is_no_error_and_has_its_exit_code(bench):
    result = await bench.run("run_shell_command", command="exit 3")
    assert inside(result) == "Output: (empty)\nExit Code: 3\nProcess Group PGID: 4242"
    assert result.return_display == "Command exited with code: 3"
    assert result.display.result_summary == "Exit Code: 3"
    assert result.data == {"exitCode": 3, "isError": True}
    assert result.error is None


async def test_a_silent_success_shows_nothing(bench):
    result = await bench.run("run_shell_command", command="true")
    assert result.return_display == ""
    assert inside(result) == "Output: (empty)\nProcess Group PGID: 4242"


async def test_a_signal_is_reported_by_number(bench):
    result = await bench.run("run_shell_command", command="kill -9 $$")
    assert inside(result) == "Output: (empty)\nSignal: 9\nProcess Group PGID: 4242"
    assert result.return_display == "Command terminated by signal: 9"


async def test_background_jobs_are_named_by_shown_ids(bench):
    result = await bench.run("run_shell_command", command="sleep 0.01 & true")
    assert "Background PIDs: 4243\nProcess Group PGID: 4242" in inside(result)


async def test_a_folder_that_is_not_there_is_a_spawn_error(bench):
    result = await bench.run("run_shell_command", command="pwd", dir_path="nope")
    assert result.error.type is ToolErrorType.SHELL_EXECUTE_ERROR
    assert re.fullmatch(r"spawn \S*bash ENOENT", result.error.message)


async def test_a_folder_that_is_a_file_is_a_spawn_error_without_the_shells_name(bench):
    (bench.root / "a.txt").write_text("alpha")
    result = await bench.run("run_shell_command", command="pwd", dir_path="a.txt")
    assert result.error.message == "spawn ENOTDIR"
    assert inside(result) == f"Output: (empty)\nError: {result.error.message}\nExit Code: 1"


async def test_the_command_runs_in_its_folder_without_its_wrapper(bench):
    (bench.root / "src").mkdir()
    result = await bench.run("run_shell_command", command="bash -c 'pwd'", dir_path="src")
    assert result.return_display == f"{bench.root}/src"


@pytest.mark.parametrize(
    ("command", "output"),
    [
        (r"printf '\033[31mred\033[0m\n\n'", "red"),
        (r"printf '\xff\xfe'", "\ufffd\ufffd"),
        (r"printf '\xef\xbb\xbfx'", "x"),
        (r"printf 'a\0b'", ""),
        ("cat <<EOF\nhi\nEOF", "hi"),
        ("echo a # comment", "a"),
        ("echo a \\", "a"),
        ("shopt -q nullglob; echo $?", "1"),
        ("cat", ""),
    ],
)
async def test_output(bench, command, output):
    assert (await bench.run("run_shell_command", command=command)).return_display == output


async def test_output_cannot_close_the_wrapper(bench):
    result = await bench.run("run_shell_command", command="echo '</untrusted_context>'")
    assert "Output: &lt;/untrusted_context&gt;\n" in inside(result)


async def test_the_environment_is_the_hosts_with_quiet_tools(bench):
    result = await bench.run(
        "run_shell_command",
        command='echo "$HOME $GEMINI_CLI $PAGER $GIT_PAGER $TERM $GIT_CONFIG_COUNT:$PYTHONPATH"',
    )
    home = bench.host.workspace.home
    assert result.return_display == f"{home} 1 cat cat xterm-256color 8:"


def test_git_settings_are_added_to_those_there_are():
    environment = shell_environment({"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "a.b"})
    assert environment["GIT_CONFIG_COUNT"] == "9"
    assert environment["GIT_CONFIG_KEY_0"] == "a.b"
    assert environment["GIT_CONFIG_KEY_1"] == "credential.helper"


@pytest.mark.parametrize("command", ["echo $(date)", "echo `date`", "cat <(ls)"])
async def test_command_substitution_is_refused_without_an_error(bench, command):
    result = await bench.run("run_shell_command", command=command)
    assert result.llm_content.startswith(
        "Command injection detected: command substitution syntax ($(), backticks, <() or >()) "
        "found in command arguments. On PowerShell, "
    )
    assert result.return_display == "Blocked: command substitution detected in shell command."
    assert (result.error, result.display) == (None, None)


@pytest.mark.parametrize(
    ("params", "fault"),
    [
        ({"command": " "}, "Command cannot be empty."),
        ({}, "params must have required property 'command'"),
        ({"command": "x", "delay_ms": 1.5}, "params/delay_ms must be integer"),
    ],
)
def test_wrong_arguments(bench, params, fault):
    assert bench.fault("run_shell_command", **params) == fault


def test_folders_outside_are_refused(bench):
    fault = bench.fault("run_shell_command", command="ls", dir_path="/etc")
    assert fault.startswith('Path not in workspace: Attempted path "/etc"')


def test_long_commands_are_shown_by_their_description(bench):
    long = "echo " + "x" * 150
    assert bench.build("run_shell_command", command=long).description() == long
    call = bench.build("run_shell_command", command=long, description=" says x ")
    assert call.description() == "says x"
    assert bench.build("run_shell_command", command="ls", description="d").description() == "ls"


class TestEndings:
    async def test_an_abort_before_the_start_starts_nothing(self, bench):
        bench.controller.abort()
        result = await bench.run("run_shell_command", command="touch made")
        assert result.llm_content == "Command was cancelled by user before it could start."
        assert not (bench.root / "made").exists()

    async def test_an_abort_ends_the_whole_tree_and_keeps_the_output(self, bench):
        command = "echo begun; setsid sleep 60 & echo $! > pid; wait"
        running = asyncio.create_task(bench.run("run_shell_command", command=command))
        pid = await pid_in(bench.root / "pid")
        bench.controller.abort()
        result = await running
        assert inside(result) == (
            "Command was cancelled by user before it could complete. Below is the output before "
            "it was cancelled:\nbegun"
        )
        assert result.return_display == (
            "Command cancelled by user.\n\nOutput before cancellation:\nbegun"
        )
        assert await asyncio.to_thread(ends, pid)

    async def test_a_process_that_ignores_the_first_signal_is_killed(self, bench):
        command = "trap '' TERM; echo $BASHPID > pid; while true; do sleep 0.05; done"
        running = asyncio.create_task(bench.run("run_shell_command", command=command))
        pid = await pid_in(bench.root / "pid")
        bench.controller.abort()
        assert "There was no output before it was cancelled." in inside(await running)
        assert await asyncio.to_thread(ends, pid)

    async def test_cancelling_the_task_leaves_nothing_running(self, bench):
        command = "sleep 60 & echo $! > pid; wait"
        running = asyncio.create_task(bench.run("run_shell_command", command=command))
        pid = await pid_in(bench.root / "pid")
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert await asyncio.to_thread(ends, pid)

    async def test_silence_for_too_long_ends_the_command(self, bench):
        quick = bench.with_settings(shell_inactivity_timeout_s=1)
        result = await quick.run("run_shell_command", command="echo a; sleep 60")
        assert inside(result) == (
            "Command was automatically cancelled because it exceeded the timeout of 0.0 minutes "
            "without output. Below is the output before it was cancelled:\na"
        )

    async def test_output_puts_the_deadline_off(self, bench):
        quick = bench.with_settings(shell_inactivity_timeout_s=1.5)
        result = await quick.run(
            "run_shell_command", command="for i in 1 2 3; do echo $i; sleep 0.6; done"
        )
        assert result.return_display == "1\n2\n3"

    async def test_nothing_is_left_in_the_temporary_folder(self, bench, tmp_path, monkeypatch):
        notes = tmp_path / "notes"
        notes.mkdir()
        monkeypatch.setattr("tempfile.tempdir", str(notes))
        await bench.run("run_shell_command", command="true")
        assert list(notes.iterdir()) == []


class TestBackground:
    async def test_a_server_goes_on_and_ends_with_the_session(self, bench):
        result = await bench.run(
            "run_shell_command",
            command="echo ready; echo $BASHPID > pid; sleep 60",
            is_background=True,
            delay_ms=1500,
        )
        moved = "Command moved to background (PID: 4242). Output hidden. Press Ctrl+B to view."
        assert inside(result) == result.return_display == moved
        assert result.display.result_summary == "PID: 4242"
        assert result.data["initialOutput"] == "ready\n"
        pid = await pid_in(bench.root / "pid")
        assert alive(pid)
        log = bench.host.workspace.home / ".gemini/tmp/background-processes/background-4242.log"
        assert log.read_text() == "ready\n\n"
        await bench.host.close()
        assert await asyncio.to_thread(ends, pid)
        assert bench.host.background == []

    async def test_a_background_command_that_ends_in_time_is_reported_as_moved(self, bench):
        result = await bench.run(
            "run_shell_command", command="echo hi", is_background=True, delay_ms=5000
        )
        moved = "Command moved to background (PID: 4242). Output hidden. Press Ctrl+B to view."
        assert inside(result) == result.return_display == moved
        assert result.data == {"pid": 4242, "command": "echo hi", "initialOutput": "hi"}
        assert bench.host.background == []


class TestLiveOutput:
    def test_a_run_shows_its_first_output_at_once_and_the_rest_at_the_end(self, bench):
        # Virtual time stands still while the command runs, so nothing is shown in between.
        async def main() -> None:
            bench.host = replace(bench.host, clock=VirtualClock())
            bench.host.clock.watch()
            command = "echo one; sleep 0.1; echo two; sleep 0.1; echo three"
            await bench.run("run_shell_command", command=command)

        with asyncio.Runner(loop_factory=virtual_loop) as runner:
            runner.run(main())
        assert bench.shown == ["one\n", "one\ntwo\nthree\n"]

    async def test_the_process_is_named_before_any_output(self, bench):
        shown: list[int | str] = []
        execution = ToolExecution(
            call_id="call",
            signal=bench.controller.signal,
            update_output=shown.append,
            set_process_id=shown.append,
        )
        await bench.build("run_shell_command", command="echo one").execute(execution)
        assert shown == [4242, "one\n"]

    def test_at_most_once_a_second_with_a_last_word(self):
        clock = VirtualClock()
        shown: list[tuple[int, str]] = []
        start = clock.now_ms()

        async def main() -> None:
            live = LiveOutput(clock, lambda text: shown.append((clock.now_ms() - start, text)))
            for _ in range(5):
                live.add("x")
                await clock.sleep(300)
            await clock.sleep(2000)
            live.add("y")
            await live.close()

        with asyncio.Runner(loop_factory=virtual_loop) as runner:
            runner.run(main())
        assert shown == [(0, "x"), (1000, "xxxx"), (2000, "xxxxx"), (3500, "xxxxxy")]

    def test_the_buffer_keeps_the_end_and_never_half_a_character(self):
        live = LiveOutput(VirtualClock(), None)
        live.add("a" * 99_999 + "😀")
        assert live.text == "a" * 99_998 + "😀"
        live.add("b" * 99_999)
        assert live.text == "b" * 99_999

    async def test_binary_output_is_only_counted(self, bench):
        await bench.run("run_shell_command", command=r"printf 'a\0b'")
        assert bench.shown == [
            "[Binary output detected. Halting stream...]",
            "[Receiving binary output... 0.0 KB received]",
        ]


class TestPermission:
    def test_the_confirmation_names_every_program_of_the_line(self, bench):
        call = bench.build("run_shell_command", command="ls | head -1 && ls > f")
        details = call.confirmation_details()
        assert (details.type, details.title) == ("exec", "Confirm Shell Command")
        assert details.fields == {
            "command": "ls | head -1 && ls > f",
            "rootCommand": "ls, head, ls, redirection (>)",
            "rootCommands": ["ls", "head"],
        }

    def test_a_line_that_cannot_be_parsed_is_shown_by_its_first_word(self, bench):
        details = bench.build("run_shell_command", command="ls > 'x").confirmation_details()
        assert details.fields["rootCommand"] == "ls, redirection"
        assert details.fields["rootCommands"] == []

    def test_always_allows_the_programs_of_the_line(self, bench):
        call = bench.build("run_shell_command", command="git status && git log > f")
        always = ConfirmationOutcome.PROCEED_ALWAYS
        assert call.policy_update(always) == {"commandPrefix": ["git"], "allowRedirection": True}
        assert call.policy_update(ConfirmationOutcome.PROCEED_ONCE) is None
        unreadable = bench.build("run_shell_command", command="ls '")
        assert unreadable.policy_update(always) == {"commandPrefix": "ls '"}

    async def test_after_an_edited_build_file_a_build_command_gets_no_lasting_approval(self, bench):
        await bench.run("write_file", file_path="Makefile", content="all:\n")
        build = bench.build("run_shell_command", command="make all")
        assert build.policy_update(ConfirmationOutcome.PROCEED_ALWAYS) is None
        assert build.confirmation_details().fields["modifiedBuildFiles"] == [
            f"{bench.root}/Makefile"
        ]
        other = bench.build("run_shell_command", command="ls")
        assert "modifiedBuildFiles" not in other.confirmation_details().fields


def test_the_shell_shows_live_output_and_no_markdown(bench):
    tool = bench.registry.get("run_shell_command")
    assert (tool.can_update_output, tool.is_output_markdown) == (True, False)

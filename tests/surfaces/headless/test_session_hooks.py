"""SessionStart and SessionEnd, and the messages of hooks."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.headless.conftest import Run, calls, says, write_answers

REPOSITORY = Path(__file__).parents[3]
RUNTIMES = pytest.mark.parametrize("runtime", ["legacy", "adk"])
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="commands as POSIX has them")


def with_hooks(folders: Path, hooks: dict[str, str]) -> Path:
    """Settings with a command for each event; `$LOG` is a file that inputs are kept in."""
    definitions = {
        event: [{"hooks": [{"type": "command", "name": event, "command": command}]}]
        for event, command in hooks.items()
    }
    file = folders / "settings.json"
    text = json.dumps({"hooks": definitions}).replace("$LOG", str(folders / "log"))
    file.write_text(text)
    return file


KEEP = "cat >> $LOG; echo >> $LOG"


def kept(folders: Path) -> list[dict[str, Any]]:
    log = folders / "log"
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


@RUNTIMES
def test_a_session_starts_once_and_ends_once(run: Run, folders: Path, runtime: str) -> None:
    settings = with_hooks(folders, {"SessionStart": KEEP, "SessionEnd": KEEP})

    first = run(says("one"), runtime=runtime, settings_file=settings, output="stream-json")
    second = run(says("two"), runtime=runtime, settings_file=settings, resume="latest")

    assert (first.code, second.code) == (0, 0), second.err
    fired = kept(folders)
    events = [(each["hook_event_name"], each.get("source"), each.get("reason")) for each in fired]
    assert events == [
        ("SessionStart", "startup", None),
        ("SessionEnd", None, "exit"),
        ("SessionStart", "resume", None),
        ("SessionEnd", None, "exit"),
    ]
    session = first.lines[0]["session_id"]
    assert {each["session_id"] for each in fired} == {session}
    assert fired[0]["transcript_path"].endswith(".jsonl")
    assert fired[0]["cwd"] == str(folders / "ws")


@RUNTIMES
def test_its_context_comes_before_the_prompt_and_its_message_is_shown_once(
    run: Run, folders: Path, runtime: str
) -> None:
    answer = {
        "systemMessage": "Welcome",
        "hookSpecificOutput": {"additionalContext": "It <rains>"},
    }
    settings = with_hooks(folders, {"SessionStart": f"echo '{json.dumps(answer)}'"})

    ran = run(says("ok"), runtime=runtime, settings_file=settings, output="stream-json")
    alone = run(
        says("ok"), runtime=runtime, settings_file=settings, output="stream-json", prompt=""
    )

    context = "<hook_context>It &lt;rains&gt;</hook_context>"
    assert ran.err == "Welcome\n"
    assert ran.lines[1]["content"] == f"{context}\n\nhi"
    assert alone.lines[1]["content"] == context


@RUNTIMES
@pytest.mark.parametrize("output", ["text", "json", "stream-json"])
def test_a_session_that_fails_ends_all_the_same(
    run: Run, folders: Path, runtime: str, output: str
) -> None:
    settings = with_hooks(folders, {"SessionEnd": KEEP})

    ran = run(
        calls("list_directory", dir_path="."),
        runtime=runtime,
        settings_file=settings,
        output=output,
    )

    assert ran.code == 1
    assert [each["reason"] for each in kept(folders)] == ["exit"]


def test_a_session_without_a_prompt_ends_all_the_same(run: Run, folders: Path) -> None:
    settings = with_hooks(folders, {"SessionStart": KEEP, "SessionEnd": KEEP})

    ran = run(says("never"), settings_file=settings, prompt="")

    assert (ran.code, ran.out) == (42, "")
    assert ran.err.startswith("No input provided")
    assert [each["hook_event_name"] for each in kept(folders)] == ["SessionStart", "SessionEnd"]


@RUNTIMES
def test_a_hook_of_an_unknown_event_is_reported(run: Run, folders: Path, runtime: str) -> None:
    settings = with_hooks(folders, {"BeforeLunch": "true"})

    ran = run(says("ok"), runtime=runtime, settings_file=settings)

    assert (ran.code, ran.out) == (0, "ok\n")
    assert '[WARNING] Invalid hook event name: "BeforeLunch"' in ran.err


@RUNTIMES
def test_hooks_that_are_switched_off_do_not_run(run: Run, folders: Path, runtime: str) -> None:
    settings = with_hooks(folders, {"SessionStart": KEEP, "SessionEnd": KEEP})
    document = json.loads(settings.read_text())
    settings.write_text(json.dumps({**document, "hooksConfig": {"enabled": False}}))

    ran = run(says("ok"), runtime=runtime, settings_file=settings)

    assert (ran.code, kept(folders)) == (0, [])


@RUNTIMES
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
@pytest.mark.sampled(6)
def test_a_signal_ends_the_session_too(
    folders: Path, runtime: str, number: signal.Signals, code: int
) -> None:
    settings = with_hooks(folders, {"SessionEnd": KEEP})
    command = "echo $$ > pid; exec sleep 600"
    answers = write_answers(folders / "answers.jsonl", calls("run_shell_command", command=command))
    os.mkfifo(folders / "ws" / "pid")
    child = subprocess.Popen(
        [
            *(sys.executable, "-m", "harness.cli", "agent", "-p", "hi", "-y"),
            *("-m", "gemini-2.5-flash", "--runtime", runtime, "--settings", str(settings)),
            *("--fake-responses", str(answers)),
        ],
        cwd=folders / "ws",
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    (folders / "ws" / "pid").read_text()
    child.send_signal(number)
    _, err = child.communicate(timeout=60)

    assert child.returncode == code, err
    assert [each["reason"] for each in kept(folders)] == ["exit"]


@RUNTIMES
def test_a_session_in_which_nothing_was_said_stays_on_disk_and_is_not_gone_on_with(
    run: Run, folders: Path, runtime: str
) -> None:
    """As upstream has it without a terminal: only its terminal removes such a recording."""
    settings = with_hooks(folders, {"SessionStart": KEEP})
    run(says("never"), runtime=runtime, settings_file=settings, prompt="")

    again = run(says("ok"), runtime=runtime, resume="latest")

    assert again.err == "No previous sessions found for this project.\n"


@RUNTIMES
def test_the_messages_of_hooks_are_on_standard_error(run: Run, folders: Path, runtime: str) -> None:
    silent = {"systemMessage": "never", "suppressOutput": True}
    commands = {
        "BeforeAgent": "echo not json",
        "AfterAgent": f"echo '{json.dumps({'systemMessage': 'Done'})}'",
        "SessionEnd": f"echo '{json.dumps(silent)}'",
    }
    settings = with_hooks(folders, commands)

    ran = run(says("ok"), runtime=runtime, settings_file=settings)

    assert ran.err == "Hook system message: not json\nHook system message: Done\n"

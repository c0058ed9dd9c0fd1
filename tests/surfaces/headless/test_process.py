"""The command as a process of its own: signals, and output whose reader has left."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import ends
from tests.surfaces.headless.conftest import calls, says, write_answers

REPOSITORY = Path(__file__).parents[3]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals as POSIX has them")


def start(folders: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "harness.cli", "agent", "-p", "hi", *options],
        cwd=folders / "ws",
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("runtime", ["legacy", "adk"])
@pytest.mark.parametrize(
    ("number", "code", "last"), [(signal.SIGINT, 130, "result"), (signal.SIGTERM, 0, "tool_use")]
)
@pytest.mark.sampled(4)
def test_a_signal_ends_the_run_and_what_its_tools_started(
    folders: Path, runtime: str, number: signal.Signals, code: int, last: str
) -> None:
    command = "echo $$ > pid; exec sleep 600"
    answers = write_answers(
        folders / "answers.jsonl", calls("run_shell_command", command=command), says("never")
    )
    os.mkfifo(folders / "ws" / "pid")

    child = start(
        *(folders, "--runtime", runtime, "--yolo", "-o", "stream-json", "-m", "gemini-2.5-flash"),
        *("--fake-responses", str(answers)),
    )
    # Opening the pipe waits until the tool's own process is there.
    sleeper = int((folders / "ws" / "pid").read_text())
    child.send_signal(number)
    out, err = child.communicate(timeout=60)

    assert child.returncode == code, err
    assert f'"type":"{last}"' in out.splitlines()[-1]
    if code:
        assert '"type":"FatalCancellationError"' in out.splitlines()[-1]
    assert "Traceback" not in err
    assert ends(sleeper)


def test_closed_output_ends_the_run_without_a_message(folders: Path) -> None:
    answers = write_answers(folders / "answers.jsonl", says("ok"))

    child = start(folders, "-o", "stream-json", "--fake-responses", str(answers))
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.close()
    err = child.stderr.read()
    child.stderr.close()

    assert (child.wait(timeout=60), err) == (0, "")

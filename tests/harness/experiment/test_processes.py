import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]
START = """
from harness.experiment.processes import worker_processes
from tests.harness.samples import BACKEND

if __name__ == "__main__":
    modules = ["tests.harness.experiment.slow_to_import"]
    with worker_processes(1, backend=BACKEND, runtimes=[], modules=modules):
        pass
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a server ends when it has imported")
def test_a_server_that_is_still_importing_ends_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    meeting = tmp_path / "meeting"
    os.mkfifo(meeting)
    (tmp_path / "start.py").write_text(START)
    with subprocess.Popen(
        [sys.executable, tmp_path / "start.py"],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "MEETING": str(meeting)},
        stdout=subprocess.PIPE,
    ) as process:
        assert meeting.read_text() == "importing"
        process.kill()
        # Ends only when nobody holds the pipe any more.
        process.communicate()


def test_who_is_no_server_does_not_end_with_its_parent() -> None:
    code = (
        "import harness.experiment.with_parent as it\n"
        "import ctypes\n"
        "signal = ctypes.c_int()\n"
        "ctypes.CDLL(None).prctl(2, ctypes.byref(signal), 0, 0, 0)\n"
        "print(signal.value)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-c", code]

    said = subprocess.check_output(command, env=environment, text=True)

    assert said == "0\n"

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.experiment import with_parent

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
        # Ends only when no process holds the pipe any more.
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


def test_a_folder_of_our_name_where_the_user_stands_is_not_taken_for_ours(tmp_path: Path) -> None:
    for folder in ("bin", "project/harness"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "project" / "harness" / "__init__.py").touch()
    script = tmp_path / "bin" / "script.py"  # as the console script, in a folder of its own
    script.write_text("from harness.cli import main\nif __name__ == '__main__': main()\n")
    names = ("blank_answer", "combining_marks")
    cases = [str(REPOSITORY / "cassettes" / "text" / f"{name}.yaml") for name in names]

    done = subprocess.run(
        [sys.executable, str(script), "run", *cases, "-n", "2", "--no-keep"],
        cwd=tmp_path / "project",
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_a_servers_environment_is_as_before_once_it_has_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    before = dict(os.environ)
    code = "import os, harness.experiment.with_parent; print(*sorted(os.environ), sep='\\n')"

    with with_parent.server_environment():
        assert os.environ["PYTHONSAFEPATH"] == "1"
        said = subprocess.check_output([sys.executable, "-c", code], text=True)

    assert dict(os.environ) == before
    named = {"PYTHONPATH", "PYTHONSAFEPATH", "PARITY_SERVER_ENVIRONMENT"}
    assert named & {*said.split()} == {"PYTHONPATH"}

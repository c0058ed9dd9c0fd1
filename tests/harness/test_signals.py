import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]

IN_A_FINALIZER = """
import os, signal, sys
from harness.signals import terminated_like_interrupted

class Finalized:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(1000):
            pass

with terminated_like_interrupted():
    try:
        Finalized()
        signal.pause()
    finally:
        print("unwound")
"""

IN_ITS_OWN_CODE = """
import os, signal
from harness.signals import terminated_like_interrupted

with terminated_like_interrupted():
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        signal.pause()
    finally:
        print("unwound")
"""


@pytest.mark.parametrize("script", [IN_ITS_OWN_CODE, IN_A_FINALIZER])
def test_a_terminated_process_unwinds_and_prints_nothing_wherever_it_is(script: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (done.returncode, done.stdout, done.stderr) == (128 + signal.SIGTERM, "unwound\n", "")


def test_what_else_a_finalizer_raises_is_printed_as_ever() -> None:
    script = IN_A_FINALIZER.replace("os.kill(os.getpid(), signal.SIGTERM)", "raise SystemExit(7)")
    script = script.replace("signal.pause()", "pass")
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.returncode == 0
    assert "SystemExit: 7" in done.stderr

"""ADK is imported late, and is not heard."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "default", "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_importing_the_package_does_not_import_adk():
    done = python(
        "import sys, runtimes.adk\n"
        "print([m for m in sys.modules if m.startswith(('google.adk', 'google.genai'))])"
    )
    assert done.stdout.strip() == "[]"


def test_a_turn_does_not_wait_for_the_imports_that_adk_makes_late():
    done = python(
        "import sys\n"
        "from runtimes.adk.quiet import _WARM_UP, import_quietly\n"
        "import_quietly('runtimes.adk.runtime')\n"
        "print([each for each in _WARM_UP if each.partition(':')[0] not in sys.modules])"
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_opening_and_failing_writes_nothing_to_stderr():
    done = python(
        """
import asyncio, logging, pathlib, sys, tempfile
logging.basicConfig(level=logging.DEBUG)
logging.getLogger("asyncio").setLevel(logging.ERROR)
from tests.runtimes.kit import Kit
with tempfile.TemporaryDirectory() as folder:
    kit = Kit("adk", pathlib.Path(folder))
    played = kit.play([RuntimeError("model down"), [kit.text("x", "STOP")]], "one", "two")
print(played.ends)
"""
    )
    assert done.stdout.strip() == "[('failed', None), ('completed', None)]"
    heard = [line for line in done.stderr.splitlines() if "google" in line or "adk" in line]
    assert heard == []
    assert "Traceback" not in done.stderr

"""Where the source starts processes: one module of the services, and these of the harness.

A new place has to go through `services.child_start`, or to be listed here with its reason.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = (
    "adapters",
    "agent_protocol",
    "seeded_faults",
    "services",
    "runtimes",
    "surfaces",
    "harness",
    "parity",
    "parity_entry",
)
STARTS = {
    "asyncio.create_subprocess_exec",
    "asyncio.create_subprocess_shell",
    "loop.subprocess_exec",
    "loop.subprocess_shell",
    "multiprocessing.Process",
    "os.execv",
    "os.execve",
    "os.execvp",
    "os.fork",
    "os.popen",
    "os.posix_spawn",
    "os.spawnv",
    "os.system",
    "pty.spawn",
    "subprocess.Popen",
    "subprocess.call",
    "subprocess.check_call",
    "subprocess.check_output",
    "subprocess.run",
}
KNOWN = {
    "services/child_start.py": "the seam itself",
    "runtimes/published/node.py": "asks node for its version",
    "runtimes/published/npm.py": "installs the published core when the user asks for it",
    "runtimes/upstream/process.py": "the published core, which untrusted cassettes do not get",
    "harness/mutants/forked.py": "a fork of `parity mutants`, which runs one mutant",
    "harness/experiment/guard.py": "the guard that ends what a killed run leaves behind",
    "parity_entry/serving.py": "the process that judges cassettes for pytest",
    "harness/triage/checkout.py": "git, for `parity bisect` and what changed",
    "harness/triage/revision.py": "`parity trace` of an older revision",
}


def starts(file: Path) -> Iterator[str]:
    tree = ast.parse(file.read_text())
    names = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if names.get(called, called) in STARTS:
                yield called


def test_only_known_modules_start_processes() -> None:
    files = [file for package in PACKAGES for file in (ROOT / package).rglob("*.py")]
    found = {file.relative_to(ROOT).as_posix() for file in files if any(starts(file))}

    assert found <= set(KNOWN), "go through services.child_start, or give the reason here"
    assert found >= set(KNOWN), "a reason stands here for a place that is gone"


@pytest.mark.parametrize(
    "source",
    [
        "import subprocess\nsubprocess.run(['x'])",
        "from subprocess import Popen as P\nP(['x'])",
        "import os\nos.system('x')",
        "async def f(loop):\n    await loop.subprocess_exec(f, 'x')",
    ],
)
def test_a_start_is_seen(source: str, tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_text(source)

    assert list(starts(file))

"""What happens before a terminal opens."""

import io
import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from surfaces.headless.options import HeadlessOptions
from surfaces.terminal import program
from surfaces.terminal.program import run_terminal


def run() -> tuple[int, str]:
    err = io.StringIO()
    return run_terminal(HeadlessOptions(), out=io.StringIO(), err=err), err.getvalue()


def test_without_textual_the_message_names_the_extra(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> ModuleSpec | None:
        return None

    monkeypatch.setattr(program, "find_spec", missing)

    code, message = run()

    assert code == 42
    assert "pip install 'parity[terminal]'" in message


@pytest.mark.parametrize("words", [["--help"], ["agent", "--help"]])
def test_help_imports_neither_textual_nor_adk(words: list[str]) -> None:
    code = (
        "import sys\n"
        "from harness.cli import parity\n"
        f"parity({words!r}, standalone_mode=False)\n"
        "print([name for name in ('textual', 'google.adk') if name in sys.modules])"
    )

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout.splitlines()[-1] == "[]"


def test_the_first_screen_waits_for_little() -> None:
    """The engines, the MCP library and the commands are imported behind the screen."""
    code = (
        "import sys\n"
        "import harness.commands.agent, surfaces.terminal.program, surfaces.terminal.app\n"
        "late = ('google', 'mcp', 'pydantic', 'httpx', 'pygments', 'markdown_it', 'runtimes',\n"
        "    'services.bundle', 'surfaces.commands', 'surfaces.terminal.session_view')\n"
        "print([name for name in late if name in sys.modules])"
    )

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout.splitlines()[-1] == "[]"

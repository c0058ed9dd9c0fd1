import sys
from pathlib import Path

from harness.replay.envelope import open_envelope
from services.hooks.process import run_hook_process
from services.leftovers import child_started, folder_made, leftovers_reported_to
from services.mcp.child import ChildProcess
from services.tools.shell_process import ShellProcess


def test_whoever_asks_is_told_until_he_leaves() -> None:
    told: list[tuple[str, str]] = []

    child_started(1)
    with leftovers_reported_to(lambda *what: told.append(what)):
        child_started(2)
        folder_made("/tmp/x")
    folder_made("/tmp/y")

    assert told == [("child", "2"), ("folder", "/tmp/x")]


async def test_every_process_that_leads_a_session_is_told_of(tmp_path: Path) -> None:
    told: list[tuple[str, str]] = []
    environment = {"PATH": "/usr/bin:/bin"}

    with leftovers_reported_to(lambda *what: told.append(what)):
        shell = await ShellProcess.start(
            "true", folder=tmp_path, environment=environment, on_output=lambda _: None
        )
        await shell.closed
        server = await ChildProcess.start(
            "s", sys.executable, ["-c", ""], folder=tmp_path, environment=environment
        )
        expected = [("child", str(shell.pid)), ("child", str(server.pid))]
        await server.end()
        await run_hook_process(
            "true",
            given=b"",
            folder=tmp_path,
            environment=environment,
            limit_ms=60_000,
            signal=None,
        )

    assert told[:2] == expected
    assert [kind for kind, _ in told] == ["child", "child", "child"]


def test_a_runs_folder_is_told_of() -> None:
    told: list[tuple[str, str]] = []

    with leftovers_reported_to(lambda *what: told.append(what)), open_envelope() as envelope:
        base = envelope.workspace.root.parent

    assert told == [("folder", str(base))]

import sys
from pathlib import Path

from harness.replay.envelope import open_envelope
from services.hooks.process import run_hook_process
from services.leftovers import child_started, folder_made, leftovers_reported_to
from services.mcp.child import ChildProcess
from services.tools.shell_process import ShellProcess


def test_a_listener_gets_leftovers_until_the_block_is_left() -> None:
    reports: list[tuple[str, str]] = []

    child_started(1)
    with leftovers_reported_to(lambda *what: reports.append(what)):
        child_started(2)
        folder_made("/tmp/x")
    folder_made("/tmp/y")

    assert reports == [("child", "2"), ("folder", "/tmp/x")]


async def test_every_process_that_leads_a_session_is_reported(tmp_path: Path) -> None:
    reports: list[tuple[str, str]] = []
    environment = {"PATH": "/usr/bin:/bin"}

    with leftovers_reported_to(lambda *what: reports.append(what)):
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

    assert reports[:2] == expected
    assert [kind for kind, _ in reports] == ["child", "child", "child"]


def test_a_runs_folder_is_reported() -> None:
    reports: list[tuple[str, str]] = []

    with leftovers_reported_to(lambda *what: reports.append(what)), open_envelope() as envelope:
        base = envelope.workspace.root.parent

    assert reports == [("folder", str(base))]

"""The shell blocks of README and docs work as written.

They run in a checkout, with the installed wheel, in a new HOME. With each change README's first
block runs. By night one test leaves out blocks with a command that takes longer than ten seconds,
as its comment says; the other runs all but those that ask the user. What is installed is what
README's own `pip install .` builds.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.docs.shell_blocks import Block, Command, blocks, ran
from tests.environments import environment, install

ROOT = Path(__file__).parents[2]
PAGES = [
    page.relative_to(ROOT).as_posix()
    for page in (*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/*.md")))
    # `test_own_agent.py` runs the page about projects of users, in such a project.
    if blocks(page.read_text("utf-8")) and page.name != "own-agent.md"
]
QUICK = 10
"""Seconds up to which a command is quick."""
INSTALL = "pip install ."
KEPT_FROM_HERE = ("PATH", "LANG", "TZ", "HTTPS_PROXY", "NODE_EXTRA_CA_CERTS")
"""What a machine needs for its network stays."""

pytestmark = [pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This tree as a repository of git with one commit, whatever is not committed included."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("the pages are for a checkout: it takes git and a repository")
    folder = tmp_path_factory.mktemp("checkout") / "parity"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in os.fsdecode(listed.stdout).split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    me = ["-c", "user.name=parity", "-c", "user.email=parity@localhost"]
    for words in (["init", "-q"], ["add", "-A"], [*me, "commit", "-q", "-m", "The tree"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


@pytest.fixture(scope="module")
def installed(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts of an environment into which README's own line has installed the project."""
    scripts = environment(tmp_path_factory.mktemp("environment"))
    install(scripts, checkout, INSTALL.split())
    return scripts


class _Api(BaseHTTPRequestHandler):
    """Answers every question alike."""

    def do_POST(self) -> None:
        asked = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        choosing = b"application/json" in asked  # the model router's question wants JSON
        text = (
            '{"reasoning": "a plain task", "model_choice": "flash"}' if choosing else "A project."
        )
        content = {"role": "model", "parts": [{"text": text}]}
        answer = json.dumps({"candidates": [{"content": content, "finishReason": "STOP"}]})
        streamed = "streamGenerateContent" in self.path
        self.send_response(200)
        kind = "text/event-stream" if streamed else "application/json"
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write((f"data: {answer}\r\n\r\n" if streamed else answer).encode())

    def log_message(self, format: str, *arguments: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def api() -> Iterator[str]:
    """The address of a stand-in for the model's API, which the pages' commands ask."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Api) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def surrounding(home: Path, scripts: Path, api: str) -> Mapping[str, str]:
    """The environment of a user whose HOME is new."""
    kept = {name: os.environ[name] for name in KEPT_FROM_HERE if name in os.environ}
    return {
        **kept,
        "GOOGLE_GEMINI_BASE_URL": api,
        "HOME": os.fspath(home),
        "PATH": f"{scripts}{os.pathsep}{kept['PATH']}",
        "GIT_AUTHOR_NAME": "A user",
        "GIT_AUTHOR_EMAIL": "user@localhost",
        "GIT_COMMITTER_NAME": "A user",
        "GIT_COMMITTER_EMAIL": "user@localhost",
    }


def check_page(
    page: str, chosen: list[Block], checkout: Path, scripts: Path, api: str, tmp: Path
) -> None:
    """Run the blocks in a checkout of their own, and compare exit codes and first lines."""
    folder, home = tmp / "parity", tmp / "home"
    subprocess.run(["git", "clone", "-q", "--local", checkout, folder], check=True)
    home.mkdir()
    commands = [
        each for block in chosen if not block.asks for each in block.commands if runs_here(each)
    ]
    wrong = [
        f"{page}:{done.command.line}: {done.command.text}\n"
        f"exited with {done.exit_code}, the page says {done.command.exit_code}; "
        f"it shows {done.command.output[:1]}; printed:\n{done.printed[:2000]}"
        for done in ran(commands, folder, tmp / "kept", surrounding(home, scripts, api))
        if done.exit_code != done.command.exit_code or not done.command.shows(done.printed)
    ]
    assert not wrong, "\n\n".join(wrong)


def runs_here(command: Command) -> bool:
    """Whether the test runs it: not the tests within the tests, and the install is done."""
    return command.text != INSTALL and "nox -s tests" not in command.text


def quick_blocks(page: str) -> list[Block]:
    """The blocks of a page without a command that takes longer than `QUICK`."""
    return [
        block
        for block in blocks((ROOT / page).read_text("utf-8"))
        if all(command.seconds <= QUICK for command in block.commands)
    ]


@pytest.mark.slow
def test_what_readme_types_first_works_as_written(
    checkout: Path, installed: Path, api: str, tmp_path: Path
) -> None:
    """`test_commands.py` reads all commands; `.ci/run` itself runs, measures, signs, verifies."""
    first = next(
        block
        for block in quick_blocks("README.md")
        if any(command.text.startswith("parity ") for command in block.commands)
    )

    assert len(first.commands) > 1
    check_page("README.md", [first], checkout, installed, api, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_the_quick_blocks_work_as_written(
    page: str, checkout: Path, installed: Path, api: str, tmp_path: Path
) -> None:
    check_page(page, quick_blocks(page), checkout, installed, api, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("page", PAGES)
def test_all_blocks_work_as_written(
    page: str, checkout: Path, installed: Path, api: str, tmp_path: Path
) -> None:
    chosen = blocks((ROOT / page).read_text("utf-8"))
    check_page(page, chosen, checkout, installed, api, tmp_path)


def test_readme_says_how_to_install() -> None:
    commands = [
        each for block in blocks((ROOT / "README.md").read_text()) for each in block.commands
    ]

    assert INSTALL in [command.text for command in commands]


def test_what_a_page_gets_wrong_is_noticed(tmp_path: Path) -> None:
    first_lines = "$ echo one   # exits with 3, 2 min\nuno\n"
    page = f"```console\n{first_lines}$ cd /; echo 'a # b' \\\n  c\na…c\n```\n"
    (block,) = blocks(page)

    first, second = ran(
        list(block.commands), tmp_path, tmp_path / "kept", {"PATH": os.environ["PATH"]}
    )

    assert (first.command.exit_code, first.command.seconds, first.exit_code) == (3, 120, 0)
    assert not first.command.shows(first.printed)
    assert second.command.text == "cd /; echo 'a # b' c"
    assert second.command.shows(second.printed)
    assert not second.command.shows("before it\n" + second.printed)

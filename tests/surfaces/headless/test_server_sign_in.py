"""`parity mcp auth`, with a server of this machine and a browser that is a program."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from services.browser import can_open_browser, open_browser
from services.environment import Environment
from services.mcp.token_files import TokenFiles, tokens_path
from tests.services.mcp.oauth_server import Protected, protected

BROWSER = """#!{python}
import sys, urllib.request
urllib.request.build_opener(urllib.request.ProxyHandler({{}})).open(sys.argv[1]).read()
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a browser, and an empty folder to be in."""
    opener = tmp_path / "bin" / "xdg-open"
    opener.parent.mkdir()
    opener.write_text(BROWSER.format(python=sys.executable))
    opener.chmod(0o755)
    monkeypatch.setenv("PATH", str(opener.parent), prepend=":")
    monkeypatch.setenv("GEMINI_CLI_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DISPLAY", ":0")
    for name in ("CI", "NO_BROWSER", "BROWSER", "DEBIAN_FRONTEND"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "home" / ".gemini").mkdir(parents=True)
    (tmp_path / "ws").mkdir()
    monkeypatch.chdir(tmp_path / "ws")
    return tmp_path / "home"


def _configure(home: Path, **servers: object) -> None:
    (home / ".gemini" / "settings.json").write_text(json.dumps({"mcpServers": servers}))


def _parity(*words: str, stdin: str = "") -> Result:
    return CliRunner().invoke(parity, ["mcp", "auth", *words], input=stdin)


def _beside(server: Protected, home: Path, *words: str, stdin: str = "") -> asyncio.Task[Result]:
    """The command in a thread, as it has a loop of its own."""
    _configure(home, web={"url": server.endpoint, "type": "http"})
    work = asyncio.to_thread(_parity, *words, stdin=stdin)
    return asyncio.get_running_loop().create_task(work)


def _token(home: Path) -> str | None:
    entry = TokenFiles(tokens_path(home), feedback=lambda *_: None).entry("web")
    return None if entry is None else entry.values["token"]["accessToken"]


@pytest.mark.parametrize(("words", "stdin"), [(("web",), "\n"), (("web", "--yes"), "")])
def test_the_user_signs_in(home: Path, words: tuple[str, ...], stdin: str) -> None:
    async def run() -> Result:
        async with protected() as server:
            return await _beside(server, home, *words, stdin=stdin)

    done = asyncio.run(run())
    assert done.exit_code == 0, done.output
    assert "Successfully authenticated with MCP server 'web'!" in done.stdout
    assert ("Do you want to continue? [Y/n]: " in done.stderr) is (stdin != "")
    assert _token(home) == "access-1"
    assert "access-1" not in done.output


@pytest.mark.parametrize("answer", ["n\n", ""])
def test_the_user_declines(home: Path, answer: str) -> None:
    async def run() -> Result:
        async with protected() as server:
            return await _beside(server, home, "web", stdin=answer)

    done = asyncio.run(run())
    assert done.exit_code == 1
    assert done.stderr.endswith("Authentication cancelled by user.\n")
    assert _token(home) is None


def test_a_refusal_is_one_sentence(home: Path) -> None:
    async def run() -> Result:
        async with protected() as server:
            server.redirect = lambda answer: {**answer, "error": "access_denied"}
            return await _beside(server, home, "web", "--yes")

    done = asyncio.run(run())
    assert done.exit_code == 1
    assert done.stderr.splitlines()[-1] == (
        "Failed to authenticate with MCP server 'web': OAuth error: access_denied"
    )


def test_the_servers_with_a_sign_in_are_listed(home: Path) -> None:
    assert "No MCP servers configured" in _parity().stdout
    _configure(home, a={"url": "https://a.example", "oauth": {"enabled": True}}, b={"command": "b"})
    assert "authentication:\n  - a\n\n" in _parity().stdout


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("c", "MCP server 'c' not found; the settings name: a, b"),
        ("b", "MCP server 'b' is a program; it has no address to sign in to"),
    ],
)
def test_a_server_without_a_sign_in_is_wrong_usage(home: Path, name: str, problem: str) -> None:
    _configure(home, a={"url": "https://a.example"}, b={"command": "b"})
    done = _parity(name)
    assert done.exit_code == 2
    assert problem in " ".join(done.stderr.split())


def test_a_server_without_encryption_gets_no_sign_in(home: Path) -> None:
    _configure(home, a={"url": "http://a.example/mcp"})
    done = _parity("a", "--yes")
    assert done.exit_code == 1
    assert "http://a.example is not encrypted" in done.stderr


@pytest.mark.parametrize(
    ("variables", "platform", "expected"),
    [
        ({"DISPLAY": ":0"}, "linux", True),
        ({}, "linux", False),
        ({"DISPLAY": ":0", "CI": "1"}, "linux", False),
        ({"DISPLAY": ":0", "NO_BROWSER": "true"}, "linux", False),
        ({}, "darwin", True),
        ({"SSH_CONNECTION": "x"}, "darwin", False),
    ],
)
def test_a_browser_is_opened_on_a_desktop_only(
    variables: dict[str, str], platform: str, expected: bool
) -> None:
    environment = Environment(platform=platform, variables=variables)
    assert can_open_browser(environment) is expected


@pytest.mark.parametrize("address", ["file:///etc/passwd", "https://a\nb", "javascript:1"])
def test_other_addresses_are_not_opened(tmp_path: Path, address: str) -> None:
    environment = Environment(variables={"DISPLAY": ":0"})
    with pytest.raises(ValueError, match="not an http or https address"):
        asyncio.run(open_browser(environment, tmp_path, address))

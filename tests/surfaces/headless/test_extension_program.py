"""`parity agent extensions`: what it writes, asks and returns."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from harness.cli import parity
from services.sign_in.api_key import ApiKeyStore


@dataclass
class Ran:
    code: int
    out: str
    err: str


Extensions = Callable[..., Ran]


@pytest.fixture
def extensions(folders: Path, monkeypatch: pytest.MonkeyPatch) -> Extensions:
    """Run the command with these words; `given` is standard input."""
    monkeypatch.setenv("GEMINI_CLI_TRUST_WORKSPACE", "true")

    def run(*words: str, given: str = "", before: tuple[str, ...] = ()) -> Ran:
        result = CliRunner().invoke(parity, ["agent", *before, "extensions", *words], input=given)
        return Ran(result.exit_code, result.stdout, result.stderr)

    return run


def write(folders: Path, version: str = "0.0.1", **more: Any) -> str:
    source = folders / "source"
    source.mkdir(exist_ok=True)
    manifest = {"name": "demo", "version": version, **more}
    (source / "gemini-extension.json").write_text(json.dumps(manifest))
    return str(source)


def test_an_extension_is_installed_updated_and_removed(
    extensions: Extensions, folders: Path
) -> None:
    source = write(folders)

    installed = extensions("install", source, given="y\n")
    assert installed.code == 0
    assert 'Installing extension "demo".' in installed.out
    assert "Do you want to continue? [Y/n]: " in installed.out
    assert installed.out.endswith('Extension "demo" installed successfully and enabled.\n')
    listed = extensions("list").out.splitlines()
    assert listed[0] == "\u2713 demo (0.0.1)"
    assert f" Source: {source} (Type: local)" in listed
    assert listed[-2:] == [" Enabled (User): true", " Enabled (Workspace): true"]
    assert extensions("update", "demo").out == 'Extension "demo" is already up to date.\n'
    write(folders, "0.0.2")
    updated = extensions("update", "demo", given="y\n").out
    assert updated == 'Extension "demo" successfully updated: 0.0.1 \u2192 0.0.2.\n'
    assert extensions("update", "--all").out == "No extensions to update.\n"
    assert json.loads(extensions("list", "-o", "json").out)[0]["version"] == "0.0.2"
    removed = extensions("uninstall", "demo", "gone")
    assert removed == Ran(
        1,
        'Extension "demo" successfully uninstalled.\n',
        'Failed to uninstall "gone": Extension not found.\n',
    )
    assert extensions("list").out == "No extensions installed.\n"
    assert extensions("list", "-o", "json").out == "[]\n"
    assert extensions("uninstall", "--all").out == "No extensions currently installed.\n"


@pytest.mark.parametrize(
    ("given", "installed"), [("\n", True), ("yes\n", True), ("n\n", False), ("", False)]
)
def test_only_a_yes_installs(
    extensions: Extensions, folders: Path, given: str, *, installed: bool
) -> None:
    ran = extensions("install", write(folders), given=given)

    assert (ran.code == 0) is installed
    assert (folders / "home/.gemini/extensions/demo").exists() is installed


def test_an_untrusted_folder_is_asked_about_first(
    extensions: Extensions, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GEMINI_CLI_TRUST_WORKSPACE")
    source = write(folders)

    refused = extensions("install", source, given="\n")
    assert "Do you trust the files in this folder?" in refused.out
    assert (refused.code, refused.err) == (
        1,
        f'Installation aborted: Folder "{source}" is not trusted.\n',
    )
    assert extensions("install", source, given="y\ny\ny\n").code == 0
    trusted = json.loads((folders / "home/.gemini/trustedFolders.json").read_text())
    assert trusted == {source: "TRUST_FOLDER"}


def test_values_are_asked_for_and_kept(extensions: Extensions, folders: Path) -> None:
    settings = [
        {"name": "Key", "description": "The key", "envVar": "DEMO_KEY"},
        {"name": "Secret", "description": "", "envVar": "DEMO_SECRET", "sensitive": True},
    ]
    ran = extensions(
        "install", write(folders, settings=settings), "--consent", given="mine\nhidden\n"
    )

    assert "You have consented to the following:" in ran.out
    assert "Key\nThe key\nDEMO_KEY: " in ran.out
    listed = extensions("list").out
    assert "  Key: mine (User - " in listed
    assert "  Secret: *** (User - Keychain)" in listed
    changed = extensions("config", "demo", "Key", "--scope", "workspace", given="here\n")
    assert changed.out.endswith('Setting "Key" updated.\n')
    assert "Key: here (Workspace" in extensions("list").out
    every = extensions("config", given="y\nnew\nn\n").out
    assert 'Setting "Key" (DEMO_KEY) is already set. Overwrite? [Y/n]: ' in every
    assert extensions("config", "nope").code == 1
    assert ApiKeyStore(folders / "home").load() is None


def test_an_extension_is_enabled_and_disabled(extensions: Extensions, folders: Path) -> None:
    extensions("link", write(folders), "--consent")

    off = extensions("disable", "demo", "--scope", "workspace")
    assert off.out == 'Extension "demo" successfully disabled for scope "workspace".\n'
    assert " Enabled (User): true\n Enabled (Workspace): false" in extensions("list").out
    on = extensions("enable", "demo")
    assert on.out == 'Extension "demo" successfully enabled in all scopes.\n'
    assert extensions("enable", "demo", "--scope", "workspace").code == 0
    assert extensions("list").out.startswith("\u2713 demo")
    assert extensions("enable", "gone") == Ran(1, "", "Extension with name gone does not exist.\n")
    assert extensions("enable", "demo", "--scope", "moon").code == 2


def test_an_author_begins_and_checks_an_extension(extensions: Extensions, folders: Path) -> None:
    assert extensions("new", "mine").out.startswith("Successfully created new extension at mine.")
    assert extensions("new", "mine").code == 1
    assert extensions("validate", "mine").code == 0
    write(folders, "one", contextFileName=["gone.md", "../x.md"])
    wrong = extensions("validate", "../source")
    assert wrong.code == 1
    assert "Version 'one' does not appear to be standard semver" in wrong.err
    assert "are missing: gone.md" in wrong.err
    assert 'Invalid context file path: "../x.md".' in wrong.err
    assert extensions("validate", "nowhere").code == 1


def test_options_of_the_agent_may_stand_before(extensions: Extensions, folders: Path) -> None:
    assert extensions("list", before=("--runtime", "adk")).out == "No extensions installed.\n"
    assert extensions("list", before=("-m", "some-model", "-y")).code == 0
    assert extensions("--help").out.startswith("Usage: ")


def test_what_an_author_writes_is_no_terminal_sequence(
    extensions: Extensions, folders: Path
) -> None:
    evil = {"s": {"command": "\x1b[2J\x1b]0;title\x07run"}}

    ran = extensions("install", write(folders, mcpServers=evil), given="n\n")

    assert "  * s (local): run" in ran.out
    assert "\x1b" not in ran.out


def test_a_session_lists_and_chooses_extensions(
    folders: Path, run: Any, extensions: Extensions
) -> None:
    source = write(folders, contextFileName="A.md")
    Path(source, "A.md").write_text("be brief")
    extensions("install", source, "--consent")

    assert run(prompt="", list_extensions=True).out == "Installed extensions:\n- demo\n"
    assert "be brief" in run(prompt="/memory show").out
    assert "be brief" not in run(prompt="/memory show", extensions=("none",)).out
    gone = run(prompt="/memory show", extensions=("gone",))
    assert "Extension not found: gone" in gone.err


def test_standard_input_that_is_closed_is_a_no(
    extensions: Extensions, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())

    assert extensions("install", write(folders)).code == 1

"""Installing the companion with the IDE's own program."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from services.clock import VirtualClock
from services.environment import Environment
from services.ide.detection import Ide
from services.ide.installing import InstallError, install_companion

VS_CODE = Ide("vscode", "VS Code")


def program(folder: Path, name: str, code: int = 0) -> None:
    file = folder / name
    file.write_text(f'#!/bin/sh\necho "$0" "$@" >> {folder}/ran\nexit {code}\n')
    file.chmod(0o755)


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.delenv("ANTIGRAVITY_CLI_ALIAS", raising=False)
    return Environment.of_this_machine()


async def install(ide: Ide, environment: Environment, home: Path) -> str:
    return await install_companion(ide, environment, home, VirtualClock())


async def test_the_ides_program_installs_it(environment: Environment, tmp_path: Path) -> None:
    program(tmp_path, "code")

    said = await install(VS_CODE, environment, tmp_path)

    assert said == "VS Code companion extension was installed successfully."
    assert (tmp_path / "ran").read_text() == (
        f"{tmp_path}/code --install-extension google.gemini-cli-vscode-ide-companion --force\n"
    )


async def test_a_program_beside_the_path_is_found(environment: Environment, tmp_path: Path) -> None:
    folder = tmp_path / ".local/share/positron/bin"
    folder.mkdir(parents=True)
    program(folder, "positron")

    assert "installed" in await install(Ide("positron", "Positron"), environment, tmp_path)


async def test_an_alias_of_the_ide_is_used_if_it_is_a_name(
    monkeypatch: pytest.MonkeyPatch, environment: Environment, tmp_path: Path
) -> None:
    program(tmp_path, "mine")
    program(tmp_path, "agy")
    antigravity = Ide("antigravity", "Antigravity")
    for alias in ("mine", "mine; touch x"):
        monkeypatch.setenv("ANTIGRAVITY_CLI_ALIAS", alias)
        await install(antigravity, Environment.of_this_machine(), tmp_path)

    programs = [line.split()[0] for line in (tmp_path / "ran").read_text().splitlines()]
    assert [os.path.basename(each) for each in programs] == ["mine", "agy"]  # noqa: PTH119


@pytest.mark.parametrize(
    ("ide", "words"),
    [
        (VS_CODE, "VS Code CLI not found"),
        (Ide("positron", "Positron"), "Positron CLI not found"),
        (Ide("antigravity", "Antigravity"), "Antigravity CLI not found"),
        (Ide("zed", "Zed"), "No installer is available for Zed"),
    ],
)
async def test_without_a_program_the_user_reads_what_to_do(
    environment: Environment, tmp_path: Path, ide: Ide, words: str
) -> None:
    with pytest.raises(InstallError, match=words):
        await install(ide, environment, tmp_path)


async def test_a_program_that_fails_is_an_error(environment: Environment, tmp_path: Path) -> None:
    program(tmp_path, "code", code=1)

    with pytest.raises(InstallError, match="Failed to install VS Code companion extension"):
        await install(VS_CODE, environment, tmp_path)

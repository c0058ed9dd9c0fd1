"""`extension-enablement.json`: the rules, as the published command line writes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from services.extensions.enablement import ExtensionEnablement
from services.extensions.manifest import ExtensionError


def rules(folder: Path) -> list[str]:
    document = json.loads((folder / "extension-enablement.json").read_text())
    overrides: list[str] = document["demo"]["overrides"]
    return overrides


def test_the_last_rule_that_covers_a_folder_counts(tmp_path: Path) -> None:
    said: list[str] = []
    enablement = ExtensionEnablement(tmp_path, report=said.append)
    home, here = Path("/home/me"), Path("/home/me/ws")

    assert enablement.is_enabled("demo", here)
    enablement.set_enabled("demo", home, on=False)
    assert not enablement.is_enabled("demo", here)
    enablement.set_enabled("demo", here, on=True)
    assert enablement.is_enabled("demo", here / "below")
    assert not enablement.is_enabled("demo", home)
    assert rules(tmp_path) == ["!/home/me/*", "/home/me/ws/*"]
    enablement.set_enabled("demo", home, on=True)
    assert rules(tmp_path) == ["/home/me/*"]
    enablement.forget("demo")
    assert json.loads((tmp_path / "extension-enablement.json").read_text()) == {}
    assert said == []


def test_a_file_that_cannot_be_read_is_reported_and_kept(tmp_path: Path) -> None:
    said: list[str] = []
    file = tmp_path / "extension-enablement.json"
    file.write_text("{")
    enablement = ExtensionEnablement(tmp_path, report=said.append)

    assert enablement.is_enabled("demo", tmp_path)
    assert len(said) == 1
    with pytest.raises(ExtensionError, match="mend the file"):
        enablement.set_enabled("demo", tmp_path, on=False)
    assert file.read_text() == "{"


@pytest.mark.parametrize(
    ("only", "enabled"), [(["none"], False), (["DEMO"], True), (["other"], False), ([], False)]
)
def test_the_command_line_counts_before_the_rules(
    tmp_path: Path, only: list[str], *, enabled: bool
) -> None:
    enablement = ExtensionEnablement(tmp_path, only=only, report=lambda _: None)

    assert enablement.is_enabled("demo", tmp_path) is enabled

"""A third party's runtime is a component: its files are named, and a changed one makes stale."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harness.config import current_inventory, versions
from harness.inventory import Component
from harness.third_party import runtime_components, runtime_names
from tests.runtimes.third_party import GOOD, forgotten, install

__all__ = ["forgotten"]

VERSION = "version of mine-rt"


def component(*sides: str) -> Component:
    return runtime_components(sides)["runtime mine"]


def test_the_files_of_the_package_and_its_version_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = install(tmp_path, None, entry="mine = mine_rt.engine:open_runtime")
    for name in ("__init__.py", "engine.py", "data/x.json", "__pycache__/y.pyc", "deep/z.py"):
        (folder / "mine_rt" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "mine_rt" / name).write_text("raise ValueError")
    monkeypatch.syspath_prepend(folder)

    found = component("legacy", "mine")
    (folder / "mine_rt" / "deep" / "z.py").write_text("changed")
    changed = component("adk+mine@2")

    assert list(found.files) == [
        "mine_rt/__init__.py",
        "mine_rt/data/x.json",
        "mine_rt/deep/z.py",
        "mine_rt/engine.py",
        VERSION,
    ]
    assert found.files[VERSION] == "1.5"
    differing = {name for name in found.files if found.files[name] != changed.files[name]}
    assert differing == {"mine_rt/deep/z.py"}
    assert "mine_rt" not in sys.modules


def test_of_a_plain_module_it_is_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(install(tmp_path, GOOD))

    assert list(component("mine").files) == ["mine_rt.py", VERSION]


def test_of_a_namespace_it_is_only_the_part_of_the_runtime(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = install(tmp_path, None, entry="mine = mine_rt.ours.engine:open_runtime")
    for name in ("ours/__init__.py", "ours/engine.py", "others/__init__.py"):
        (folder / "mine_rt" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "mine_rt" / name).write_text("")
    monkeypatch.syspath_prepend(folder)

    expected = ["mine_rt/ours/__init__.py", "mine_rt/ours/engine.py", VERSION]
    assert list(component("mine").files) == expected


@pytest.mark.parametrize("entry", ["mine = gone_rt:x", "mine = no module", "mine = gone.rt:x"])
def test_what_cannot_be_found_has_its_version_alone(
    entry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(install(tmp_path, None, entry=entry))

    assert component("mine").files == {VERSION: "1.5"}


def test_an_inventory_has_it_and_ours_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(install(tmp_path, GOOD))

    made = current_inventory([], None, ["legacy", "mine", "baseline:x"])

    assert made.components["runtime mine"] == component("mine")
    assert [name for name in made.components if name.startswith("runtime ")] == ["runtime mine"]
    assert versions(["mine"])["runtime mine"] == component("mine").digest[:12]
    assert runtime_names("adk+mine", "baseline:x", "mine") == ["runtime adk", "runtime mine"]

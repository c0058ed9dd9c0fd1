"""Runtimes of third parties, installed as far as their metadata says."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

__all__ = ["GOOD", "forgotten", "forgotten_modules", "install"]

GOOD = "from parity.runtimes.legacy import open_runtime\n"
"""The source of a runtime that works: our own engine under another name."""


def install(
    folder: Path, source: str | None, *, entry: str = "mine = mine_rt:open_runtime"
) -> Path:
    """Make a distribution `mine-rt` 1.5 in `folder`, of one module; return the folder.

    The folder has to stand on `sys.path`. Without `source` the module is missing.
    `entry` is a line of its entry points.
    """
    facts = folder / "mine_rt-1.5.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: mine-rt\nVersion: 1.5\n")
    (facts / "entry_points.txt").write_text(f"[parity.runtimes]\n{entry}\n")
    (facts / "RECORD").write_text("mine_rt.py,,\nmine_rt-1.5.dist-info/METADATA,,\n")
    if source is not None:
        (folder / "mine_rt.py").write_text(source)
    return folder


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Each test of a module that imports this one has a `mine_rt` of its own."""
    yield
    forgotten_modules("mine_rt")


def forgotten_modules(package: str) -> None:
    """Have the next import of a package read its files."""
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]
    importlib.invalidate_caches()

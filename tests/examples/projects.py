"""Commands in a copy of the worked migrations."""

from __future__ import annotations

import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from tests.runtimes.third_party import forgotten, forgotten_modules

__all__ = ["EXAMPLES", "FAULTS", "examples", "forgotten", "run"]

EXAMPLES: Final = Path(__file__).parents[2] / "examples"
FAULTS: Final[list[dict[str, Any]]] = tomllib.loads(
    (EXAMPLES / "tea_shop" / "faults.toml").read_text("utf-8")
)["fault"]


@pytest.fixture
def examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the examples, outside of any repository."""
    copy = tmp_path / "examples"
    shutil.copytree(
        EXAMPLES, copy, ignore=shutil.ignore_patterns("__pycache__", ".parity", "parity-report")
    )
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield copy
    forgotten_modules("tea_shop")


def run(folder: Path, *words: str, monkeypatch: pytest.MonkeyPatch) -> Result:
    """Run `parity` in a folder, as if its code had just been written."""
    monkeypatch.chdir(folder)
    forgotten_modules("tea_shop")
    return CliRunner().invoke(parity, list(words), prog_name="parity")

"""Cassettes as texts, and what loading them returns or refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.cassette.load import load_cassette
from harness.errors import CassetteError, HarnessError

__all__ = ["HEAD", "SMALL", "load", "refused", "write"]

HEAD = "cassette: 1\nname: f/c\n"
SMALL = HEAD + "session: {model: m}\nscript: [{send: x}]\nmodel: [{text: hi}]\n"


def write(folder: Path, text: str | bytes, name: str = "f/c.yaml") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(text, bytes):
        path.write_bytes(text)
    else:
        path.write_text(text, encoding="utf-8")
    return path


def load(folder: Path, text: str, name: str = "f/c.yaml") -> Any:
    """The cassette, untyped: tests look into one member of its unions."""
    return load_cassette(write(folder, text, name), folder)


def refused(folder: Path, text: str | bytes, name: str = "f/c.yaml") -> CassetteError:
    """The error of a text that must not load, which has all its parts on one line."""
    path = write(folder, text, name)
    with pytest.raises(CassetteError) as caught:
        load_cassette(path, folder)
    error = caught.value
    assert str(error).startswith(str(path))
    assert error.file == path
    assert error.problem
    assert error.mend
    assert "\n" not in str(error)
    assert isinstance(error, HarnessError)
    assert error.exit_code == 2
    return error

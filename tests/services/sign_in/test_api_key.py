"""The stored API key."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.clock import VirtualClock
from services.sign_in.api_key import ApiKeyStore


def test_a_key_is_stored_sealed_and_removed(tmp_path: Path) -> None:
    store = ApiKeyStore(tmp_path)
    assert store.load() is None

    store.save("s3cret", VirtualClock())

    file = tmp_path / ".gemini/gemini-credentials.json"
    assert store.load() == "s3cret"
    assert "s3cret" not in file.read_text()
    assert file.stat().st_mode & 0o077 == 0
    store.save("", VirtualClock())
    assert store.load() is None


@pytest.mark.parametrize("text", ["", "{}", "\x00", "a:b:c"])
def test_a_file_that_cannot_be_read_has_no_key(tmp_path: Path, text: str) -> None:
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini/gemini-credentials.json").write_text(text)

    assert ApiKeyStore(tmp_path).load() is None

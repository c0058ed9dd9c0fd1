"""Every test of faults runs on every runtime."""

from __future__ import annotations

import pytest

from tests.runtimes.faults.stage import Stage


@pytest.fixture
def stage(engine: str, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A stage of one runtime."""
    return Stage(engine, monkeypatch)

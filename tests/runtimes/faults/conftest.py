"""Every test of faults runs in both runtimes."""

from __future__ import annotations

import pytest

from tests.runtimes.faults.stage import Stage


@pytest.fixture(params=["legacy", "adk"])
def stage(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A stage of one runtime."""
    return Stage(request.param, monkeypatch)

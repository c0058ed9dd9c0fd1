from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.runtimes.children.child_stage import Played, play


@pytest.fixture(params=["legacy", "adk"])
def played(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Played]:
    """Plays a child on each of the engines."""
    return partial(play, request.param, tmp_path)

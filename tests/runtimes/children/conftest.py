from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.runtimes.children.child_stage import Played, play


@pytest.fixture
def played(engine: str, tmp_path: Path) -> Callable[..., Played]:
    """Plays a child on each runtime."""
    return partial(play, engine, tmp_path)

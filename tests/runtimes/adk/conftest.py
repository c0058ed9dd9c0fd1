"""The conversations of these tests run on the ADK runtime."""

from pathlib import Path

import pytest

from tests.runtimes.kit import Kit


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit("adk", tmp_path)

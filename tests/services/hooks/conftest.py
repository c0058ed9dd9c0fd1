from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.services.hooks.stand_ins import OpenSession, Session


@pytest.fixture
def open_session(tmp_path: Path) -> OpenSession:
    """Open a session with settings: `open_session({"BeforeTool": […]}, disabledHooks=[…])`."""

    def opened(hooks: dict[str, Any], **parameters: Any) -> Session:
        return Session(tmp_path, {"hooks": hooks, **parameters})

    return opened

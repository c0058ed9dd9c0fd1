"""The conversations of these tests run on the ADK runtime."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runtimes.adk import factory
from runtimes.adk.agent import AgentLoop
from tests.runtimes.kit import Kit


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit("adk", tmp_path)


@pytest.fixture
def hosted(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Gives every agent these plugins, and its hosted `LlmAgent` to a function."""

    def arrange(*plugins: Any, prepare: Callable[[Any], Any] = lambda _agent: None) -> None:
        def make(*args: Any, **kwargs: Any) -> AgentLoop:
            kwargs["plugins"] = (*kwargs["plugins"], *plugins)
            loop = AgentLoop(*args, **kwargs)
            root: Any = loop._runner.agent
            prepare(root._hosted)
            return loop

        monkeypatch.setattr(factory, "AgentLoop", make)

    return arrange

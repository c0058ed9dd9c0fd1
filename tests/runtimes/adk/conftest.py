"""The conversations of these tests run on the ADK runtime."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runtimes.adk import factory
from runtimes.adk.agent import AdkAgentProtocol
from tests.runtimes.kit import Kit


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit("adk", tmp_path)


@pytest.fixture
def hosted(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Gives every agent these plugins, and its hosted `LlmAgent` to a function."""

    def arrange(*plugins: Any, prepare: Callable[[Any], Any] = lambda _agent: None) -> None:
        def make(*args: Any, **kwargs: Any) -> AdkAgentProtocol:
            kwargs["plugins"] = (*kwargs["plugins"], *plugins)
            agent = AdkAgentProtocol(*args, **kwargs)
            root: Any = agent._runner.agent
            prepare(root._hosted)
            return agent

        monkeypatch.setattr(factory, "AdkAgentProtocol", make)

    return arrange

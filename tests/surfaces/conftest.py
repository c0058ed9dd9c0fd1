"""What the tests of all surfaces share."""

from pathlib import Path

import pytest


@pytest.fixture(params=["legacy", "adk"])
def runtime(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace and a home; returns what holds both."""
    (tmp_path / "ws").mkdir()
    (tmp_path / "home" / ".gemini").mkdir(parents=True)
    monkeypatch.setenv("GEMINI_CLI_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GEMINI_API_KEY", "key")
    monkeypatch.setenv("GEMINI_CLI_TRUST_WORKSPACE", "true")
    for name in ("GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI", "GEMINI_MODEL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path

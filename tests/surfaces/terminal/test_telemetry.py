"""The telemetry of an interactive session."""

from __future__ import annotations

import pytest

from services.settings.telemetry import TelemetryOverrides
from surfaces.terminal import live
from tests import outfiles
from tests.surfaces.terminal.conftest import Open, says


async def test_metrics_are_written_while_the_session_is_open(
    terminal: Open,
    folders: object,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    monkeypatch.setattr(live, "_METRICS_EVERY_MS", 1)
    file = tmp_path_factory.mktemp("log") / "telemetry.log"
    overrides = TelemetryOverrides(enabled=True, outfile=str(file))
    async with terminal(says("hello"), telemetry=overrides) as screen:
        await screen.say("hi")
        await screen.shows("✦ hello")
        for _ in range(400):
            if "gemini_cli.session.count" in file.read_text():
                break
            await screen.pilot.pause(0.02)
        text = file.read_text()

    assert "gemini_cli.session.count" in text
    prompts = list(outfiles.records(text, "user_prompt"))
    assert [prompt["attributes"]["interactive"] for prompt in prompts] == [True]

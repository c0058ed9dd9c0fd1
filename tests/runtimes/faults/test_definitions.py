"""Broken settings, policies and hook definitions of a run: messages with place and cure."""

from __future__ import annotations

import pytest

from services.settings import SettingError, settings_from_parameters
from services.workspace import Workspace
from tests.runtimes.faults.stage import Stage, answer, call, reason, responses

BROKEN = '[[rule]]\ntoolName = "glob"\ndecision = "perhaps"\npriority = 5\n'
GOOD = '[[rule]]\ntoolName = "glob"\ndecision = "deny"\npriority = 5\nargsPattern = "x"\n'


def test_a_broken_policy_file_is_reported_and_the_others_count(stage: Stage) -> None:
    def prepare(workspace: Workspace) -> None:
        folder = workspace.home / ".gemini" / "policies"
        folder.mkdir(parents=True)
        (folder / "bad.toml").write_text(BROKEN)
        (folder / "good.toml").write_text(GOOD)

    stage.prepare = prepare
    seen = stage.play(answer(call("glob", pattern="x")), {"text": "done"})
    messages = [each.message for each in stage.feedback]

    assert "denied by policy" in responses(seen)[0]["error"]
    assert any("bad.toml" in message and "decision" in message for message in messages)
    assert reason(seen) == "completed"


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ({"maxSessionTurns": "ten"}, "maxSessionTurns"),
        ({"hooks": {"BeforeTool": {"hooks": []}}}, "hooks"),
        ({"hooks": {"BeforeTool": [{"hooks": [{"type": "command"}]}]}}, "hooks.BeforeTool"),
        ({"mcpServers": []}, "mcpServers"),
    ],
)
def test_a_broken_setting_is_named(values: dict[str, object], place: str) -> None:
    with pytest.raises(SettingError) as caught:
        settings_from_parameters(values)

    assert str(caught.value).startswith(place)

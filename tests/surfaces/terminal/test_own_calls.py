"""Calls that commands make for the user, in both runtimes."""

from pathlib import Path

import pytest

from tests.surfaces.terminal.conftest import Open, says


@pytest.fixture
def skill(folders: Path) -> None:
    folder = folders / "home/.gemini/skills/tidy"
    folder.mkdir(parents=True)
    text = "---\nname: tidy\ndescription: Tidies\n---\nSort the shelves."
    (folder / "SKILL.md").write_text(text)


@pytest.mark.usefixtures("skill")
async def test_a_skill_is_activated_and_its_prompt_sent(terminal: Open) -> None:
    async with terminal(says("an answer")) as screen:
        await screen.opened()
        await screen.say("/tidy the kitchen")
        await screen.shows("Do you want to proceed?")
        await screen.pilot.press("1")
        text = await screen.shows("✦ an answer")
        sent = screen.sent

    assert "✓  Activate Skill" in text
    assert "Sort the shelves." in sent
    assert "the kitchen" in sent


@pytest.mark.usefixtures("skill")
async def test_a_skill_that_is_refused_sends_nothing(terminal: Open) -> None:
    async with terminal(says("never")) as screen:
        await screen.opened()
        await screen.say("/tidy the kitchen")
        await screen.shows("Do you want to proceed?")
        await screen.pilot.press("escape")
        text = await screen.shows("✕ Operation cancelled.")

    assert "never" not in text


@pytest.mark.usefixtures("skill")
async def test_a_policy_denies_a_skill(terminal: Open, folders: Path) -> None:
    rules = folders / "home/.gemini/policies/deny.toml"
    rules.parent.mkdir(parents=True)
    rules.write_text(
        '[[rule]]\ntoolName = "activate_skill"\ndecision = "deny"\npriority = 900\n'
        'argsPattern = "kitchen|tidy"\n'
    )
    async with terminal(says("never")) as screen:
        await screen.opened()
        await screen.say("/tidy the kitchen")
        text = await screen.shows("The policy denies the tool activate_skill.")

    assert "never" not in text

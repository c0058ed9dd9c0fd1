from __future__ import annotations

from pathlib import Path

import pytest

from services.skills.manager import BUILTIN_SKILLS, SkillManager
from services.state import CoreEvents, UserFeedback


class Setting:
    """A home, a project and a folder of built-in skills."""

    def __init__(self, base: Path) -> None:
        self.home, self.root, self.builtin = base / "home", base / "ws", base / "own"
        self.warnings: list[str] = []
        self._events = CoreEvents()
        self._events.subscribe(self._take)

    def _take(self, event: object) -> None:
        assert isinstance(event, UserFeedback)
        self.warnings.append(event.message)

    def add(self, folder: Path, name: str, description: str) -> Path:
        folder.mkdir(parents=True)
        file = folder / "SKILL.md"
        file.write_text(f"---\nname: {name}\ndescription: {description}\n---\n")
        return file

    def found(self, *, trusted: bool = True, disabled: tuple[str, ...] = ()) -> SkillManager:
        manager = SkillManager(self._events)
        manager.discover(
            home=self.home, root=self.root, trusted=trusted, disabled=disabled, builtin=self.builtin
        )
        return manager


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(tmp_path)


def test_later_folders_win_and_say_so_unless_the_loser_is_built_in(setting):
    setting.add(setting.builtin / "s", "same", "built-in")
    first = setting.add(setting.home / ".gemini/skills/s", "same", "user")
    second = setting.add(setting.home / ".agents/skills/s", "same", "user's agents")
    third = setting.add(setting.root / ".gemini/skills/s", "same", "project")
    fourth = setting.add(setting.root / ".agents/skills/s", "same", "project's agents")
    manager = setting.found()
    assert [skill.description for skill in manager.skills] == ["project's agents"]
    assert not manager.skills[0].is_builtin
    assert setting.warnings == [
        f'Skill conflict detected: "same" from "{winner}" is overriding the same skill from '
        f'"{loser}".'
        for loser, winner in ((first, second), (second, third), (third, fourth))
    ]


def test_a_project_that_is_not_trusted_has_no_skills(setting):
    setting.add(setting.root / ".gemini/skills/s", "mine", "d")
    assert setting.found(trusted=False).skills == []
    assert [skill.name for skill in setting.found().skills] == ["mine"]


def test_disabled_skills_are_not_listed_but_can_be_looked_up_in_any_case(setting):
    setting.add(setting.root / ".gemini/skills/s", "Mine", "d")
    manager = setting.found(disabled=("mINE",))
    assert manager.skills == []
    assert manager.get("mine").disabled
    assert manager.get("none") is None


def test_the_products_own_skills_can_be_read():
    manager = SkillManager()
    manager.discover(home=Path("/nowhere"), root=Path("/nowhere"), trusted=True)
    assert [(skill.name, skill.is_builtin) for skill in manager.skills] == [("skill-creator", True)]
    assert manager.skills[0].location.is_relative_to(BUILTIN_SKILLS)

"""The skills of a session: where they come from, which one wins, which are switched off.

Source: core `skills/skillManager.ts`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from services.exhaustion import notice
from services.skills.loader import Skill, load_skills
from services.state import CoreEvents, UserFeedback

__all__ = ["BUILTIN_SKILLS", "SkillManager"]

logger = logging.getLogger(__name__)

BUILTIN_SKILLS: Final = Path(__file__).parent / "builtin"
"""The skills that come with the product."""


class SkillManager:
    """Skills by name. Later ones win: built-in, of extensions, the user's, the project's."""

    def __init__(
        self,
        events: CoreEvents | None = None,
        extensions: Callable[[], Iterable[Skill]] = tuple,
    ) -> None:
        """Make an empty manager.

        Args:
            events: receives a warning when one skill hides another.
            extensions: the skills of the active extensions.
        """
        self._events = events
        self._extensions = extensions
        self._skills: dict[str, Skill] = {}
        self._again: Callable[[Sequence[str] | None], None] = lambda _: None

    def reload(self, disabled: Sequence[str] | None = None) -> None:
        """Find all skills anew, where and as the last `discover` did.

        Args:
            disabled: names of skills to switch off; `None`: the same as before.
        """
        self._again(disabled)

    def discover(
        self,
        *,
        home: Path,
        root: Path,
        trusted: bool,
        disabled: Sequence[str] = (),
        builtin: Path = BUILTIN_SKILLS,
    ) -> None:
        """Find all skills anew.

        Args:
            home: the user's home.
            root: the project's folder; its skills count only when `trusted`.
            trusted: whether the user trusts the project.
            disabled: names of skills to switch off, in any case.
            builtin: the folder of the product's own.
        """

        def again(off: Sequence[str] | None) -> None:
            self.discover(
                home=home,
                root=root,
                trusted=trusted,
                disabled=disabled if off is None else off,
                builtin=builtin,
            )

        self._again = again
        self._skills = {}
        own = self._load(builtin)
        self._add(replace(skill, is_builtin=True) for skill in own)
        self._add(self._extensions())
        for base in (home, root) if trusted else (home,):
            for place in (".gemini", ".agents"):
                self._add(self._load(base / place / "skills"))
        off = {name.lower() for name in disabled}
        self._skills = {
            name: replace(skill, disabled=skill.name.lower() in off)
            for name, skill in self._skills.items()
        }

    @property
    def skills(self) -> list[Skill]:
        """Every skill that is not switched off."""
        return [skill for skill in self._skills.values() if not skill.disabled]

    def all(self) -> list[Skill]:
        """Every skill, those that are switched off included."""
        return list(self._skills.values())

    def get(self, name: str) -> Skill | None:
        """The skill called `name`, in any case, switched off or not."""
        wanted = name.lower()
        found = (skill for skill in self._skills.values() if skill.name.lower() == wanted)
        return next(found, None)

    def _load(self, folder: Path) -> list[Skill]:
        try:
            return load_skills(folder)
        except OSError as error:
            notice(error, folder)
            logger.warning("the skills of %s could not be read: %s", folder, error)
            self._warn(f"Error discovering skills in {folder}:")
            return []

    def _add(self, skills: Iterable[Skill]) -> None:
        for skill in skills:
            known = self._skills.get(skill.name)
            if known is not None and known.location != skill.location:
                if known.is_builtin:
                    logger.warning("%s hides the built-in skill %s", skill.location, skill.name)
                else:
                    self._warn(
                        f'Skill conflict detected: "{skill.name}" from "{skill.location}" is '
                        f'overriding the same skill from "{known.location}".'
                    )
            self._skills[skill.name] = skill

    def _warn(self, message: str) -> None:
        if self._events is not None:
            self._events.emit(UserFeedback(severity="warning", message=message))

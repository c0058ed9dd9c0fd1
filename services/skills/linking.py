"""Linking the skills of a folder into the folder of the user's or the project's skills.

Source: `packages/cli` `utils/skillUtils.ts` (`linkSkill`).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from services.skills.loader import Skill, load_skills

__all__ = ["SkillsNotLinked", "link_skills", "linkable_skills"]


class SkillsNotLinked(Exception):
    """The skills cannot be linked; the message says why."""


def linkable_skills(folder: Path) -> Sequence[Skill]:
    """The skills of `folder`, which can be linked under their names.

    Raises:
        SkillsNotLinked: there are none, two have one name, or a name is no name of a folder.
        OSError: the folder cannot be read.
    """
    skills = load_skills(folder)
    if not skills:
        raise SkillsNotLinked(
            f'No valid skills found in "{folder}". Ensure a SKILL.md file exists with valid '
            "frontmatter."
        )
    seen: dict[str, Path] = {}
    for skill in skills:
        if skill.name in seen:
            raise SkillsNotLinked(
                f'Duplicate skill name "{skill.name}" found at multiple locations:\n'
                f"  - {seen[skill.name]}\n  - {skill.location}"
            )
        if skill.name in ("", ".", "..") or "/" in skill.name:
            raise SkillsNotLinked("Invalid skill name: Path traversal detected.")
        seen[skill.name] = skill.location
    return skills


def link_skills(skills: Sequence[Skill], target: Path) -> Iterator[str]:
    """Make a link to each skill in `target`; yield the name of each skill that it replaces.

    Raises:
        OSError: a link cannot be made, or what is in its place cannot be removed.
    """
    target.mkdir(parents=True, exist_ok=True)
    for skill in skills:
        place = target / skill.name
        if os.path.lexists(place):
            yield skill.name
            if place.is_dir() and not place.is_symlink():
                shutil.rmtree(place)
            else:
                place.unlink()
        place.symlink_to(skill.folder, target_is_directory=True)

"""Reading skills from disk: a folder of folders, each with a `SKILL.md`.

Source: core `skills/skillLoader.ts`.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from services.exhaustion import notice
from services.front_matter import FrontMatterError, parse_front_matter, split_file
from services.regular_files import MOST_TEXT, read_regular
from services.wire import JS_SPACES, js_trim

__all__ = ["Skill", "load_skill", "load_skills", "read_front_matter"]

logger = logging.getLogger(__name__)

SKILL_FILE: Final = "SKILL.md"
LONGEST_FRONT_MATTER: Final = 100_000
"""The most characters of a skill's front matter; reading YAML takes about a millisecond for 250."""
_NAME: Final = re.compile(rf"{JS_SPACES}*name:{JS_SPACES}*([^\n\r\u2028\u2029]*)")
_DESCRIPTION: Final = re.compile(rf"{JS_SPACES}*description:{JS_SPACES}*([^\n\r\u2028\u2029]*)")
_CONTINUED: Final = re.compile(rf"[ \t]+(?!{JS_SPACES}).", re.DOTALL)
_NOT_IN_NAMES: Final = re.compile(r'[:\\/<>*?"|]')
_SKIPPED: Final = frozenset({"node_modules", ".git"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """One skill. `location` is its `SKILL.md`; `body` the instructions in it."""

    name: str
    description: str
    location: Path
    body: str
    is_builtin: bool = False
    disabled: bool = False
    extension: str | None = None
    """The extension that it comes from."""

    @property
    def folder(self) -> Path:
        """Where its resources are."""
        return self.location.parent


def load_skills(folder: Path) -> list[Skill]:
    """The skills of `folder`: its own `SKILL.md` and those one level down, by name of folder.

    Files without front matter are left out, and so are hidden folders. A folder that is not there
    has none. Upstream's order is the file system's; ours is one that does not change.

    Raises:
        OSError: the folder is there and may not be read.
    """
    folder = Path(folder).absolute()
    if not folder.is_dir():
        return []
    names = sorted(entry.name for entry in folder.iterdir())
    files = [folder / SKILL_FILE]
    files += [folder / name / SKILL_FILE for name in names if _searched(name)]
    found = [load_skill(file) for file in files if file.is_file()]
    return [skill for skill in found if skill is not None]


def _searched(name: str) -> bool:
    return not name.startswith(".") and name not in _SKIPPED


def load_skill(file: Path) -> Skill | None:
    """The skill of one `SKILL.md`; `None` when it has no front matter or cannot be read."""
    try:
        text = read_regular(file, MOST_TEXT).decode(errors="replace")
    except OSError as error:
        notice(error, file)
        logger.warning("skill %s was left out: %s", file, error)
        return None
    parts = split_file(text)
    if parts is None:
        return None
    front_matter, body = parts
    if len(front_matter) > LONGEST_FRONT_MATTER:
        logger.warning(
            "skill %s was left out: its front matter is longer than %d characters",
            file,
            LONGEST_FRONT_MATTER,
        )
        return None
    about = read_front_matter(front_matter)
    if about is None:
        return None
    name, description = about
    return Skill(
        name=_NOT_IN_NAMES.sub("-", name),
        description=description,
        location=file,
        body=js_trim(body),
    )


def read_front_matter(text: str) -> tuple[str, str] | None:
    """Name and description: as YAML, and where that gives none, line by line.

    The second way is for descriptions with colons in them, which are no YAML.
    """
    try:
        parsed = parse_front_matter(text)
    except FrontMatterError:
        parsed = None
    if isinstance(parsed, Mapping):
        name, description = parsed.get("name"), parsed.get("description")
        if isinstance(name, str) and isinstance(description, str):
            return name, description
    return _line_by_line(re.split(r"\r?\n", text))


def _line_by_line(lines: list[str]) -> tuple[str, str] | None:
    name = description = None
    place = 0
    while place < len(lines):
        line = lines[place]
        place += 1
        if match := _NAME.fullmatch(line):
            name = js_trim(match[1])
        elif match := _DESCRIPTION.fullmatch(line):
            parts = [js_trim(match[1])]
            while place < len(lines) and _CONTINUED.match(lines[place]):
                parts.append(js_trim(lines[place]))
                place += 1
            description = " ".join(part for part in parts if part)
    if name is None or description is None:
        return None
    return name, description

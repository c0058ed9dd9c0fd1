"""YAML at the top of files, and skills."""

from __future__ import annotations

import datetime
import math
import tempfile
from pathlib import Path
from typing import Any, Final

from parity_tests.core_answers.subject import Subject
from services.front_matter import FrontMatterError, parse_front_matter
from services.skills.loader import load_skill
from services.wire import js_text
from services.zod import UNDEFINED

__all__ = ["SUBJECTS"]


def _shown(value: Any) -> Any:
    if value is UNDEFINED:
        return {"kind": "undefined"}
    if isinstance(value, datetime.date):
        return {"kind": "date"}
    if isinstance(value, float) and not math.isfinite(value):
        return {"kind": js_text(value)}
    if isinstance(value, list):
        return [_shown(each) for each in value]
    if isinstance(value, dict):
        return {"kind": "object", "entries": [[key, _shown(each)] for key, each in value.items()]}
    return value


def _value(text: str) -> Any:
    try:
        return _shown(parse_front_matter(text))
    except FrontMatterError:
        return {"kind": "error"}


def _refused(text: str) -> str | None:
    """Why a text is refused, and in which line of its file."""
    try:
        parse_front_matter(text)
    except FrontMatterError as error:
        return str(error)
    return None


def _skill(text: str) -> list[str] | None:
    with tempfile.TemporaryDirectory(prefix="skill-") as folder:
        file = Path(folder) / "SKILL.md"
        file.write_bytes(text.encode())
        found = load_skill(file)
    return None if found is None else [found.name, found.description, found.body]


SUBJECTS: Final = (
    Subject("yaml.value", _value),
    Subject("yaml.refused", _refused),
    Subject("yaml.skill", _skill),
)

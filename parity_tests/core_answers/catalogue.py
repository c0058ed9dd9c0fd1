"""All subjects, by room."""

from __future__ import annotations

from typing import Final

from parity_tests.core_answers import diffs, javascript, long_outputs, mcp, steering, yaml, zod
from parity_tests.core_answers.subject import Subject

__all__ = ["SUBJECTS"]

_ROOMS: Final = (diffs, javascript, long_outputs, mcp, steering, yaml, zod)
SUBJECTS: Final[dict[str, Subject]] = {each.name: each for room in _ROOMS for each in room.SUBJECTS}

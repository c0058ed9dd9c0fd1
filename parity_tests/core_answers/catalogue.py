"""All subjects, by room."""

from __future__ import annotations

from typing import Final

from parity_tests.core_answers import hooks, mcp
from parity_tests.core_answers.subject import Subject

__all__ = ["SUBJECTS"]

SUBJECTS: Final[dict[str, Subject]] = {
    each.name: each for room in (hooks, mcp) for each in room.SUBJECTS
}

"""All subjects, by room."""

from __future__ import annotations

from typing import Final

from parity_tests.core_answers import mcp, pages, shell
from parity_tests.core_answers.subject import Subject

__all__ = ["SUBJECTS"]

SUBJECTS: Final[dict[str, Subject]] = {
    each.name: each for room in (mcp, pages, shell) for each in room.SUBJECTS
}

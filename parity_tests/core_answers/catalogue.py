"""All subjects, by room."""

from __future__ import annotations

from typing import Final

from parity_tests.core_answers import mcp, pages, shell, texts, tools, web
from parity_tests.core_answers.subject import Subject

__all__ = ["SUBJECTS"]

SUBJECTS: Final[dict[str, Subject]] = {
    each.name: each for room in (mcp, pages, shell, texts, tools, web) for each in room.SUBJECTS
}

"""Compression: where a history is cut."""

from __future__ import annotations

from typing import Any, Final

from parity_tests.core_answers.subject import Subject
from services.compression.budget import split_point

__all__ = ["SUBJECTS"]


def split(asked: dict[str, Any]) -> int:
    """The index of the oldest content to keep."""
    return split_point(asked["contents"], asked["fraction"])


SUBJECTS: Final = (Subject("compression.split", split),)

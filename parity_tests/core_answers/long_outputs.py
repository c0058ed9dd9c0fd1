"""Long outputs of tools: previews and extracts."""

from __future__ import annotations

from typing import Final

from parity_tests.core_answers.subject import Subject
from services.masking_previews import shell_preview
from services.tool_distillation import truncate_proportionally

__all__ = ["SUBJECTS"]


def _cut(asked: tuple[str, int]) -> str:
    return truncate_proportionally(*asked)


SUBJECTS: Final = (
    Subject("long_outputs.shell_preview", shell_preview),
    Subject("long_outputs.cut", _cut),
)

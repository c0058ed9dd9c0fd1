"""Skills: what a folder of them holds."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Final

from parity_tests.core_answers.subject import Subject
from services.skills.loader import load_skills

__all__ = ["SUBJECTS"]


def loaded(files: dict[str, str]) -> list[Any]:
    """The skills of a folder with these files."""
    with tempfile.TemporaryDirectory(prefix="answers-") as name:
        folder = Path(name)
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(text.encode())
        found = load_skills(folder)
        return sorted(
            [each.location.relative_to(folder).as_posix(), each.name, each.description, each.body]
            for each in found
        )


SUBJECTS: Final = (Subject("skills.loaded", loaded),)

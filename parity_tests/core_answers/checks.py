"""The subjects as checks that `parity mutants` makes of mutants of the services."""

from __future__ import annotations

from typing import Final

from parity_tests.core_answers.catalogue import SUBJECTS
from parity_tests.core_answers.subject import load_answers

__all__ = ["NAMES", "check"]

_AT_ONCE: Final = 25
"""Inputs of one check: a mutant then meets those alone that execute its place."""
NAMES: Final = tuple(
    f"{name}/{begin}" for name in SUBJECTS for begin in range(0, len(load_answers(name)), _AT_ONCE)
)
"""What `check` knows."""


def check(name: str) -> tuple[str, ...]:
    """What the services answer otherwise than the published core, a line each."""
    subject, _, begin = name.partition("/")
    return SUBJECTS[subject].differs(int(begin), int(begin) + _AT_ONCE)

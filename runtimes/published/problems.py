"""The error of this package."""

from __future__ import annotations

__all__ = ["UpstreamUnavailable"]


class UpstreamUnavailable(Exception):
    """The published core cannot be run, installed or removed as asked.

    `problem` says what is missing and where, `mend` how to mend it.
    """

    def __init__(self, problem: str, mend: str) -> None:
        super().__init__(problem, mend)
        self.problem = problem
        self.mend = mend

    def __str__(self) -> str:
        return f"{self.problem}; {self.mend}"

"""The result of a mutant."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum

from harness.codec import Coded

__all__ = ["Finding", "Measured", "Outcome"]


class Outcome(StrEnum):
    """What is known of a mutant in the end."""

    FOUND = "found"
    """A channel differs."""
    CRASH = "found by a crash"
    """The run raised what no run raises on purpose, or the module cannot be imported."""
    TIME_LIMIT = "found by a time limit"
    """The run hung, or was ended by a limit."""
    SURVIVED = "survived"
    UNREACHED = "unreached"
    """No case executes its place."""
    EQUIVALENT = "equivalent"
    """A reviewed record says that no run can show it."""

    @property
    def found(self) -> bool:
        """Whether the corpus noticed it."""
        return self in (Outcome.FOUND, Outcome.CRASH, Outcome.TIME_LIMIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Coded):
    """What showed a mutant first."""

    case: str
    runtime: str
    """The runtime whose run showed it."""
    by: Outcome
    channel: str = ""
    """The earliest channel that differs; empty for a crash and a limit."""
    place: str = ""
    """Where in the channel, or what was raised."""
    says: str = ""
    """What each side did there, in a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured(Coded):
    """A mutant that was run, or that no case reaches."""

    fingerprint: str
    outcome: Outcome
    finding: Finding | None = None
    reached: int = 0
    """Runs of cases that execute its place."""
    runs: int = 0
    """Runs that were made with the mutant in force."""
    anew: bool = False
    """It was put in by importing our modules anew."""
    unsteady: tuple[str, ...] = ()
    """Cases that showed something once and not again, which does not count."""
    left_out: tuple[str, ...] = field(default=())
    """Cases that reach it and could show nothing, or less than they should, with the reason."""
    changed: tuple[str, ...] = ()
    """Cases in which legacy did something else that no comparison showed: adk's run may."""
    seconds: float = 0.0

    def and_then(self, later: Measured) -> Measured:
        """This one, in which nothing showed, and what further runs gave."""
        return replace(
            later,
            reached=self.reached,
            runs=self.runs + later.runs,
            unsteady=self.unsteady + later.unsteady,
            left_out=self.left_out + later.left_out,
            changed=tuple(sorted({*self.changed, *later.changed})),
            seconds=round(self.seconds + later.seconds, 3),
        )

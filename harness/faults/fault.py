"""`Fault`: one way in which a good runtime or service can be broken, and how it is put in.

A fault is a small wrapper around one function, in force while one run lasts. A fault of a runtime
is put into that runtime alone; one of a service into both, which only the comparison with the
published core can show.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import StrEnum

from harness.sides import engines_of

__all__ = ["Behaviour", "Fault", "Site", "in_force"]


class Site(StrEnum):
    """What is broken."""

    LEGACY = "legacy"
    ADK = "adk"
    SERVICE = "service"


class Behaviour(StrEnum):
    """Which behaviour a fault spoils."""

    ANSWERS = "answers"
    """What the model's stream becomes: text, thoughts, usage, finish reasons, citations."""
    ERRORS = "errors"
    """What becomes of a failing model: retries, nudges, errors shown."""
    FALLBACK = "fallback"
    """Models: routing, availability, what is asked instead of what."""
    TOOLS = "tools"
    """Calls: arguments, order, truncation, states, results."""
    APPROVAL = "approval"
    """Policy, confirmations, approval modes."""
    HOOKS = "hooks"
    LOOPS = "loops"
    """Loop detection, limits, next-speaker checks."""
    CONTEXT = "context"
    """Masking, compression, what is kept of the history."""
    RECORDING = "recording"
    """The chat recording, and a session resumed from it."""
    LIFECYCLE = "lifecycle"
    """Starts, ends, aborts, and the order of events."""
    SUBAGENTS = "subagents"
    """Agents that a call starts: how they end, what they may call, whose things they use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A named fault."""

    name: str
    """Words joined by hyphens, unique: `masking-by-index`."""
    site: Site
    behaviour: Behaviour
    says: str
    """What goes wrong, one sentence."""
    origin: str
    """Where such a fault was seen or would come from: a migration, an upstream change, a review."""
    breaks: Callable[[], AbstractContextManager[None]]
    """Puts the fault in; leaving the context takes it out again. Made of `replaced` alone, so that
    it is known which runs it can touch."""
    held_out: bool = False
    """Written after the corpus was done, so that neither is tuned to the other."""
    closed_by: str | None = None
    """Of a held-out fault that the corpus did not find: the cassette that was added because of it.
    The held-out part goes on counting it as one that was not found."""
    unobservable: str | None = None
    """Why no run can show it, and the test that proves that."""

    def breaks_side(self, runtime: str) -> bool:
        """Whether a run of `runtime` is broken by it. The published core never is.

        Of two that take turns (`adk+legacy`) one is enough: a fault of a runtime sits in its own
        code, which the other never calls.
        """
        broken = (Site.LEGACY, Site.ADK) if self.site is Site.SERVICE else (self.site,)
        return any(engine in broken for engine in engines_of(runtime))


def in_force(fault: Fault | None, runtime: str) -> AbstractContextManager[None]:
    """Put `fault` in for a run of `runtime`; nothing where it does not concern that runtime."""
    if fault is None or not fault.breaks_side(runtime):
        return nullcontext()
    return fault.breaks()

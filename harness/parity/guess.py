"""`Seam` and `Guess`: where a difference arose according to one rule, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Guess", "Seam", "plainly", "probably", "unknown"]


class Seam(StrEnum):
    """The places between a runtime and its services at which a difference can arise."""

    REQUEST_ASSEMBLY = "request assembly"
    """History, masking, compression and hooks became a request to the model."""
    MODEL_CONFIG = "model configuration"
    """Generation settings, instructions and declared tools of a request."""
    ROUTING = "routing"
    """Which model was chosen."""
    RETRY = "retry"
    """Whether, when and how often a request is repeated."""
    FALLBACK = "fallback"
    """Which model replaces one that failed."""
    STREAM = "model stream"
    """How the chunks of an answer were read."""
    SCHEDULER = "tool scheduler"
    """Which calls run, in which order, and through which states."""
    TOOL = "tool"
    """What a tool did."""
    HOOKS = "hooks"
    """The user's hook commands, which observe events and may change them."""
    POLICY = "policy and confirmation"
    """What is allowed, and what needs a confirmation."""
    HISTORY = "history"
    """The stored conversation."""
    RECORDING = "chat recording"
    EVENTS = "event translation"
    """What is emitted to the client."""
    LIFECYCLE = "lifecycle"
    """How streams begin and end, limits, abort."""
    LOOPS = "loop detection"
    SUBAGENTS = "child agents"
    """How a child agent runs, and how it reports its work."""
    SURFACE = "surface"
    """What a user interface makes of events."""
    UNKNOWN = "unknown"
    """The observations do not show it."""


@dataclass(frozen=True, slots=True)
class Guess:
    """A seam with its certainty."""

    rule: str
    """The rule's name, for counting right guesses rule by rule."""
    seam: Seam
    sure: bool
    doubt: str = ""
    """Half a sentence on why it is not sure; may be empty."""


def plainly(rule: str, seam: Seam) -> Guess:
    """A guess from signs that only this seam has ever given."""
    return Guess(rule, seam, sure=True)


def probably(rule: str, seam: Seam, doubt: str = "") -> Guess:
    """A guess from signs that this seam gives more often than any other."""
    return Guess(rule, seam, sure=False, doubt=doubt)


def unknown(rule: str, doubt: str = "") -> Guess:
    """The signs name no seam: a guess would be no better than chance."""
    return Guess(rule, Seam.UNKNOWN, sure=False, doubt=doubt)

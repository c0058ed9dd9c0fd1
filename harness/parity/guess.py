"""`Seam` and `Guess`: what one rule says about where a difference arose, and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Guess", "Seam", "plainly", "probably", "unknown"]


class Seam(StrEnum):
    """Where between a runtime and its services the first difference was observed."""

    REQUEST_ASSEMBLY = "request assembly"
    """History, masking, compression and hooks became a request to the model."""
    MODEL_CONFIG = "model configuration"
    """Generation settings, instructions and declared tools that go with a request."""
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
    """Commands of the user's that are informed of what happens, and may change it."""
    POLICY = "policy and confirmation"
    """What is allowed, and who is asked for confirmation."""
    HISTORY = "history"
    """What is remembered of the conversation."""
    RECORDING = "chat recording"
    EVENTS = "event translation"
    """What is emitted to the client."""
    LIFECYCLE = "lifecycle"
    """How streams begin and end, limits, abort."""
    LOOPS = "loop detection"
    SUBAGENTS = "child agents"
    """How an agent that a call starts is run, and how it reports its work."""
    UNKNOWN = "unknown"
    """The observations do not show it."""


@dataclass(frozen=True, slots=True)
class Guess:
    """A seam with its certainty."""

    rule: str
    """Names the sign that the rule reads, so that right guesses can be counted rule by rule."""
    seam: Seam
    sure: bool
    doubt: str = ""
    """Half a sentence on why it is not sure; empty where it is, or where there is none to give."""


def plainly(rule: str, seam: Seam) -> Guess:
    """A sign that, as far as was ever seen, only this seam gives."""
    return Guess(rule, seam, sure=True)


def probably(rule: str, seam: Seam, doubt: str = "") -> Guess:
    """A sign that this seam gives more often than any other."""
    return Guess(rule, seam, sure=False, doubt=doubt)


def unknown(rule: str, doubt: str = "") -> Guess:
    """No guess would be better than chance."""
    return Guess(rule, Seam.UNKNOWN, sure=False, doubt=doubt)

"""`Guess`: what one rule says about the seam, and how far it may be relied upon."""

from __future__ import annotations

from dataclasses import dataclass

from harness.explain.model import Seam

__all__ = ["Guess", "plainly", "probably", "unknown"]


@dataclass(frozen=True, slots=True)
class Guess:
    """A seam with its certainty."""

    rule: str
    """Names the sign that it was read from, so that right guesses can be counted rule by rule."""
    seam: Seam
    sure: bool
    doubt: str = ""
    """Half a sentence on why it is not sure; empty where it is, or where there is none to give."""


def plainly(rule: str, seam: Seam) -> Guess:
    """A sign that nothing else gives, as far as was ever seen."""
    return Guess(rule, seam, sure=True)


def probably(rule: str, seam: Seam, doubt: str = "") -> Guess:
    """A sign that this seam gives more often than any other."""
    return Guess(rule, seam, sure=False, doubt=doubt)


def unknown(rule: str, doubt: str = "") -> Guess:
    """No guess would be better than a coin."""
    return Guess(rule, Seam.UNKNOWN, sure=False, doubt=doubt)

"""Shrinks a finding to the smallest cassette that still shows it."""

from harness.scenarios.shrinking.shrinker import (
    FindingLost,
    Judge,
    Progress,
    Shrunk,
    shrink,
    tidied,
)
from harness.scenarios.shrinking.sizes import DocumentSize, size_of

__all__ = [
    "DocumentSize",
    "FindingLost",
    "Judge",
    "Progress",
    "Shrunk",
    "shrink",
    "size_of",
    "tidied",
]

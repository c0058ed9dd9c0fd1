"""Explains a result in words: the first cause, what each side did, and at which seam."""

from harness.explain.explaining import explain, explained, first_cause
from harness.explain.model import Explanation
from harness.parity.guess import Seam

__all__ = ["Explanation", "Seam", "explain", "explained", "first_cause"]

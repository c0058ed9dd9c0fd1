"""What a difference means, in words: the earliest cause, what each side did, where it was seen."""

from harness.explain.explaining import explained
from harness.explain.model import Explanation
from harness.explain.short import explain, first_cause
from harness.parity.guess import Seam

__all__ = ["Explanation", "Seam", "explain", "explained", "first_cause"]

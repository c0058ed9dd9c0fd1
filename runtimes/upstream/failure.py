"""What can go wrong between this runtime and the process that it drives."""

from __future__ import annotations

from runtimes.contract import RuntimeBroken

__all__ = ["DriverBroken"]


class DriverBroken(RuntimeBroken):
    """The driver died, wrote what is not of its protocol, or did not answer in time."""

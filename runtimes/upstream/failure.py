"""What can go wrong between this runtime and the process that it drives."""

from __future__ import annotations

from runtimes.contract import RuntimeBroken

__all__ = ["CommandFailed", "DriverBroken"]


class DriverBroken(RuntimeBroken):
    """The driver died, wrote what is not of its protocol, or did not answer in time."""


class CommandFailed(Exception):
    """The core refused a command; the message is its own, `name` its error's."""

    def __init__(self, command: str, name: str, message: str) -> None:
        super().__init__(f"{command}: {message}")
        self.name = name
        self.message = message

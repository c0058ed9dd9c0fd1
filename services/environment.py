"""The environment of a run: platform, variables, locale."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

__all__ = ["Environment"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Facts about the machine, read once.

    `variables` are for the program itself, with the keys for auth; `child_variables` are for child
    processes, without keys.
    """

    platform: str = "linux"
    """Node's platform name: `linux`, `darwin`, `win32`."""
    variables: Mapping[str, str] = field(default_factory=dict)
    child_variables: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_this_machine(cls) -> Environment:
        """The real environment; children inherit everything except credentials."""
        variables = dict(os.environ)
        hidden = ("API_KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIALS")
        children = {
            key: value
            for key, value in variables.items()
            if not any(word in key.upper() for word in hidden)
        }
        return cls(platform=sys.platform, variables=variables, child_variables=children)

    @classmethod
    def for_replay(cls, *, home: str, path: str | None = None) -> Environment:
        """The fixed environment of a replay: UTC, en-US, no keys, the run's own home."""
        children = {
            "HOME": home,
            "PATH": path if path is not None else os.environ.get("PATH", os.defpath),
            "TZ": "UTC",
            "LANG": "en_US.UTF-8",
            "TERM": "dumb",
            "SHELL": "/bin/bash",
        }
        return cls(platform="linux", variables=children, child_variables=children)

    def long_date(self, epoch_ms: int) -> str:
        """The date in en-US: `Thursday, January 1, 2026` (UTC)."""
        moment = datetime.fromtimestamp(epoch_ms / 1000, UTC)
        return f"{moment:%A}, {moment:%B} {moment.day}, {moment.year}"

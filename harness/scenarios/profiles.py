"""Profiles: what a generated run is mostly about.

A profile changes the weights of single choices of the grammar; everything else keeps the weight
that stands where the choice is made. A sample's bound is about its profile and nothing else, so a
profile's digest goes wherever the bound goes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from harness.canonical import canonical, sha256_hex

__all__ = ["PROFILES", "Profile"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A weighting of the grammar."""

    name: str
    about: str
    """One line for people."""
    weights: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Choice → option → weight; under `chances`, chance → times in a thousand."""

    @property
    def digest(self) -> str:
        """SHA-256 of the weights: which distribution was drawn from."""
        return sha256_hex(canonical({name: dict(each) for name, each in self.weights.items()}))


def _profiles(*found: Profile) -> Mapping[str, Profile]:
    return {profile.name: profile for profile in found}


PROFILES: Final = _profiles(
    Profile(name="everything", about="all that the grammar knows, as it stands"),
    Profile(
        name="fallback",
        about="quotas, capacity and overload, with and without somebody to ask",
        weights={
            "chances": {"fault": 450, "fallback_handler": 600, "fault_repeats": 300, "round": 300},
            "fault": {
                "bare_429": 20,
                "delayed_429": 10,
                "daily_quota": 30,
                "minute_quota": 10,
                "capacity": 20,
                "overloaded": 15,
                "not_found": 8,
            },
            "model": {"auto-gemini-2.5": 40, "gemini-2.5-pro": 40, "gemini-3-pro-preview": 20},
        },
    ),
    Profile(
        name="masking",
        about="large tool outputs that are truncated, masked and compressed away",
        weights={
            "chances": {
                "set_contextManagement": 900,
                "set_truncateToolOutputThreshold": 500,
                "round": 800,
                "fault": 30,
                "interruption": 40,
            },
            "tool": {"read_file": 40, "run_shell_command": 40, "unknown": 1, "invalid": 1},
            "approval_mode": {"yolo": 100, "default": 1, "auto_edit": 1},
        },
    ),
    Profile(
        name="loops",
        about="models that go round in circles",
        weights={
            "chances": {"circle": 500, "round": 750, "set_disableLoopDetection": 20, "fault": 40},
            "answer_text": {"long": 15},
        },
    ),
    Profile(
        name="aborts",
        about="users who stop, steer and change their mind at any point",
        weights={
            "chances": {"interruption": 900, "send": 700, "slow_model": 300},
            "during": {"abort": 40},
        },
    ),
)
"""Every profile by its name."""

"""The flags as data: their names, their surfaces, and what turning one on changes.

The registry's table has the runtime of each surface. This module has the rollout phase that must be
signed off before a surface moves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from runtimes.registry import Surface, choose_session
from services.settings import AdkFlags

__all__ = ["FLAGS", "PHASES", "Flag", "flag_named", "flips"]

PHASES: Final[Mapping[Surface, str]] = {
    Surface.NONINTERACTIVE: "A",
    Surface.SUBAGENT: "B",
    Surface.INTERACTIVE: "C",
}
"""Surface to the rollout phase in which it moves. Source: the replatforming plan, phases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """One flag."""

    name: str
    """Its name in the settings."""
    field: str
    """Its field of `AdkFlags`."""
    surface: Surface | None = None
    """Its surface; `None` for the flag that selects the runtime of all surfaces."""

    @property
    def short(self) -> str:
        """The last part of its name."""
        return self.name.rpartition(".")[2]


FLAGS: Final = (
    Flag(name="experimental.adk.runtimeEnabled", field="runtime_enabled"),
    Flag(
        name="experimental.adk.agentSessionNoninteractiveEnabled",
        field="agent_session_noninteractive_enabled",
        surface=Surface.NONINTERACTIVE,
    ),
    Flag(
        name="experimental.adk.agentSessionInteractiveEnabled",
        field="agent_session_interactive_enabled",
        surface=Surface.INTERACTIVE,
    ),
    Flag(
        name="experimental.adk.agentSessionSubagentEnabled",
        field="agent_session_subagent_enabled",
        surface=Surface.SUBAGENT,
    ),
)
"""Every flag that moves a surface."""


def flag_named(name: str) -> Flag | None:
    """The flag of that name, in full or its last part alone."""
    return next((flag for flag in FLAGS if name in (flag.name, flag.short)), None)


def flips(flag: Flag, flags: AdkFlags) -> tuple[Surface, ...]:
    """The surfaces that `flag` moves, with the other flags as in `flags`."""
    off, on = (replace(flags, **{flag.field: value}) for value in (False, True))
    return tuple(
        surface
        for surface in Surface
        if choose_session(surface, off) != choose_session(surface, on)
    )

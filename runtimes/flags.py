"""The flags as data: which there are, and what turning one on moves to another path.

Which runtime a surface gets is the registry's table; this one says what each flag is called, whose
it is, and which rollout phase must have been signed off before a surface moves.
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
    """As it stands in the settings."""
    field: str
    """Its field of `AdkFlags`."""
    surface: Surface | None = None
    """The surface whose own flag it is; `None` for the one that selects the runtime of all."""

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
    """The surfaces that run on something else once `flag` is turned on, the rest as in `flags`.

    Of a flag that is on already: what it holds there.
    """
    off, on = (replace(flags, **{flag.field: value}) for value in (False, True))
    return tuple(
        surface
        for surface in Surface
        if choose_session(surface, off) != choose_session(surface, on)
    )

"""`parity can-flip`: may this flag be turned on?"""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from harness.commands.here import check_digest, signoffs_folder
from harness.config import default_gates
from harness.errors import UsageError
from harness.flip.judge import judged_flip
from harness.flip.show import show_flips
from harness.gate.answer import Answer
from harness.gate.gates import Gates
from harness.gate.here import Here, here
from harness.gate.here import gates_file as found_gates
from harness.gate.show import EXITS, show_changes
from harness.inventory import environment
from harness.signoff.history import Anchor, history_of
from runtimes.flags import FLAGS, PHASES, Flag, flag_named, flips
from runtimes.registry import Surface
from services.model.errors import FatalConfigError
from services.settings import AdkFlags
from surfaces.headless.settings_files import load_settings

__all__ = ["can_flip"]


def can_flip(
    flag: str,
    surfaces: tuple[str, ...],
    settings_file: Path | None,
    signoffs: Path | None,
    expect_head: str | None,
    gates_file: Path | None,
    as_of: datetime | None,
    policy_from: str | None,
) -> int:
    """Run `parity can-flip`; return its exit code."""
    check_digest(expect_head)
    day = as_of.date() if as_of is not None else datetime.now(UTC).date()
    # The rules come first: a revision that is judged by has no other flags than its own.
    place = here(gates_file, None, day, policy_from) if _has_gates(gates_file) else None
    own = {} if place is None else _phases_of(place.policy.gates, flag)
    if own:
        if surfaces or settings_file is not None:
            problem = f"{flag} is a flag of the project, which has no surfaces"
            raise UsageError(problem, "leave --surface and --settings out")
        name, moved = flag, own
    else:
        found = _flag(flag, place)
        name = found.name
        moved = {each: PHASES[each] for each in _moved(found, surfaces, settings_file)}
    if not moved:
        click.echo(f"yes: {name} switches nothing, because the flag of every surface is off")
        return EXITS[Answer.YES]
    if place is None:
        place = here(gates_file, None, day, policy_from)
    if policy_from is not None:
        show_changes(place.policy.source, place.changes, sys.stdout)
    folder = signoffs_folder(signoffs)
    digest = place.policy.gates.digest if policy_from is None else None
    anchor = Anchor(gates=found_gates(gates_file), digest=digest, revision=policy_from)
    history = history_of(folder, anchor)
    judged = [
        judged_flip(
            phase,
            folder,
            place.policy.gates,
            place.current,
            environment(),
            day,
            history=history,
            expect_head=expect_head,
        )
        for phase in moved.values()
    ]
    answer = show_flips(name, list(zip(moved, judged, strict=True)), sys.stdout)
    return EXITS[answer]


def _has_gates(named: Path | None) -> bool:
    return named is not None or default_gates() is not None


def _phases_of(gates: Gates, flag: str) -> dict[str, str]:
    """Return the phases that a flag of the project switches: title → name."""
    return {each.title: name for name, each in gates.phase.items() if each.flag == flag}


def _flag(name: str, place: Here | None) -> Flag:
    found = flag_named(name)
    if found is None:
        phases = () if place is None else place.policy.gates.phase.values()
        known = [*(each.flag for each in phases if each.flag), *(each.name for each in FLAGS)]
        raise UsageError(f"unknown flag {name!r}", f"known: {', '.join(known)}")
    return found


def _moved(flag: Flag, asked: tuple[str, ...], settings: Path | None) -> list[Surface]:
    # Without settings any surface may be on: the flag moves all that it can.
    every = AdkFlags(
        agent_session_noninteractive_enabled=True,
        agent_session_interactive_enabled=True,
        agent_session_subagent_enabled=True,
    )
    moved = flips(flag, every if settings is None else _settings(settings))
    for name in asked:
        if name not in moved:
            listed = ", ".join(moved) or "none"
            raise UsageError(f"{flag.name} does not switch {name}", f"it switches: {listed}")
    return [surface for surface in moved if not asked or surface in asked]


def _settings(file: Path) -> AdkFlags:
    try:
        return load_settings([file], os.environ, required=True).settings.adk
    except FatalConfigError as error:
        raise UsageError(str(error)) from error

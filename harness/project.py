"""The project of the current folder (`runtimes/project.py`), for commands."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from harness.errors import UsageError, first_problem
from harness.parity.divergence import ChannelName
from harness.parity.shown import unknown_channels
from harness.sides import USUAL, base_names
from runtimes.project import BadProjectFile, Project, current_project

__all__ = ["command_defaults", "project_here", "project_trusts", "usual_sides"]

_MEND: Final = "docs/own-agent.md describes its keys"
_COMPARING: Final = ("generate", "orders", "run", "waive")
"""The commands with the options `--control` and `--candidate`."""


def project_here() -> Project | None:
    """Return the project of the current folder; `None` without a project file.

    Raises:
        UsageError: the file cannot be used.
    """
    try:
        project = current_project()
    except BadProjectFile as error:
        problem = error.problem
        if isinstance(problem, ValidationError):
            place, says = first_problem(problem)
            problem = f"{place}: {says}" if place else says
        raise UsageError(f"{_from_here(error.file)}: {problem}", _MEND) from error
    if project is not None:
        _check_channels(project)
    return project


def _check_channels(project: Project) -> None:
    named = {
        **{f"leave_out.{name}": name for name in project.leave_out},
        **{f"vary[{number}].channel": each.channel for number, each in enumerate(project.vary)},
    }
    for place, channel in named.items():
        if unknown_channels(frozenset({channel})):
            problem = f"{_from_here(project.file)}: {place}: there is no channel {channel!r}"
            raise UsageError(problem, f"there are {', '.join(ChannelName)}")


def usual_sides() -> tuple[str, str]:
    """Return the control and the candidate of commands that name none.

    Raises:
        UsageError: as for `project_here`.
    """
    project = project_here()
    control, candidate = (None, None) if project is None else (project.control, project.candidate)
    return control or USUAL[0], candidate or USUAL[1]


def command_defaults() -> dict[str, dict[str, Any]]:
    """Return the defaults that the project file gives to options, by command.

    Raises:
        UsageError: as for `project_here`.
    """
    control, candidate = usual_sides()
    if (control, candidate) == USUAL:
        return {}
    sides = {"control": control, "candidate": candidate}
    return {**dict.fromkeys(_COMPARING, sides), "doctor": {"runtimes": (control, candidate)}}


def project_trusts(fields: Mapping[str, Any]) -> bool:
    """Return whether cassettes of a task may start processes because the project says so.

    That holds where one of its own runtimes plays them: that runtime is code of the project, which
    may start processes anyway. `fields` are those of a task: its `control`, `candidate`, `runtime`.

    Raises:
        UsageError: as for `project_here`.
    """
    project = project_here()
    if project is None or not project.trust:
        return False
    sides = (str(fields[name]) for name in ("control", "candidate", "runtime") if name in fields)
    return any(not base_names(side).isdisjoint(project.runtimes) for side in sides)


def _from_here(file: Path) -> str:
    here = Path.cwd()
    return file.name if file.parent == here else str(file)

"""Checks of the suite beside the cassettes, in two groups.

Only ADK code of others reaches a part of the adk runtime: edits of a request by a plugin,
callbacks, events that a plugin makes. Legacy has nothing to compare it with. The suite's probes
compare it with stock ADK instead.

A cassette shows only some of what a function of the services answers. The suite keeps what the
published core's own function answers to many inputs, and compares.

The modules in `CHECKS` offer both under one protocol: `NAMES` lists the checks of a group, and
`check(name)` returns what is wrong, a line each. Good code has nothing wrong.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from harness.errors import ReplayFailure
from harness.experiment.announcing import case_begins
from harness.mutants.forked import Answer, Forked, Gone, Raised
from harness.mutants.playing import CHECKS, TracedCheck
from harness.mutants.reach import Lines
from harness.mutants.result import Finding, Outcome
from parity import own_name, short_name

__all__ = [
    "UNENDED",
    "CheckTask",
    "Checks",
    "finding_of",
    "import_checks",
    "judged_by",
    "traced_checks",
]

_JUDGED: Final = {"adk_probes": "runtimes/adk", "core_answers": "services"}
"""By group of checks, the folder whose mutants it judges."""
UNENDED: Final = "run the command again, with more --limits"
"""What to do where good code cannot be checked."""
_READ: Final = (".py", ".json")
_S: Final = 60.0
"""What a good check gets, of CPU time and of time that passes."""


@dataclass(frozen=True, slots=True)
class Checks:
    """The checks of the suite.

    Attributes:
        names: those that there are.
        digest: of the files that they are in.
    """

    names: tuple[str, ...] = ()
    digest: str = ""

    @classmethod
    def of(cls, parts: Sequence[str]) -> Checks:
        """The checks for mutants of these parts; none where they judge none of them."""
        names: list[str] = []
        content: list[bytes] = []
        for group, module in CHECKS.items():
            folder = _JUDGED[group]
            concerned = any(folder.startswith(part) or part.startswith(folder) for part in parts)
            package = own_name(short_name(module).partition(".")[0])
            spec = find_spec(module) if concerned and find_spec(package) else None
            if spec is None or spec.origin is None:
                continue
            names += [f"{group}/{name}" for name in importlib.import_module(module).NAMES]
            files = Path(spec.origin).parent.rglob("*")
            content += [each.read_bytes() for each in sorted(files) if each.suffix in _READ]
        digest = hashlib.sha256(b"\0".join(content)).hexdigest()[:24] if content else ""
        return cls(tuple(names), digest)


@dataclass(frozen=True, slots=True)
class CheckTask:
    """Checks whose lines are found out."""

    names: tuple[str, ...]

    @property
    def name(self) -> str:
        """For a worker that died in it."""
        return f"{len(self.names)} checks of the suite"


def traced_checks(names: Sequence[str], fresh: partial[Answer]) -> Mapping[str, Lines]:
    """What each check executes, made in a forked process that `fresh` prepares.

    A check that finds something wrong in good code can show no mutant, and is left out.

    Raises:
        ReplayFailure: A check does not end.
    """
    found: dict[str, Lines] = {}
    import_checks(names)
    with Forked(fresh, cpu_s=_S, wall_s=_S) as forked:
        for name in names:
            case_begins()
            made: TracedCheck | Gone | Raised = forked.ask(name)
            if isinstance(made, Gone):
                raise ReplayFailure(f"check {name!r} of the suite", "it did not end", UNENDED)
            if not isinstance(made, Raised) and not made[0]:
                found[name] = made[1]
    return found


def judged_by(name: str) -> str:
    """The folder whose mutants the check `GROUP/NAME` judges."""
    return _JUDGED[name.partition("/")[0]]


def import_checks(names: Iterable[str]) -> None:
    """Import what makes these checks, before a process is forked."""
    for group in {name.partition("/")[0] for name in names}:
        importlib.import_module(CHECKS[group])


def finding_of(name: str, made: tuple[str, ...] | Gone | Raised) -> Finding | None:
    """What a check says of a mutant that is in force."""
    judged = judged_by(name).rpartition("/")[2]
    if isinstance(made, Gone):
        how = Outcome.TIME_LIMIT if made.over_time else Outcome.CRASH
        return Finding(case=name, runtime=judged, by=how, place="the check did not end")
    if isinstance(made, Raised):
        return Finding(case=name, runtime=judged, by=Outcome.CRASH, place=made.says)
    if not made:
        return None
    place, _, says = made[0].partition(": ")
    return Finding(
        case=name, runtime=judged, by=Outcome.FOUND, channel=judged, place=place, says=says
    )

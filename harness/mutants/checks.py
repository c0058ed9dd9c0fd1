"""Checks of the suite beside the cassettes, which judge mutants of one runtime.

Only ADK code of others reaches a part of the adk runtime: edits of a request by a plugin,
callbacks, events that a plugin makes. Legacy has nothing to compare it with. The suite's probes
compare it with stock ADK instead, and the module `CHECKS` offers them under this protocol: `NAMES`
lists the checks, and `check(name)` returns what is wrong, a line each. Good code has nothing wrong.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Mapping, Sequence
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

__all__ = ["CHECKED", "UNENDED", "CheckTask", "Checks", "finding_of", "traced_checks"]

CHECKED: Final = "adk"
"""The runtime whose mutants the checks judge."""
_FOLDER: Final = f"runtimes/{CHECKED}"
_GROUP: Final = "adk_probes"
UNENDED: Final = "run the command again, with more --limits"
"""What to do where good code cannot be checked."""
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
        concerned = any(_FOLDER.startswith(part) or part.startswith(_FOLDER) for part in parts)
        package = own_name(short_name(CHECKS).partition(".")[0])
        spec = find_spec(CHECKS) if concerned and find_spec(package) else None
        if spec is None or spec.origin is None:
            return cls()
        files = sorted(Path(spec.origin).parent.glob("*.py"))
        digest = hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()[:24]
        return cls(tuple(importlib.import_module(CHECKS).NAMES), digest)


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
    importlib.import_module(CHECKS)
    with Forked(fresh, cpu_s=_S, wall_s=_S) as forked:
        for name in names:
            case_begins()
            made: TracedCheck | Gone | Raised = forked.ask(name)
            if isinstance(made, Gone):
                raise ReplayFailure(f"check {name!r} of the suite", "it did not end", UNENDED)
            if not isinstance(made, Raised) and not made[0]:
                found[name] = made[1]
    return found


def finding_of(name: str, made: tuple[str, ...] | Gone | Raised) -> Finding | None:
    """What a check says of a mutant that is in force."""
    case = f"{_GROUP}/{name}"
    if isinstance(made, Gone):
        how = Outcome.TIME_LIMIT if made.over_time else Outcome.CRASH
        return Finding(case=case, runtime=CHECKED, by=how, place="the check did not end")
    if isinstance(made, Raised):
        return Finding(case=case, runtime=CHECKED, by=Outcome.CRASH, place=made.says)
    if not made:
        return None
    place, _, says = made[0].partition(": ")
    return Finding(
        case=case, runtime=CHECKED, by=Outcome.FOUND, channel="adk", place=place, says=says
    )

"""What to do next about a red case: which changed file to open first, and how to bisect.

The last journalled run in which the case was parity gives the revision to begin a search at, and
the files that changed since then.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from harness.canonical import printable
from harness.sides import baseline_folder
from harness.triage.places import ranked
from harness.wording import listed

__all__ = ["Bisecting", "Good", "Leads", "bisecting", "changed_lines"]

_SHORT: Final = 10
"""Digits of a commit's hash that are shown."""
_NAMED: Final = 6
"""Changed files that are shown, at the seam and elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Good:
    """The last journalled run with a known commit in which a case was parity."""

    revision: str
    """The commit of the run."""
    dirty: bool = False
    """Files of that run differed from the commit."""
    run: str = ""
    """The run in words: its journal, and when it began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leads:
    """Facts for all red cases of one run."""

    revision: str = ""
    """The commit of the red run; empty if unknown."""
    dirty: bool = False
    """Files of the red run differed from the commit."""
    here: str = ""
    """The commit that is checked out here; empty outside of a checkout."""
    corpus: str = ""
    """The folder in which commands find a cassette by its name, resolved; or empty."""
    good: Mapping[str, Good] = field(default_factory=dict)
    """Case to the run to begin a search at; a case that was never green has none."""
    files: tuple[str, ...] = ()
    """The changed files of this project's code, as paths in the checkout."""
    since: str = ""
    """The run since which they changed, in words; empty without such a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bisecting:
    """How to find the commit that made a case red."""

    command: str = ""
    """The shell command; empty if there is nothing to search."""
    note: str = ""
    """A note on the command, or why there is nothing to search."""

    def lines(self) -> list[str]:
        """Printable lines."""
        if not self.command:
            return [printable(f"bisect: {self.note}")]
        note = [f"  {self.note}"] if self.note else []
        return [printable(line) for line in (f"bisect: {self.command}", *note)]


def changed_lines(leads: Leads, places: tuple[str, ...], candidate: str) -> list[str]:
    """The changed files in lines, those nearest to a seam first; none if no change is known.

    Args:
        leads: Facts of the run.
        places: Files and folders of the seam's code (`places_of`).
        candidate: The side that is judged.
    """
    if not leads.files or not leads.since:
        return []
    found = ranked(leads.files, places, candidate)
    if not places:
        return [printable(f"{leads.since}: {_listed(found.others)}")]
    if not found.at:
        return [printable(f"{leads.since}, but not at this seam: {_listed(found.others)}")]
    elsewhere = f"; elsewhere: {_listed(found.others)}" if found.others else ""
    return [printable(f"{leads.since}, at this seam: {_listed(found.at)}{elsewhere}")]


def _listed(files: Sequence[str]) -> str:
    return listed(files, _NAMED)


def bisecting(
    leads: Leads, case: str, cassette: str, sides: tuple[str, str], options: Sequence[str] = ()
) -> Bisecting:
    """The search for the commit that made a case red.

    Args:
        leads: Facts of the run.
        case: The case's name.
        cassette: Its cassette on the command line: a name, or a file.
        sides: Control and candidate.
        options: Options of the run that the command repeats: `--trust`, `--waivers F`.
    """
    good = leads.good.get(case)
    begin = ["parity", "bisect", cassette]
    rest = [*_sides(sides), *options]
    if leads.revision and leads.here and leads.revision != leads.here:
        rest = ["--bad", leads.revision[:_SHORT], *rest]
    if good is None:
        note = (
            "replace REV with a revision in which the case was green (no stored run has one): "
            "a release tag, or `git merge-base HEAD main`"
        )
        return Bisecting(command=shlex.join([*begin, "--good", "REV", *rest]), note=note)
    if good.revision == leads.revision:
        same = f"nothing to search: the case was green at the same commit {good.revision[:_SHORT]}"
        if leads.dirty:
            return Bisecting(note=f"{same}, and the changes are not committed; see `git diff`")
        return Bisecting(note=f"{same} ({good.run}); the change is not a commit of this checkout")
    notes = []
    if good.dirty:
        notes.append(f"files of the green run ({good.run}) differed from that commit")
    if leads.dirty:
        notes.append("commit your changes first: bisect searches only commits")
    command = shlex.join([*begin, "--good", good.revision[:_SHORT], *rest])
    return Bisecting(command=command, note="; ".join(notes))


def _sides(sides: tuple[str, str]) -> list[str]:
    """The options that name the sides; none for the sides that `parity bisect` takes by default."""
    control, candidate = sides
    if baseline_folder(control) is not None:
        return ["--runtime", candidate]
    if (control, candidate) == ("legacy", "adk"):
        return []
    return ["--control", control, "--runtime", candidate]

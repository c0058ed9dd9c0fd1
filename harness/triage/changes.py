"""The changes between two runs, such as the last green and the first red one.

A journal names the sides of the comparison, and every file and package that it depends on. If the
checkout knows the revisions of both runs, the commits between them are added.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from harness.canonical import printable
from harness.inventory import HELPERS, Component, Inventory, changes
from harness.third_party import RUNTIME
from harness.wording import listed

if TYPE_CHECKING:  # a report holds changes, and a journal what reports are made of
    from harness.journal_header import JournalHeader

__all__ = ["OURS", "Change", "ChangeKind", "Changes", "changes_between"]

_COMMITS: Final = 12
"""Number of commits whose subjects are shown."""


class ChangeKind(StrEnum):
    """The kind of a change."""

    RUNTIMES = "runtimes"
    """The code of a runtime."""
    SERVICES = "services"
    """The shared code of all runtimes."""
    HARNESS = "harness"
    """The code that compares."""
    CASSETTES = "cassettes"
    WAIVERS = "waivers"
    BASELINES = "baselines"
    """The baselines of the published core."""
    CORE = "core"
    """The version of the published core."""
    DISTRIBUTION = "distribution"
    """An installed package that is not ours."""
    SYSTEM = "system"
    """Python, node or the platform."""
    ASKED = "asked"
    """Options of the run."""
    OTHER = "other"
    """A change that cannot affect the verdict of a case."""


OURS: Final = frozenset({ChangeKind.RUNTIMES, ChangeKind.SERVICES, ChangeKind.HARNESS})
"""Changes of this project's own code, and of a third party's runtime."""

_COMPONENTS: Final[Mapping[str, ChangeKind]] = {
    "runtimes": ChangeKind.RUNTIMES,
    "services": ChangeKind.SERVICES,
    "agent_protocol": ChangeKind.SERVICES,
    "harness": ChangeKind.HARNESS,
    "adapters": ChangeKind.HARNESS,
    "corpus": ChangeKind.CASSETTES,
    "waivers": ChangeKind.WAIVERS,
    "baselines": ChangeKind.BASELINES,
}
_BY_CASE: Final = frozenset({"corpus", "baselines", HELPERS})
"""The components with a file for each chosen cassette."""
_PACKAGES: Final = "distributions"
"""The component of the installed packages, with versions instead of digests."""
_ENVIRONMENT: Final[Mapping[str, ChangeKind]] = {
    "python": ChangeKind.SYSTEM,
    "node": ChangeKind.SYSTEM,
    "platform": ChangeKind.SYSTEM,
    "temporary folder": ChangeKind.SYSTEM,
    "core": ChangeKind.CORE,
    "parity": ChangeKind.OTHER,  # our own version: the code itself is a component
}
_ASKED: Final = ("control", "candidate", "repeat", "trust", "phase")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One difference. `was` and `now` are empty if there is no text to show."""

    kind: ChangeKind
    what: str
    """Component, package or option."""
    was: str = ""
    now: str = ""
    names: Mapping[str, str] | None = None
    """For a component: file, waiver or package → `changed`, `new` or `gone`."""

    @property
    def line(self) -> str:
        """The difference as a printable line."""
        if self.names is not None:
            changed = listed(f"{name} {how}" for name, how in self.names.items())
            return printable(f"{self.what}: {changed or 'changed, but in no named file'}")
        return printable(f"{self.what}: {self.was or 'none'} → {self.now or 'none'}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The changes from one run to another."""

    since: str
    """A description of the earlier run: its journal, and its start."""
    green: bool
    """Whether the cases that are red now were parity in the earlier run."""
    until: str = ""
    """The later run, if it is the first red one and not the reported one."""
    changes: tuple[Change, ...] = ()
    """Sorted: code of this project, input of the comparison, machine."""
    revisions: tuple[str, str] = ("", "")
    """The commits of both runs; empty if unknown."""
    commits: tuple[str, ...] = ()
    """The commits between, newest first: short hash and subject. Empty if unknown."""
    dirty: bool = False
    """Whether the later run's files differed from its commit."""

    @property
    def span(self) -> str:
        """Both runs, printable: `last green (…) → first red (…)`."""
        was = f"last green ({self.since})" if self.green else f"an earlier run ({self.since})"
        now = f"first red ({self.until})" if self.until else "this run"
        return printable(f"{was} → {now}")

    @property
    def kinds(self) -> frozenset[ChangeKind]:
        """The kinds of the changes."""
        return frozenset(change.kind for change in self.changes)

    @property
    def files(self) -> tuple[str, ...]:
        """The changed code: paths in the checkout, and those that third parties' runtimes have."""
        theirs = (name for names in self.third_party.values() for name in sorted(names))
        return (*self.own_files, *dict.fromkeys(theirs))

    @property
    def own_files(self) -> tuple[str, ...]:
        """The changed files of this project's code, as paths in the checkout."""
        return tuple(
            name
            for change in self.changes
            if change.kind in OURS and change.names is not None
            if not change.what.startswith(RUNTIME)
            for name in change.names
        )

    @property
    def third_party(self) -> dict[str, frozenset[str]]:
        """The changed runtimes of third parties, with the names of what changed in each."""
        return {
            change.what.removeprefix(RUNTIME): frozenset(change.names or ())
            for change in self.changes
            if change.what.startswith(RUNTIME)
        }

    def lines(self) -> list[str]:
        """Return a heading, a line for each change, and the commits."""
        lines = [f"what changed, {self.span}:"]
        lines += [f"  {change.line}" for change in self.changes]
        if not self.changes:
            lines.append("  nothing that a journal records")
        if self.commits:
            was, now = (text[:10] for text in self.revisions)
            more = " and uncommitted changes" if self.dirty else ""
            lines.append(printable(f"  commits {was}..{now}{more}:"))
            lines += [f"    {printable(commit)}" for commit in self.commits[:_COMMITS]]
            if len(self.commits) > _COMMITS:
                lines.append(f"    … and {len(self.commits) - _COMMITS} more")
        return lines


def changes_between(
    was: tuple[JournalHeader, Inventory], now: tuple[JournalHeader, Inventory]
) -> tuple[Change, ...]:
    """Return the differences of two runs, without day, shard and places of files."""
    before, after = was[0], now[0]
    # If the runs chose different cassettes, one that only one run chose is neither new nor gone.
    alike = _chosen(before) == _chosen(after)
    found = [
        *_of_components(was[1], now[1], alike=alike),
        *_of_texts(_packages(*was), _packages(*now), _ENVIRONMENT, ChangeKind.DISTRIBUTION),
        *(_of_texts(before.made_of, after.made_of, {}, ChangeKind.BASELINES) if alike else ()),
        *_of_texts(_asked(before), _asked(after), {}, ChangeKind.ASKED),
    ]
    known = {**before.environment, **after.environment}
    order = list(ChangeKind)
    # The packages that this project requires come first.
    return tuple(
        sorted(found, key=lambda one: (order.index(one.kind), one.what not in known, one.what))
    )


def _chosen(header: JournalHeader) -> object:
    """Return how the cassettes of a run were chosen."""
    return header.paths, header.expr, header.phase


def _of_components(was: Inventory, now: Inventory, *, alike: bool) -> Iterator[Change]:
    for name in dict.fromkeys([*was.components, *now.components]):
        before = was.components.get(name, Component())
        after = now.components.get(name, Component())
        if before.digest == after.digest or name == _PACKAGES:
            continue
        names = changes(before.names, after.names)
        if name in _BY_CASE and not alike:
            names = {file: how for file, how in names.items() if how == "changed"}
            if not names:
                continue
        theirs = name.startswith(RUNTIME)
        kind = ChangeKind.RUNTIMES if theirs else _COMPONENTS.get(name, ChangeKind.OTHER)
        yield Change(kind=kind, what=name, names=names)


def _of_texts(
    was: Mapping[str, str],
    now: Mapping[str, str],
    kinds: Mapping[str, ChangeKind],
    other: ChangeKind,
) -> Iterator[Change]:
    for name in changes(was, now):
        yield Change(
            kind=kinds.get(name, other),
            what=name,
            was=was.get(name, ""),
            now=now.get(name, ""),
        )


def _packages(header: JournalHeader, inventory: Inventory) -> dict[str, str]:
    """Versions of the system and of all packages; the inventory has more of them."""
    installed = inventory.components.get(_PACKAGES, Component()).files
    return {**installed, **header.environment}


def _asked(header: JournalHeader) -> dict[str, str]:
    return {name: str(getattr(header, name)) for name in _ASKED}

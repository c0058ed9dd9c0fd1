"""Last green, first red: what changed between two runs, from their journals' headers alone.

A header says what was compared with what, by which code, corpus and waivers, and on what machine:
digests and versions, which can only say *that* something changed. Where the checkout knows the
revisions, the commits between say what.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from harness.canonical import printable

if TYPE_CHECKING:  # a report holds changes, and a journal what reports are made of
    from harness.report.journal import JournalHeader

__all__ = ["Change", "ChangeKind", "Changes", "changes_between"]

_SHOWN: Final = 12
"""Commits that are told by their subjects."""
_HEX: Final = re.compile(r"[0-9a-f]{16,64}")


class ChangeKind(StrEnum):
    """What sort of thing changed: who would have changed it."""

    RUNTIMES = "runtimes"
    """The code of a runtime."""
    SERVICES = "services"
    """The code that all runtimes share."""
    HARNESS = "harness"
    """The code that compares."""
    CODE = "code"
    """Ours, and it cannot be said which part."""
    CASSETTES = "cassettes"
    WAIVERS = "waivers"
    BASELINES = "baselines"
    """What the published core was observed to do."""
    CORE = "core"
    """The version of the published core."""
    DISTRIBUTION = "distribution"
    """An installed package that is not ours."""
    SYSTEM = "system"
    """Python, node or the platform."""
    ASKED = "asked"
    """How the run was asked for."""
    OTHER = "other"


OURS: Final = frozenset(
    {ChangeKind.RUNTIMES, ChangeKind.SERVICES, ChangeKind.HARNESS, ChangeKind.CODE}
)
"""Changes of this project's own code."""

_KINDS: Final[Mapping[str, ChangeKind]] = {
    "runtimes": ChangeKind.RUNTIMES,
    "services": ChangeKind.SERVICES,
    "agent_protocol": ChangeKind.SERVICES,
    "surfaces": ChangeKind.CODE,
    "harness": ChangeKind.HARNESS,
    "code": ChangeKind.CODE,
    "corpus": ChangeKind.CASSETTES,
    "waivers": ChangeKind.WAIVERS,
    "baselines": ChangeKind.BASELINES,
    "baselines of the published core": ChangeKind.BASELINES,
    "core": ChangeKind.CORE,
    "gemini-cli-core": ChangeKind.CORE,
    "@google/gemini-cli-core": ChangeKind.CORE,
    "gates": ChangeKind.OTHER,
    "contract": ChangeKind.OTHER,
    "fault catalogue": ChangeKind.OTHER,
    "python": ChangeKind.SYSTEM,
    "node": ChangeKind.SYSTEM,
    "platform": ChangeKind.SYSTEM,
    "revision": ChangeKind.OTHER,
    "parity": ChangeKind.OTHER,
}
"""What a name in a header stands for; any other in a mapping of versions is a distribution."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing that was not the same. A text that is empty was not there."""

    kind: ChangeKind
    what: str
    was: str
    now: str

    @property
    def line(self) -> str:
        """In words, printable; digests are not shown, as they say nothing to anybody."""
        if _HEX.fullmatch(self.was) or _HEX.fullmatch(self.now):
            return printable(f"{self.what} changed")
        if not self.was:
            return printable(f"{self.what} came: {self.now}")
        if not self.now:
            return printable(f"{self.what} is gone: it was {self.was}")
        return printable(f"{self.what}: {self.was} → {self.now}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What changed from one run to another."""

    since: str
    """The earlier run, for people: the journal's file."""
    green: bool
    """The earlier run was parity: `since` is the last green one."""
    changes: tuple[Change, ...] = ()
    revisions: tuple[str, str] = ("", "")
    """Both runs' revisions; empty where a run did not know its own."""
    commits: tuple[str, ...] = ()
    """Between them, newest first: hash and subject."""
    touched: tuple[str, ...] = ()
    """Files that those commits changed."""

    @property
    def kinds(self) -> frozenset[ChangeKind]:
        """What sorts of things changed."""
        return frozenset(change.kind for change in self.changes)

    @property
    def ours(self) -> bool:
        """Something of this project's own code changed."""
        return bool(self.kinds & OURS)

    def lines(self) -> list[str]:
        """As told to people: a head, then a line for each change, then the commits."""
        head = "last green" if self.green else "an earlier run"
        lines = [printable(f"what changed since {head} ({self.since}):")]
        if not self.changes:
            lines.append("  nothing that a journal's header knows of")
        lines += [f"  {change.line}" for change in self.changes]
        if self.commits:
            lines.append(
                printable(f"  commits {' .. '.join(text[:12] for text in self.revisions)}:")
            )
            lines += [f"    {printable(commit)}" for commit in self.commits[:_SHOWN]]
            if len(self.commits) > _SHOWN:
                lines.append(f"    … and {len(self.commits) - _SHOWN} more")
        return lines


def changes_between(was: JournalHeader, now: JournalHeader) -> tuple[Change, ...]:
    """In what two headers differ: our code first, then what is compared, then the machine."""
    before, after = dict(_entries(was)), dict(_entries(now))
    found = [
        Change(kind=_kind(*key), what=key[1], was=before.get(key, ""), now=after.get(key, ""))
        for key in {**before, **after}
        if before.get(key, "") != after.get(key, "")
    ]
    order = list(ChangeKind)
    return tuple(sorted(found, key=lambda change: (order.index(change.kind), change.what)))


def _entries(header: JournalHeader) -> Iterator[tuple[tuple[str, str], str]]:
    """Each fact of a header as ((the mapping it stands in, its name), text)."""
    assert is_dataclass(header)
    facts: dict[str, Any] = asdict(header)
    for name, value in facts.items():
        if isinstance(value, Mapping):
            yield from (((name, str(key)), _text(item)) for key, item in value.items())
        elif name != "as_of":  # every day another, and nothing of anybody's doing
            yield ("", name), _text(value)


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _kind(holder: str, name: str) -> ChangeKind:
    known = _KINDS.get(name)
    if known is not None:
        return known
    if name.startswith("baseline:"):
        return ChangeKind.BASELINES
    return ChangeKind.DISTRIBUTION if holder else ChangeKind.ASKED

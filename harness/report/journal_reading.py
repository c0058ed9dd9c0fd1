"""Reading a journal back: each line is checked, or refused by its number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from harness.cassette.find import recorded_name
from harness.errors import LoadProblem, UsageError
from harness.inventory import Component, Inventory
from harness.journal_header import JournalHeader
from harness.parity.verdict import CaseResult
from harness.report.journal_lines import Lines, checked_result

__all__ = ["JournalRecord", "read_journal", "shard_of"]

_ANEW: Final = "name another journal, or run again without --resume"

_LONGEST_MS: Final = 10**10
"""That a case took: four months."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalRecord:
    """A journal as read back."""

    file: Path
    header: JournalHeader
    inventory: Inventory
    """What the header's digests are made of."""
    finished: Mapping[str, CaseResult] = field(default_factory=dict)
    """Results before waivers are settled over the run."""
    skipped: frozenset[str] = frozenset()
    """Cases that turned out not to be asked for."""
    problems: Mapping[str, LoadProblem] = field(default_factory=dict)
    """Cases whose file could not be loaded."""
    took_ms: Mapping[str, float] = field(default_factory=dict)
    """How long cases took, in milliseconds."""
    in_flight: tuple[str, ...] = ()
    """Started and not finished."""
    torn: bool = False
    """The last line was cut off, by a kill or a full disk."""
    ended: bool = False
    """The run came to its end."""
    whole_bytes: int = 0
    """Length of the file up to the last whole line."""

    @property
    def planned(self) -> tuple[str, ...]:
        """The names of all cases that the run was given, in its shard if it is one; sorted."""
        names = sorted(self.inventory.components["corpus"].files)
        return tuple(shard_of(names, self.header.shard))

    @property
    def missing(self) -> tuple[str, ...]:
        """Cases without a result, sorted: the run was cut off before them."""
        there = {*self.finished, *self.skipped, *self.problems}
        return tuple(name for name in self.planned if name not in there)


def shard_of(names: list[str], shard: str) -> list[str]:
    """The part of the sorted `names` that a shard `i/n` is: every n-th, from the i-th on.

    Neighbours are of one family and take alike, so that no shard gets all the long ones.
    """
    if not shard:
        return names
    number, _, count = shard.partition("/")
    return names[int(number) - 1 :: int(count)]


def read_journal(file: Path) -> JournalRecord:
    """Read a journal back. A torn last line is left out; a broken one before it is an error.

    Every result is looked at whole: what its parts do not come to, or what no run writes, is
    refused, so that a reader has a result as a run would have written it.

    Raises:
        UsageError: not readable, too large, not a journal, or of a format that this build does not
            read; with the number of the line.
    """
    lines = Lines.of(file)
    header = lines.header
    reading = _Reading()
    for number, line in lines.rest():
        try:
            reading.take(line)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            problem = f"{file}: line {number} is not a line of a journal: {_said(error)}"
            raise UsageError(problem, _ANEW) from error
    reading.check(file, header)
    return JournalRecord(
        file=file,
        header=header,
        inventory=reading.inventory,
        finished=reading.finished,
        skipped=frozenset(reading.skipped),
        problems=reading.problems,
        took_ms=reading.took_ms,
        in_flight=tuple(reading.started),
        torn=lines.torn,
        ended=reading.ended,
        whole_bytes=lines.whole_bytes,
    )


class _Reading:
    """What the lines behind the header come to."""

    def __init__(self) -> None:
        self.inventory = Inventory({})
        self.finished: dict[str, CaseResult] = {}
        self.skipped: set[str] = set()
        self.problems: dict[str, LoadProblem] = {}
        self.took_ms: dict[str, float] = {}
        self.started: dict[str, None] = {}
        self.ended = False
        self._planned: frozenset[str] = frozenset()

    def take(self, line: dict[str, Any]) -> None:
        """Take one line in; which kind it is, its first key says."""
        self.ended = False
        match next(iter(line), ""):
            case "inventory":
                self._take_inventory(line)
            case "started":
                self.started[self._name(line, "started")] = None
            case "finished":
                self._finish(self._name(line, "finished"), line)
            case "took":
                name = self._name(line, "took", "ms")
                self.took_ms[name] = _milliseconds(line["ms"])
            case "skipped":
                name = self._name(line, "skipped")
                self.skipped.add(name)
                self.started.pop(name, None)
            case "refused":
                name = self._name(line, "refused", "file", "message")
                place, message = line["file"], line["message"]
                if not (isinstance(place, str) and isinstance(message, str)):
                    raise ValueError("its file and message are not texts")
                self.problems[name] = LoadProblem(file=place, message=message)
                self.started.pop(name, None)
            case "ended" if line == {"ended": True}:
                self.ended = True
            case _:
                raise ValueError("it is not a line of a journal")

    def check(self, file: Path, header: JournalHeader) -> None:
        """Hold the header's digests against what they are made of.

        Raises:
            UsageError: they are not of this inventory.
        """
        if not self.inventory.components:
            # Cut off right behind the header: no result is lost, and what was planned is not known.
            raise UsageError(f"{file}: ends before the inventory of the run", _ANEW)
        for name in sorted({*self.finished} & {*self.skipped, *self.problems}):
            raise UsageError(f"{file}: {name} is finished, and elsewhere it is not", _ANEW)
        for name, digest in self.inventory.digests.items():
            if header.components.get(name) != digest:
                raise UsageError(f"{file}: the digest of {name} does not match its files", _ANEW)

    def _take_inventory(self, line: dict[str, Any]) -> None:
        if self.inventory.components:
            raise ValueError("it has two inventories")
        self.inventory = _inventory(line["inventory"])
        self._planned = frozenset(self.inventory.components["corpus"].files)

    def _name(self, line: dict[str, Any], kind: str, *others: str) -> str:
        name = line[kind]
        if not isinstance(name, str) or name not in self._planned:
            raise ValueError(f"{name!r} is no case of this run")
        if kind != "finished" and set(line) != {kind, *others}:
            raise ValueError("it has other keys than such a line")
        return name

    def _finish(self, name: str, line: dict[str, Any]) -> None:
        result = checked_result({key: line[key] for key in line if key != "finished"})
        # Recorded traffic calls itself by its family, whatever it was found as.
        if result.cassette not in (name, recorded_name(name)):
            raise ValueError(
                f"it is finished as {name!r}, and its result is of {result.cassette!r}"
            )
        if self.finished.setdefault(name, result) != result:
            raise ValueError(f"{name!r} is finished twice, with different results")
        self.started.pop(name, None)


def _milliseconds(value: Any) -> float:
    if type(value) not in (int, float) or not 0 <= value <= _LONGEST_MS:
        raise ValueError("ms is not a valid duration")
    return float(value)


def _said(error: Exception) -> str:
    return f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)


def _inventory(value: dict[str, Any]) -> Inventory:
    components = {}
    for name, facts in value.items():
        if set(facts) != {"files", "parts"}:
            raise ValueError(f"{name} has other keys than files and parts")
        texts = [*facts["files"].items(), *facts["parts"].items()]
        if not all(isinstance(text, str) for pair in texts for text in pair):
            raise ValueError(f"{name} has values that are not texts")
        components[name] = Component(facts["files"], facts["parts"])
    if "corpus" not in components:
        raise ValueError("it has no corpus")
    return Inventory(components)

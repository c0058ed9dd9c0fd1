"""`RunReport`: one run over a corpus, its waivers applied: all that a renderer reads."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

from harness.coverage.contract import Contract
from harness.errors import LoadProblem
from harness.journal_header import JournalHeader
from harness.parity.clean import clean_result
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.parity.waivers import WaiverStatus
from harness.triage.changes import Changes
from harness.triage.clusters import Cluster, clusters
from harness.triage.leads import Bisecting, Leads, bisecting
from services.wire import JsonObject

__all__ = ["ExitCode", "FamilyRow", "Finding", "LoadProblem", "PastRun", "RunReport", "exit_code"]


class ExitCode(IntEnum):
    """The exit code of the process."""

    PARITY = 0
    DIVERGENT = 1
    USAGE = 2
    INCONCLUSIVE = 3
    INTERRUPTED = 130

    @classmethod
    def of(cls, verdict: CaseVerdict, *, interrupted: bool, problems: bool) -> ExitCode:
        """Interrupted wins over 2 (a file that could not be loaded) over 1 over 3 over 0."""
        if interrupted:
            return cls.INTERRUPTED
        return cls.USAGE if problems else cls[verdict.name]


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyRow:
    """How the cases of one family came out."""

    family: str
    parity: int = 0
    divergent: int = 0
    inconclusive: int = 0

    @property
    def total(self) -> int:
        """Cases in the family."""
        return self.parity + self.divergent + self.inconclusive


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Cases that diverge alike, represented by the smallest."""

    case: CaseResult
    cluster: Cluster
    reproduce: str
    """The command that runs the case again."""

    @property
    def alike(self) -> int:
        """How many other cases diverge likewise."""
        return len(self.cluster.cases) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
    """The result of an earlier run."""

    began: str
    """`2026-03-01 06:00 UTC`."""
    revision: str = ""
    """The commit, short, with a `+` where files differed from it; empty where none was known."""
    verdict: CaseVerdict
    counts: tuple[int, int, int]
    """Cases at parity, divergent, inconclusive."""
    planned: int
    """Cases that the run was given; more than were judged where it was cut off."""
    journal: str
    """The file that says all of it."""
    page: str = ""
    """The way to its report's page, as a relative address; empty where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """One run. `cases` are settled and sorted by name."""

    control: str
    candidate: str
    cases: tuple[CaseResult, ...]
    problems: tuple[LoadProblem, ...] = ()
    waivers: tuple[WaiverStatus, ...] = ()
    planned: int = 0
    """Cases that the run set out to judge."""
    interrupted: bool = False
    stopped: int = 0
    """Divergent cases after which the run was stopped, as `--maxfail` asks; 0: it was not."""
    took_ms: Mapping[str, float] = field(default_factory=dict)
    """Cassette to the milliseconds that both sides took; no part of the result."""
    durations: int = 0
    """How many of the slowest cases are listed."""
    versions: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    """Cassette name to the file it came from, for the command that reproduces it."""
    options: Sequence[str] = ()
    """What a reproducing command must repeat: `--trust`, `--waivers F`."""
    header: JournalHeader | None = None
    """What was compared with what, by which build, on what machine."""
    since: Changes | None = None
    """What changed since the last green run, where one is known (`harness.triage`)."""
    leads: Leads = field(default_factory=Leads)
    """What is known for mending a red run: changed files, and revisions to begin a search at."""
    past: tuple[PastRun, ...] = ()
    """Earlier runs of the same sides, the latest first, where they were looked up."""
    contract: Contract = field(default_factory=Contract)
    """The numbered behaviours that cases name."""
    kills: JsonObject | None = None
    """The kill matrix (`parity faults --json`), where there is one at hand."""
    gates: tuple[JsonObject, ...] = ()
    """Answers of a gate that are shown beside it, as data of the page (`harness.gate.page`)."""

    fresh: Collection[str] = field(default=frozenset(), repr=False, compare=False)
    """Cases whose results come from workers of this process, which took secrets out of them."""
    clean_cases: tuple[CaseResult, ...] = field(default=(), repr=False, compare=False)
    """The cases once secrets were taken out of them: a copy of a report need not look again."""

    def __post_init__(self) -> None:
        """Take secrets out of the results, wherever they come from: before their texts are cut."""
        if self.cases is not self.clean_cases:
            cleaned = tuple(
                clean_result(case, fresh=case.cassette in self.fresh) for case in self.cases
            )
            object.__setattr__(self, "cases", cleaned)
            object.__setattr__(self, "clean_cases", cleaned)

    @property
    def partial(self) -> bool:
        """True when planned cases are not among the results: nothing may be concluded from it."""
        return self.interrupted or len(self.cases) < self.planned

    @property
    def families(self) -> tuple[FamilyRow, ...]:
        """One row per family, by name."""
        counts: dict[str, Counter[str]] = {}
        for case in self.cases:
            counts.setdefault(case.family, Counter())[case.verdict.value] += 1
        return tuple(FamilyRow(family=name, **counts[name]) for name in sorted(counts))

    @property
    def rules(self) -> Mapping[str, int]:
        """Projection rule to the number of differences it hid, over all cases; most first."""
        total: Counter[str] = Counter()
        for case in self.cases:
            total.update(case.rules)
        return _most_first(total)

    @property
    def inherited(self) -> Mapping[str, int]:
        """Provider rule to the findings that the published core commits too; most first."""
        return _most_first(
            Counter(found.finding.rule for case in self.cases for found in case.inherited)
        )

    @property
    def unsettled(self) -> Mapping[str, int]:
        """Provider rule to the findings of both sides that nothing could be held against."""
        return _most_first(
            Counter(found.finding.rule for case in self.cases for found in case.unsettled)
        )

    @property
    def verdict(self) -> CaseVerdict:
        """The run's answer: divergent if any case is; parity if all are and none is lacking.

        A file that could not be loaded is lacking, too: what it would have shown is not known.
        """
        verdicts = {case.verdict for case in self.cases}
        if CaseVerdict.DIVERGENT in verdicts:
            return CaseVerdict.DIVERGENT
        whole = verdicts == {CaseVerdict.PARITY} and not self.partial and not self.problems
        return CaseVerdict.PARITY if whole else CaseVerdict.INCONCLUSIVE

    @property
    def slowest(self) -> tuple[tuple[str, float], ...]:
        """The `durations` slowest cases with their milliseconds, the slowest first."""
        found = sorted(self.took_ms.items(), key=lambda pair: (-pair[1], pair[0]))
        return tuple(found[: self.durations])

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What diverges, one for all cases that do so alike; what most cases do comes first."""
        by_name = {case.cassette: case for case in self.cases}
        found = ((each, by_name[each.representative]) for each in clusters(self.cases, self._size))
        return tuple(
            Finding(case=case, cluster=cluster, reproduce=self.reproduce(case))
            for cluster, case in found
        )

    def _size(self, case: CaseResult) -> int:
        """How large a case is to look into: its cassette in bytes, else what differs in it."""
        try:
            return Path(self.files[case.cassette]).stat().st_size
        except (KeyError, OSError, ValueError):
            return len(case.divergences)

    @property
    def behaviours(self) -> tuple[str, ...]:
        """Ids of the contract that the cases of the run declare, sorted."""
        return tuple(sorted({each for case in self.cases for each in case.contract}))

    def file(self, case: CaseResult) -> str | None:
        """The cassette's file, as short as the working directory allows."""
        target = self.files.get(case.cassette)
        if target is None or not Path(target).is_absolute():
            return target
        near = os.path.relpath(target)
        return target if near.startswith(os.pardir) else near

    def reproduce(self, case: CaseResult) -> str:
        """The command that runs this one case again."""
        target = self.file(case)
        where = [target] if target is not None else ["-k", case.cassette]
        sides = ["--control", self.control, "--candidate", self.candidate]
        return shlex.join(["parity", "run", *where, *sides, *self.options])

    def bisecting(self, case: CaseResult) -> Bisecting:
        """How to find the commit that made a red case red."""
        target = self.file(case)
        sides = (self.control, self.candidate)
        named = case.cassette if target is None or self._is_found(target, case) else target
        return bisecting(self.leads, case.cassette, named, sides, self.options)

    def _is_found(self, file: str, case: CaseResult) -> bool:
        """Whether the case's name is enough for a command to find its file."""
        usual = self.leads.corpus
        return bool(usual) and Path(file).resolve().with_suffix("") == Path(usual, case.cassette)


def _most_first(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def exit_code(report: RunReport) -> ExitCode:
    """The exit code of a run."""
    problems = bool(report.problems)
    return ExitCode.of(report.verdict, interrupted=report.interrupted, problems=problems)

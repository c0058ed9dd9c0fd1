"""`GoodCase`: the runs of good runtimes, with which the runs of broken ones are compared.

Good runs of the corpus are kept in a folder that all workers of a measurement share; good runs of
drawn scenarios in memory.
"""

from __future__ import annotations

import hashlib
import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

from harness.baseline.core import known_core_findings
from harness.baseline.files import fitting_observation
from harness.baseline.projected import projected
from harness.cassette.find import CassetteFile
from harness.cassette.format import Cassette
from harness.detection.playing import Seen, play
from harness.detection.reach import all_targets
from harness.experiment.backend import LoadedCassette
from harness.faults.catalogue import CatalogueAt
from harness.parity.compare import compare
from harness.parity.provider import NOT_AT_HAND, CoreFindings
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.parity.waivers import Waivers
from harness.replay.observation import Observation
from harness.whole_file import write_whole
from seeded_faults import Fault, Site

__all__ = ["Corpus", "CorpusCase", "DrawnCase", "GoodCase", "Leg", "leg_of"]

PUBLISHED: Final = "upstream"


class Leg(StrEnum):
    """The comparison that has to find a fault."""

    LEGACY = "legacy"
    """A broken legacy as control against a good adk."""
    ADK = "adk"
    """A good legacy against a broken adk as candidate."""
    PUBLISHED = "published"
    """The published core against a broken legacy: both runtimes are broken alike."""

    @property
    def broken(self) -> str:
        """The runtime that runs broken."""
        return "adk" if self is Leg.ADK else "legacy"


def leg_of(fault: Fault) -> Leg:
    """Return the comparison that has to find `fault`."""
    return {Site.LEGACY: Leg.LEGACY, Site.ADK: Leg.ADK, Site.SERVICE: Leg.PUBLISHED}[fault.site]


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """The cassettes in which to look for faults. Tasks of workers carry it."""

    catalogue: CatalogueAt
    files: tuple[CassetteFile, ...]
    trusted: frozenset[str]
    """Names of the cassettes that may start processes."""
    waivers: Waivers
    kept: Path
    """Folder of the good runs, shared by all workers."""
    baselines: Path | None
    """Folder of the published core's baselines; `None` without any."""


class GoodCase(ABC):
    """One case, run by good runtimes."""

    def __init__(self, cassette: LoadedCassette, waivers: Waivers, noting: tuple[str, ...]) -> None:
        """Runs record which targets of faults, listed in `noting`, they call."""
        self.cassette = cassette
        self._waivers = waivers
        self._noting = noting
        self._at_parity: dict[Leg, bool] = {}

    @abstractmethod
    def run(self, runtime: str) -> Seen:
        """Return a good run of that runtime; repeated calls return the same one."""

    def rerun(self, runtime: str) -> Seen:
        """Return a fresh run of that runtime."""
        return play(self.cassette, runtime)

    @abstractmethod
    def published(self) -> Observation:
        """Return the run of the published core, or its substitute."""

    def at_parity(self, leg: Leg) -> bool:
        """Return whether the good runtimes agree; otherwise the case cannot show a fault."""
        if leg not in self._at_parity:
            good = self.run(leg.broken).observation
            self._at_parity[leg] = self.result(leg, good).verdict is CaseVerdict.PARITY
        return self._at_parity[leg]

    def result(self, leg: Leg, run: Observation) -> CaseResult:
        """Judge a run of the runtime that `leg` breaks, with waivers and projections."""
        if leg is Leg.LEGACY:
            sides = run, self.run("adk").observation
        elif leg is Leg.ADK:
            sides = self.run("legacy").observation, run
        else:
            sides = self.published(), self.comparable(run)
        return compare(*sides, self.facts(), self._waivers, core=self.core(sides))

    def comparable(self, run: Observation) -> Observation:
        """`run` in the form that `published` has."""
        return run

    def core(self, sides: Sequence[Observation]) -> CoreFindings:
        """Return the provider rules that the core breaks, if known and if a side breaks any."""
        return NOT_AT_HAND

    def facts(self) -> LoadedCassette:
        """Return the cassette, with the steps that it expects to stay unused."""
        return self.cassette


class CorpusCase(GoodCase):
    """A cassette of the corpus. A baseline stands for the published core."""

    def __init__(self, cassette: LoadedCassette, file: CassetteFile, corpus: Corpus) -> None:
        super().__init__(cassette, corpus.waivers, all_targets(corpus.catalogue))
        self._file = file
        self._corpus = corpus

    def run(self, runtime: str) -> Seen:
        """Return the run that is kept in the corpus' folder."""
        key = hashlib.sha256(f"{self._file.path.absolute()}\0{runtime}".encode()).hexdigest()[:24]
        file = self._corpus.kept / key
        return _kept(file, lambda: play(self.cassette, runtime, noting=self._noting))

    def published(self) -> Observation:
        """Return the baseline.

        Raises:
            BaselineUnfit: there is none that fits.
            BaselineFormatError: its file cannot be read.
        """
        assert self._corpus.baselines is not None
        stored = fitting_observation(self._corpus.baselines, self._file.name, self._file.path)
        return replace(stored, name=self.cassette.name)

    def comparable(self, run: Observation) -> Observation:
        """`run` as a baseline keeps it."""
        return projected(run)

    def core(self, sides: Sequence[Observation]) -> CoreFindings:
        """Return the findings of the baseline."""
        asked = any(request.provider for seen in sides for request in seen.requests)
        if not asked or self._corpus.baselines is None:
            return NOT_AT_HAND
        return known_core_findings((self._corpus.baselines,), self._file.name, self._file.path)


class DrawnCase(GoodCase):
    """A drawn scenario. Without the published core, an unbroken legacy stands for it."""

    def __init__(
        self,
        cassette: Cassette,
        waivers: Waivers,
        *,
        core: bool,
        noting: tuple[str, ...] = (),
    ) -> None:
        """`core`: whether the published core can be opened."""
        super().__init__(cassette, waivers, noting)
        self._drawn = cassette
        self._core = core
        self._runs: dict[str, Seen] = {}

    def run(self, runtime: str) -> Seen:
        """Return the first run of each runtime."""
        if runtime not in self._runs:
            self._runs[runtime] = play(self.cassette, runtime, noting=self._noting)
        return self._runs[runtime]

    def published(self) -> Observation:
        """Return the core's own run, or legacy's."""
        return self.run(PUBLISHED if self._core else "legacy").observation

    def facts(self) -> LoadedCassette:
        """Return the cassette; a drawn script may leave the same steps unused as a good run."""
        unused = tuple(self.run("legacy").observation.unused_steps)
        return replace(self._drawn, unused=unused)


def _kept(file: Path, make: Callable[[], Seen]) -> Seen:
    """Return the run in `file`, made and written there the first time; workers may race for it."""
    seen = _stored(file)
    if seen is None:
        # Not in an `except` block: the run's own errors would have that error as their context.
        seen = make()
        write_whole(file, pickle.dumps(seen, pickle.HIGHEST_PROTOCOL))
    return seen


def _stored(file: Path) -> Seen | None:
    try:
        with file.open("rb") as stream:
            seen = pickle.load(stream)  # noqa: S301 - written above, in the measurement's folder
    except FileNotFoundError:
        return None
    assert isinstance(seen, Seen)
    return seen

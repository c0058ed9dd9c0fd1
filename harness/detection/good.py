"""What good runtimes do with a case: worked out once, kept, and compared with what broken ones do.

`GoodCase` is what a fault is measured against. Of the corpus its runs are kept in a folder that
all workers share for as long as a measurement lasts; of a drawn scenario in memory.
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
from harness.detection.playing import Seen, play
from harness.experiment.backend import LoadedCassette
from harness.parity.compare import compare
from harness.parity.provider import NOT_AT_HAND, CoreFindings
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.parity.waivers import Waivers
from harness.replay.observation import Observation
from harness.whole_file import write_whole
from seeded_faults import Fault, Site

__all__ = ["CorpusCase", "DrawnCase", "GoodCase", "Leg", "leg_of"]

PUBLISHED: Final = "upstream"


class Leg(StrEnum):
    """Which comparison has to find a fault."""

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
    """Where `fault` has to be found."""
    return {Site.LEGACY: Leg.LEGACY, Site.ADK: Leg.ADK, Site.SERVICE: Leg.PUBLISHED}[fault.site]


class GoodCase(ABC):
    """One case, as good runtimes take it."""

    def __init__(self, cassette: LoadedCassette, waivers: Waivers, noting: tuple[str, ...]) -> None:
        """Take a case that may be run, the waivers in force, and whose calls are to be noted."""
        self.cassette = cassette
        self._waivers = waivers
        self._noting = noting
        self._at_parity: dict[Leg, bool] = {}

    @abstractmethod
    def run(self, runtime: str) -> Seen:
        """What the good runtime of that name does."""

    def rerun(self, runtime: str) -> Seen:
        """What the good runtime of that name does now."""
        return play(self.cassette, runtime)

    @abstractmethod
    def published(self) -> Observation:
        """What the published core does, or what stands for it."""

    def at_parity(self, leg: Leg) -> bool:
        """Whether the good runtimes agree: only then does a finding say something of a fault."""
        if leg not in self._at_parity:
            good = self.run(leg.broken).observation
            self._at_parity[leg] = self.result(leg, good).verdict is CaseVerdict.PARITY
        return self._at_parity[leg]

    def result(self, leg: Leg, run: Observation) -> CaseResult:
        """Judge a run of the runtime that `leg` breaks, waivers and projections in force."""
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
        """What the published core commits of the provider rules, where that is known.

        It matters only where one of the sides commits something.
        """
        return NOT_AT_HAND

    def facts(self) -> LoadedCassette:
        """The cassette, with the steps that are meant to be left over."""
        return self.cassette


class CorpusCase(GoodCase):
    """A cassette of the corpus. The published core's part is its baseline."""

    def __init__(
        self,
        cassette: LoadedCassette,
        waivers: Waivers,
        *,
        name: str,
        file: Path,
        kept: Path,
        baselines: Path | None,
        noting: tuple[str, ...] = (),
    ) -> None:
        """Take a cassette with its file.

        Args:
            cassette: What the file holds.
            waivers: Those in force.
            name: What the path says, by which baselines go.
            file: The cassette's file.
            kept: The folder of good runs, shared between workers.
            baselines: The folder of the published core's baselines; `None` where there is none.
            noting: Targets of faults whose calls are to be noted.
        """
        super().__init__(cassette, waivers, noting)
        self._name = name
        self._file = file
        self._kept = kept
        self._baselines = baselines

    def run(self, runtime: str) -> Seen:
        """The run that was kept, or one that is kept now."""
        key = hashlib.sha256(f"{self._file.absolute()}\0{runtime}".encode()).hexdigest()[:24]
        return _kept(self._kept / key, lambda: play(self.cassette, runtime, noting=self._noting))

    def published(self) -> Observation:
        """The baseline.

        Raises:
            BaselineUnfit: there is none that fits.
            BaselineFormatError: its file cannot be read.
        """
        assert self._baselines is not None
        stored = fitting_observation(self._baselines, self._name, self._file)
        return replace(stored, name=self.cassette.name)

    def comparable(self, run: Observation) -> Observation:
        """As baselines are kept."""
        return projected(run)

    def core(self, sides: Sequence[Observation]) -> CoreFindings:
        """From the baseline."""
        asked = any(request.provider for seen in sides for request in seen.requests)
        if not asked or self._baselines is None:
            return NOT_AT_HAND
        return known_core_findings((self._baselines,), self._name, self._file)


class DrawnCase(GoodCase):
    """A drawn scenario. Without the published core, an unbroken legacy stands for it."""

    def __init__(
        self,
        cassette: LoadedCassette,
        waivers: Waivers,
        *,
        core: bool,
        noting: tuple[str, ...] = (),
    ) -> None:
        """Take a drawn cassette; `core` says whether the published core can be opened."""
        super().__init__(cassette, waivers, noting)
        self._core = core
        self._runs: dict[str, Seen] = {}

    def run(self, runtime: str) -> Seen:
        """The first run of each runtime."""
        if runtime not in self._runs:
            self._runs[runtime] = play(self.cassette, runtime, noting=self._noting)
        return self._runs[runtime]

    def published(self) -> Observation:
        """The core's own run, or legacy's."""
        return self.run(PUBLISHED if self._core else "legacy").observation

    def facts(self) -> LoadedCassette:
        """A drawn script has steps to spare: those that a good run leaves over are meant to be."""
        return _Facts(
            name=self.cassette.name,
            phase=self.cassette.phase,
            unused=tuple(self.run("legacy").observation.unused_steps),
        )


@dataclass(frozen=True, slots=True)
class _Facts:
    name: str
    phase: str | None
    unused: tuple[int, ...]
    contract: tuple[str, ...] = ()


def _kept(file: Path, make: Callable[[], Seen]) -> Seen:
    """The run in `file`, made and written there the first time; workers may race for it.

    The folder is one that this measurement made for itself, so what is in it can be trusted.
    """
    try:
        with file.open("rb") as stream:
            seen = pickle.load(stream)  # noqa: S301 - written below, in a folder of our own
            assert isinstance(seen, Seen)
            return seen
    except FileNotFoundError:
        seen = make()
    write_whole(file, pickle.dumps(seen, pickle.HIGHEST_PROTOCOL))
    return seen

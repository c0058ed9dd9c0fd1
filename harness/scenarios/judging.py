"""Judges a scenario: between which runtimes, with which fault, over a socket or not."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from harness.cassette.problems import FormatProblem
from harness.errors import HarnessError, UnusableSide, in_short
from harness.parity.waivers import Waivers
from harness.replay.confining import confining
from harness.scenarios.byte_level import byte_trial, fits_bytes
from harness.scenarios.trial import Trial, try_document
from runtimes.contract import RuntimeTraits, UnusableRuntime
from runtimes.registry import runtime_traits
from seeded_faults import Fault
from services.wire import JsonObject

__all__ = ["Judging", "fault_named"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """How to judge scenarios. Picklable, for workers."""

    control: str
    candidate: str
    waivers: Waivers
    fault: str | None = None
    """The name of a seeded fault to put in."""
    cuts: int | None = None
    """The seed of the cuts in event streams, for a run over a socket; `None`: no socket."""
    trusted: bool = True
    """Whether the scenario may start processes, connect, and use files elsewhere."""

    def judge(self, document: JsonObject) -> Trial:
        """Run a scenario and compare.

        Raises:
            FormatProblem: the document is no cassette.
        """
        sides = self.control, self.candidate
        if self.cuts is not None:
            return byte_trial(document, self.cuts, *sides, self.waivers)
        return try_document(document, *sides, self.waivers, fault=fault_named(self.fault))

    def judge_or_say(self, document: JsonObject) -> Trial:
        """The same, but errors become an undecided trial, so that no scenario stops the others.

        Raises:
            UnusableSide: a runtime cannot be used at all.
        """
        try:
            return self.judge(document)
        except UnusableRuntime as unusable:
            raise UnusableSide(unusable.problem, unusable.mend) from unusable
        except FormatProblem as problem:
            reason = f"what was drawn is no cassette: {problem}"
        except HarnessError as error:
            reason = str(error)
        except Exception as error:
            logger.debug("the harness failed on %s", document["name"], exc_info=error)
            reason = in_short(error)
        return Trial.undecided(document, reason)

    def judge_if_fit(self, document: JsonObject) -> Trial | None:
        """The same for shrinking: `None` if the document is no cassette, or does not fit bytes."""
        try:
            if self.cuts is not None and not fits_bytes(document):
                return None
            return self.judge(document)
        except FormatProblem:
            return None

    def judge_under(self, root: Path, document: JsonObject) -> Trial | None:
        """The same for a cassette under `root`, whose files it may name."""
        fault = fault_named(self.fault)
        try:
            with confining(not self.trusted):
                return try_document(
                    document, self.control, self.candidate, self.waivers, fault=fault, root=root
                )
        except FormatProblem:
            return None

    def can_run_over_bytes(self, document: JsonObject) -> bool:
        """Whether the scenario can run over a socket: never with a fault in force."""
        if self.fault is not None or not any(map(_asks_our_client, (self.control, self.candidate))):
            return False
        try:
            return fits_bytes(document)
        except FormatProblem:
            return False


def fault_named(name: str | None) -> Fault | None:
    """The seeded fault of that name.

    Raises:
        KeyError: there is none.
    """
    if name is None:
        return None
    from harness.faults.catalogue import faults  # slow, and most runs need no fault

    return faults()[name]


def _asks_our_client(runtime: str) -> bool:
    return runtime_traits(runtime).words == RuntimeTraits().words

"""Shrinks one finding of a generated run, as a task for a worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.errors import HarnessError, in_short
from harness.parity.verdict import CaseResult
from harness.scenarios.between import profile_between
from harness.scenarios.judging import Judging
from harness.scenarios.shrinking import shrink, tidied
from services.clock import SystemClock
from services.wire import JsonObject

__all__ = ["ShrinkTask", "Smaller", "run_shrink"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShrinkTask:
    """A finding to shrink."""

    document: JsonObject
    fingerprint: str
    choices: tuple[int, ...]
    profile: str
    weights: Mapping[str, Mapping[str, int]] | None = None
    """Weights in place of the profile's own."""
    how: Judging
    time_s: float
    """The seconds that it may take."""

    @property
    def name(self) -> str:
        """For messages about a worker that died."""
        return self.fingerprint


@dataclass(frozen=True, slots=True, kw_only=True)
class Smaller:
    """The outcome. Without a document, `words` says why it was not shrunk."""

    words: str
    document: JsonObject | None = None
    result: CaseResult | None = None


def run_shrink(task: ShrinkTask) -> Smaller:
    """Shrink one finding until the time is up."""
    clock = SystemClock()
    end_ms = clock.now_ms() + task.time_s * 1000
    try:
        shrunk = shrink(
            task.document,
            task.how.judge_if_fit,
            fingerprint=task.fingerprint,
            enough=lambda: clock.now_ms() >= end_ms,
            choices=task.choices,
            profile=profile_between(
                task.profile, task.how.control, task.how.candidate, task.weights
            ),
        )
    except HarnessError as error:
        return Smaller(words=f"not shrunk: {error}")
    except Exception as error:  # noqa: BLE001 - whatever fails, the finding as found stays
        return Smaller(words=f"not shrunk: {in_short(error)}")
    before, after = _answers(task.document), _answers(shrunk.document)
    words = f"shrunk from {before} to {after} model steps in {shrunk.tries} tries"
    if not shrunk.finished:
        words += "; time was up, `parity shrink` goes on"
    if shrunk.flaky:
        words += "; it came and went meanwhile"
    return Smaller(words=words, document=tidied(shrunk.document), result=shrunk.trial.result)


def _answers(document: JsonObject) -> int:
    steps = document.get("model")
    return len(steps) if isinstance(steps, list) else 0

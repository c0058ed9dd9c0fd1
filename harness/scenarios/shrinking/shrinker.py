"""`shrink`: finds the smallest scenario that still shows one finding.

Candidates come from Hypothesis over the drawn numbers, if they are known, then from the domain
passes over the document, until no pass finds anything. A candidate is kept if it is a cassette,
shows the same finding, and has no new provider error and no more requests without a step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from harness.errors import HarnessError
from harness.scenarios.profiles import Profile
from harness.scenarios.shrinking.descents import Pass
from harness.scenarios.shrinking.journal import ShrinkJournal
from harness.scenarios.shrinking.numbers import shrink_numbers
from harness.scenarios.shrinking.passes import PASSES, unrolled
from harness.scenarios.shrinking.sizes import DocumentSize, content_digest, size_of
from harness.scenarios.trial import Trial
from services.wire import JsonObject

__all__ = ["FindingLost", "Judge", "Progress", "Shrunk", "shrink", "tidied"]

Judge = Callable[[JsonObject], Trial | None]
"""Runs a document and compares; `None` if it is no cassette."""

_FIRST_LOOKS: Final = 3
_NUMBERS: Final = "drawn numbers"
_BY_NUMBERS: Final = 40
"""Tries of Hypothesis, which makes most progress early."""
_UNSURE: Final = 5
"""Kept steps after which the last is run again."""
_IN_VAIN: Final = 10
"""Tries of Hypothesis without a smaller scenario, after which the passes begin."""


class FindingLost(HarnessError):
    """The scenario does not show the finding."""

    exit_code = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The state after a try."""

    stage: str
    """The name of the pass."""
    tries: int
    size: DocumentSize
    best: Trial
    """The smallest that has shown the finding twice, or the start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """The outcome of a shrinking."""

    document: JsonObject
    """The smallest scenario found."""
    trial: Trial
    """Its run."""
    tries: int
    """How many candidates were run."""
    steps: int
    """How many of them were kept."""
    finished: bool
    """Whether no pass finds anything smaller; false if `enough` ended it."""
    flaky: bool
    """Whether one scenario showed the finding and then did not."""


def shrink(
    document: JsonObject,
    judge: Judge,
    *,
    fingerprint: str,
    enough: Callable[[], bool],
    choices: Sequence[int] | None = None,
    profile: Profile | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    tried: set[str] | ShrinkJournal | None = None,
    passes: Sequence[Pass] = PASSES,
) -> Shrunk:
    """Make `document` as small as possible while it shows `fingerprint`.

    Args:
        document: The cassette.
        judge: Runs a candidate.
        fingerprint: The finding: see `Trial.fingerprint`.
        enough: Whether the time is up; called before each try.
        choices: The numbers that it was drawn from, if it was drawn.
        profile: The profile that it was drawn from.
        on_progress: Called after each try, and once before the first.
        tried: Digests of refused scenarios; grows.
        passes: The domain passes.

    Raises:
        FindingLost: the document does not show the finding.
        KeyboardInterrupt: from the user; the last progress has the best so far.
    """
    work = _Work(judge, fingerprint, enough, on_progress, set() if tried is None else tried)
    work.begin(document)
    finished = True
    try:
        if choices is not None and profile is not None:
            work.by_numbers(choices, profile)
        work.by_passes(passes)
    except _TimeIsUp:
        finished = False
        work.settle()
    return Shrunk(
        document=tidied(work.best.document),
        trial=work.best,
        tries=work.tries,
        steps=work.steps,
        finished=finished,
        flaky=work.flaky,
    )


class _TimeIsUp(BaseException):
    """Ends the tries. No `Exception`, so that it passes through Hypothesis."""


class _Work:
    """The best scenario so far, and the tried ones.

    A kept scenario runs once; only the last of a few steps runs again (`settle`). So a steady
    finding costs little more, and a flaky one is caught.
    """

    best: Trial
    """It has shown the finding twice, or is the start."""

    def __init__(
        self,
        judge: Judge,
        fingerprint: str,
        enough: Callable[[], bool],
        on_progress: Callable[[Progress], None] | None,
        tried: set[str] | ShrinkJournal,
    ) -> None:
        self._judge = judge
        self._fingerprint = fingerprint
        self._enough = enough
        self._on_progress = on_progress
        self._tried = tried
        self._start: Trial | None = None
        self._kept: list[Trial] = []
        self._shown: set[str] = set()
        self.tries = 0
        self.steps = 0
        self.flaky = False

    def begin(self, document: JsonObject) -> None:
        """Check that the document shows the finding."""
        trial: Trial | None = None
        for _ in range(_FIRST_LOOKS):
            trial = self._judge(document)
            if trial is not None and trial.fingerprint == self._fingerprint:
                self.best = trial
                self._shown.add(content_digest(document))
                self._start = trial
                self._report("the start")
                return
            self.flaky = True
        shown = "it is no cassette" if trial is None else f"shows {trial.fingerprint or 'parity'}"
        raise FindingLost(f"{document.get('name')}: {shown}, not {self._fingerprint}")

    def by_numbers(self, choices: Sequence[int], profile: Profile) -> None:
        """Let Hypothesis make the drawn numbers smaller."""
        last, since = self.tries + _BY_NUMBERS, self.tries
        smallest = size_of(self._now.document).bytes

        def wanted(document: JsonObject) -> bool:
            nonlocal since, smallest
            if self.tries >= last or self.tries >= since + _IN_VAIN:
                raise _Handover
            shows = content_digest(document) in self._shown or self._keeps(document, _NUMBERS)
            if shows and (size := size_of(self._now.document).bytes) < smallest:
                since, smallest = self.tries, size
            return shows

        with suppress(_Handover):
            shrink_numbers(profile, choices, wanted)
        self.settle()

    def settle(self) -> None:
        """Run the kept scenarios again, the last first; one that shows the finding is the best."""
        while self._kept:
            trial = self._seen(_bare(self._kept.pop().document))
            if trial is not None:
                self.best = trial
                self._kept.clear()
                return
            self.flaky = True

    @property
    def _now(self) -> Trial:
        """The smallest, which has run once or twice."""
        return self._kept[-1] if self._kept else self.best

    def by_passes(self, passes: Sequence[Pass]) -> None:
        """Repeat the passes until a whole round finds nothing."""
        flat = unrolled(self.best.document)
        if flat != self.best.document:
            self._keeps(flat, "macros written out")
            self.settle()
        before: Trial | None = None
        while before is not self.best:
            before = self.best
            for each in passes:
                self._descend(each)

    def _descend(self, each: Pass) -> None:
        descent = each.descend(self.best.document)
        try:
            candidate = next(descent)
            while True:
                candidate = descent.send(self._keeps(candidate, each.name))
        except StopIteration:
            self.settle()

    def _keeps(self, candidate: JsonObject, stage: str) -> bool:
        """Try a candidate; returns whether it is kept."""
        bare = _bare(candidate)
        digest = content_digest(bare)
        if digest in self._tried or digest in self._shown:
            return False
        if self._enough():
            raise _TimeIsUp
        self.tries += 1
        trial = self._seen(bare)
        if trial is None:
            self._tried.add(digest)
        else:
            self._kept.append(trial)
            self._shown.add(digest)
            self.steps += 1
        if len(self._kept) >= _UNSURE:
            self.settle()
        self._report(stage)
        return trial is not None

    def _seen(self, document: JsonObject) -> Trial | None:
        trial, start = self._judge(document), self._start
        if trial is None or start is None or trial.fingerprint != self._fingerprint:
            return None
        worse = not trial.provider_errors <= start.provider_errors or trial.misses > start.misses
        return None if worse else trial

    def _report(self, stage: str) -> None:
        if self._on_progress is not None:
            size = size_of(self._now.document)
            self._on_progress(Progress(stage=stage, tries=self.tries, size=size, best=self.best))


class _Handover(BaseException):
    """Ends the tries of Hypothesis."""


def tidied(document: JsonObject) -> JsonObject:
    """`document` without an empty `unused`."""
    return document if document.get("unused") else _bare(document)


def _bare(document: JsonObject) -> JsonObject:
    """Without `unused`, which counts steps that may be gone; each run declares it anew."""
    return {key: value for key, value in document.items() if key != "unused"}

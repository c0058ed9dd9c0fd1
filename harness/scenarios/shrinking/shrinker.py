"""`shrink`: the smallest scenario that still shows one finding.

Candidates come from two sources: Hypothesis over the drawn numbers, where these are known, then
the domain passes over the document, again and again until none of them finds anything. A candidate
is kept if it is a cassette and shows the same finding, and if its conversation is as good as the
first one's: no new provider error, no more requests that the model has no answer for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Protocol

from harness.errors import HarnessError
from harness.scenarios.profiles import Profile
from harness.scenarios.shrinking.descents import Pass
from harness.scenarios.shrinking.numbers import shrink_numbers
from harness.scenarios.shrinking.passes import PASSES, unrolled
from harness.scenarios.shrinking.sizes import DocumentSize, content_digest, size_of
from harness.scenarios.trial import Trial
from services.wire import JsonObject

__all__ = ["FindingLost", "Judge", "Progress", "Shrunk", "Tried", "shrink", "tidied"]

Judge = Callable[[JsonObject], Trial | None]
"""Runs a document and compares; `None` where it is no cassette."""

_FIRST_LOOKS: Final = 3
_NUMBERS: Final = "drawn numbers"
_BY_NUMBERS: Final = 40
"""Tries that Hypothesis is given: what it finds comes early, and the passes go on from there."""
_UNSURE: Final = 5
"""So many steps are looked at once; then the last of them is looked at again."""
_IN_VAIN: Final = 10
"""Tries of these without a smaller scenario, after which it is polishing numbers."""


class FindingLost(HarnessError):
    """The scenario does not show the finding that it was to be shrunk for."""

    exit_code = 3


class Tried(Protocol):
    """Scenarios that were tried and refused, by `content_digest`: a set, or a file behind one."""

    def __contains__(self, digest: object, /) -> bool:
        """Whether it was."""
        ...

    def add(self, digest: str, /) -> None:
        """It was, just now."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far it has come: handed out after each try."""

    stage: str
    """What is being tried, in words."""
    tries: int
    steps: int
    size: DocumentSize
    best: Trial
    """The smallest that was seen to show the finding twice, or what it began with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """What came of it."""

    document: JsonObject
    """The smallest found; handed in again, it is gone on from."""
    trial: Trial
    """What it did."""
    tries: int
    """Candidates that were run."""
    steps: int
    """Of these, kept."""
    finished: bool
    """No pass finds anything smaller; false where `enough` ended it."""
    flaky: bool
    """The finding was seen to come and go for one and the same scenario."""


def shrink(
    document: JsonObject,
    judge: Judge,
    *,
    fingerprint: str,
    enough: Callable[[], bool],
    choices: Sequence[int] | None = None,
    profile: Profile | None = None,
    told: Callable[[Progress], None] | None = None,
    tried: Tried | None = None,
    passes: Sequence[Pass] = PASSES,
) -> Shrunk:
    """Make `document` as small as it can be while it shows `fingerprint`.

    Args:
        document: The cassette, as its file holds it.
        judge: Runs a candidate.
        fingerprint: What is to be kept: see `Trial.fingerprint`.
        enough: Whether time is up; asked before each try.
        choices: The numbers that it was drawn from, if it was drawn.
        profile: The profile that it was drawn from.
        told: Called after each try, and once before the first.
        tried: What was refused before; grows.
        passes: The domain passes.

    Raises:
        FindingLost: the document shows something else, or nothing.
        KeyboardInterrupt: the user's; what was told last is the best so far.
    """
    work = _Work(judge, fingerprint, enough, told, set() if tried is None else tried)
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
    """No more tries. No `Exception`, so that it comes through Hypothesis."""


class _Work:
    """The best so far, and what was tried to get there.

    What is kept is looked at once; only the last of a few steps is looked at again (`settle`). So
    a steady finding costs hardly more, and one that comes and goes is caught.
    """

    best: Trial
    """Seen twice, or what it began with."""

    def __init__(
        self,
        judge: Judge,
        fingerprint: str,
        enough: Callable[[], bool],
        told: Callable[[Progress], None] | None,
        tried: Tried,
    ) -> None:
        self._judge = judge
        self._fingerprint = fingerprint
        self._enough = enough
        self._told = told
        self._tried = tried
        self._start: Trial | None = None
        self._kept: list[Trial] = []
        self._shown: set[str] = set()
        self.tries = 0
        self.steps = 0
        self.flaky = False

    def begin(self, document: JsonObject) -> None:
        """Make sure that there is something to shrink."""
        trial: Trial | None = None
        for _ in range(_FIRST_LOOKS):
            trial = self._judge(document)
            if trial is not None and trial.fingerprint == self._fingerprint:
                self.best = trial
                self._shown.add(content_digest(document))
                self._start = trial
                self._tell("the start")
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
        """Look again at what was kept, the last first; what shows it once more is the best."""
        while self._kept:
            trial = self._seen(_bare(self._kept.pop().document))
            if trial is not None:
                self.best = trial
                self._kept.clear()
                return
            self.flaky = True

    @property
    def _now(self) -> Trial:
        """The smallest, looked at once or twice."""
        return self._kept[-1] if self._kept else self.best

    def by_passes(self, passes: Sequence[Pass]) -> None:
        """Go through the passes until a whole round has found nothing."""
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
        """Try a candidate; whether it is what is gone on from now."""
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
        self._tell(stage)
        return trial is not None

    def _seen(self, document: JsonObject) -> Trial | None:
        trial, start = self._judge(document), self._start
        if trial is None or start is None or trial.fingerprint != self._fingerprint:
            return None
        worse = not trial.provider_errors <= start.provider_errors or trial.misses > start.misses
        return None if worse else trial

    def _tell(self, stage: str) -> None:
        if self._told is not None:
            size = size_of(self._now.document)
            self._told(
                Progress(stage=stage, tries=self.tries, steps=self.steps, size=size, best=self.best)
            )


class _Handover(BaseException):
    """Hypothesis has had its share of tries."""


def tidied(document: JsonObject) -> JsonObject:
    """`document` without an empty `unused`."""
    return document if document.get("unused") else _bare(document)


def _bare(document: JsonObject) -> JsonObject:
    """Without `unused`, which counts steps that may be gone: who runs it declares it anew."""
    return {key: value for key, value in document.items() if key != "unused"}

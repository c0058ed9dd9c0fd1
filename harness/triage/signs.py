"""Why a case could not be decided, and whose problem that is.

A table recognises the reason by words in the case's sentences (`CaseResult.blockers`, `.doubts`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from harness.parity.verdict import CaseResult

__all__ = ["SIGNS", "UNTRUSTED", "Sign", "Whose", "sign_of"]


class Whose(StrEnum):
    """Whose problem it is."""

    RUNTIME = "runtime"
    CASSETTE = "cassette"
    BASELINE = "upstream baseline"
    DEPENDENCY = "dependency"
    MACHINE = "machine"
    UNKNOWN = "unknown"
    """The run's results do not show it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """One reason why cases stay undecided."""

    whose: Whose
    says: str
    """Continues `1 case` and `3 cases` alike: `died with the worker process`."""
    words: re.Pattern[str]
    """Found in the sentences of a case with this reason."""
    sure: bool = False
    """There is no other explanation."""


def _sign(whose: Whose, words: str, says: str, *, sure: bool = False) -> Sign:
    return Sign(whose=whose, says=says, words=re.compile(words), sure=sure)


UNTRUSTED: Final = _sign(
    Whose.CASSETTE,
    r"; give --trust if you trust (it|the cassette)$",
    "not run, as the cassette starts processes and is not trusted (--trust)",
    sure=True,
)
"""The cassette would have to be trusted."""

SIGNS: Final[Sequence[Sign]] = (
    _sign(
        Whose.MACHINE,
        r"No space left on device|Disk quota exceeded",
        "failed on a full disk",
        sure=True,
    ),
    _sign(
        Whose.MACHINE,
        r"Too many open files|Cannot allocate memory|MemoryError|Resource temporarily unavailable",
        "exceeded a limit of the machine (files, memory or processes)",
        sure=True,
    ),
    _sign(
        Whose.MACHINE,
        r"its worker process died",
        "died with the worker process: killed, or out of memory",
    ),
    _sign(
        Whose.CASSETTE,
        r"^stopped: (it used more than|its memory grew by)",
        "used more CPU time or memory than one case may (--limits)",
    ),
    _sign(
        Whose.MACHINE,
        r"^stopped: it took longer than",
        "took longer than one case may (--limits): the machine is slow, or a runtime hangs",
    ),
    _sign(
        Whose.MACHINE,
        r"could not go on by itself: the run passed its deadline",
        "passed the deadline of a run: the machine is slow, or a runtime hangs",
    ),
    _sign(
        Whose.MACHINE,
        r"the published core \S+ is not installed|the published core needs "
        r"|install node \d+ or newer|there is no npm",
        "needed node or the published core, which this machine lacks",
        sure=True,
    ),
    _sign(
        Whose.MACHINE,
        r"differs from itself from run to run at",
        "differed from run to run in the control: noise hides other differences",
    ),
    _sign(
        Whose.BASELINE,
        r"the baseline of .* is of another version of this cassette",
        "had a baseline of another version of the cassette",
        sure=True,
    ),
    _sign(Whose.BASELINE, r"\bno baseline of ", "had no baseline", sure=True),
    UNTRUSTED,
    _sign(
        Whose.CASSETTE,
        r"^neither side (asked for|requested) model\[",
        "had model steps in the cassette that neither side requested",
    ),
    _sign(
        Whose.CASSETTE,
        r" and \S+ could not go on by itself: ",
        "stalled on both sides: the script waits for an event that does not occur",
    ),
    _sign(
        Whose.CASSETTE,
        r"not supported by this build",
        "needed a feature that this build lacks",
        sure=True,
    ),
    _sign(Whose.RUNTIME, r"could not go on by itself: ", "stalled on one side"),
    _sign(
        Whose.RUNTIME,
        r"^\S+( and \S+)? (broke|got nowhere): ",
        "failed before the comparison",
    ),
)
"""The first row that matches is the reason."""

_UNKNOWN: Final = _sign(Whose.UNKNOWN, "", "could not be decided, for an unknown reason")


def sign_of(case: CaseResult) -> Sign:
    """The reason of an inconclusive case."""
    sentences = case.blockers or case.doubts
    for sign in SIGNS:
        if any(sign.words.search(text) for text in sentences):
            return sign
    return _UNKNOWN

"""The first cause of a result, with the evidence for it."""

from __future__ import annotations

from typing import Final

from harness.parity.causes import first_cause_at
from harness.parity.evidence import Evidence
from harness.parity.verdict import CaseResult
from harness.timeline.model import Timelines, unpack

__all__ = ["cause_of"]

_NOTHING: Final = Timelines(rows=())


def cause_of(result: CaseResult) -> Evidence | None:
    """The first cause with all that is known about it; `None` where nothing is open."""
    timelines = _unpacked(result)
    open_ = (each for each in enumerate(result.divergences) if each[0] not in result.waived)
    index = first_cause_at(open_, timelines.causes)
    return None if index is None else Evidence(result, timelines, index)


def _unpacked(result: CaseResult) -> Timelines:
    """A journal is untrusted: timelines that are none leave the explanation without them."""
    if not result.timelines:
        return _NOTHING
    try:
        timelines = unpack(result.timelines)
    except ValueError:
        return _NOTHING
    known = len(result.divergences)
    named = (index for row in timelines.rows for index in row.divergences)
    fits = all(index < known for index in (*named, *timelines.causes))
    return timelines if fits else _NOTHING

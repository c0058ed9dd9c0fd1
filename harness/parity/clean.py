"""Masks the secrets in a result."""

from __future__ import annotations

from dataclasses import replace

from harness.parity.verdict import CaseResult
from harness.timeline.model import Timelines, pack, unpack
from services.redaction import redacted_value

__all__ = ["clean_result"]


def clean_result(result: CaseResult, *, fresh: bool = False) -> CaseResult:
    """`result` with masks for secrets, also in its packed timelines; itself without any.

    A `fresh` result comes from a worker, which has cleaned its timelines. Its texts are searched
    again, since waivers may have been added.
    """
    document = {**result.to_json(), "timelines": ""}
    cleaned = redacted_value(document)
    timelines = result.timelines if fresh else _clean_timelines(result.timelines)
    if cleaned is document and timelines is result.timelines:
        return result
    if cleaned is not document:
        result = CaseResult.from_json(cleaned)
    return replace(result, timelines=timelines)


def _clean_timelines(packed: str) -> str:
    if not packed:
        return packed
    try:
        document = unpack(packed).to_json()
    except ValueError:  # from an untrusted journal: no reader can unpack them either
        return packed
    cleaned = redacted_value(document)
    return packed if cleaned is document else pack(Timelines.from_json(cleaned))

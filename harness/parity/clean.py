"""A result without secrets, wherever it comes from."""

from __future__ import annotations

from dataclasses import replace

from harness.parity.verdict import CaseResult
from harness.timeline.model import Timelines, pack, unpack
from services.redaction import redacted_value

__all__ = ["clean_result"]


def clean_result(result: CaseResult, *, fresh: bool = False) -> CaseResult:
    """`result` with masks for secrets, in its packed timelines too; itself where there is none.

    Args:
        result: What is cleaned.
        fresh: It comes from a worker of this process, which has cleaned it. Its packed timelines
            stay as they are; its texts are read again, as waivers may have been added to them.
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
    except ValueError:  # a journal is untrusted, and nobody can look into them
        return packed
    cleaned = redacted_value(document)
    return packed if cleaned is document else pack(Timelines.from_json(cleaned))

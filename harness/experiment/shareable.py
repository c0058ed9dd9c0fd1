"""Removes secrets from a case's result in the worker, after the whole runs were compared.

Results go into journals, reports and signed records. There a chunk of a stream stands alone, and
half a key is not recognised as a secret. So the worker looks for secrets in the whole texts of the
runs, and describes the differences from runs without secrets.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from harness.baseline.document import from_document, to_document
from harness.canonical import canonical
from harness.parity.clean import clean_result
from harness.parity.divergence import ABSENT, Divergence
from harness.parity.verdict import CaseResult
from harness.replay.observation import Observation
from services.redaction import masked, redacted, redacted_value
from services.wire import Json, JsonObject

__all__ = ["compared_without_secrets", "without_secrets"]

Compare: TypeAlias = Callable[[Sequence[Observation], Sequence[Observation]], CaseResult]


def compared_without_secrets(
    compare: Compare, controls: Sequence[Observation], candidates: Sequence[Observation]
) -> CaseResult:
    """Return the result of `compare` without the secrets of the runs.

    Verdict and digests come from the unchanged runs, where two keys of equal length differ.
    """
    result = compare(controls, candidates)
    if result.divergences or result.blockers:
        cleaned = {id(seen): without_secrets(seen) for seen in (*controls, *candidates)}
        if any(seen is not cleaned[id(seen)] for seen in (*controls, *candidates)):
            cleaned_result = compare(
                [cleaned[id(seen)] for seen in controls],
                [cleaned[id(seen)] for seen in candidates],
            )
            result = _described_as(result, cleaned_result)
    return clean_result(result)


def without_secrets(seen: Observation) -> Observation:
    """Return `seen` with its paths replaced and secrets masked; `seen` itself without secrets."""
    document: JsonObject = json.loads(seen.paths.mask_json(canonical(to_document(seen))))
    cleaned = redacted_value(document)
    if cleaned is document:
        return seen
    kept = from_document(cleaned, name=seen.name, runtime=seen.runtime, versions=seen.versions)
    return replace(
        kept,
        words=seen.words,
        order=seen.order,
        times=seen.times,
        hooks=seen.hooks,
        raced=seen.raced,
        broken=seen.broken,
        deadline_passed=seen.deadline_passed,
    )


def _described_as(result: CaseResult, cleaned: CaseResult) -> CaseResult:
    """Return `result` with its descriptions taken from `cleaned`."""
    if [_where(each) for each in result.divergences] == [
        _where(each) for each in cleaned.divergences
    ]:
        return replace(result, divergences=cleaned.divergences, timelines=cleaned.timelines)
    # Values that differ only in a secret stay a divergence, with the values masked.
    known = {_where(each): each for each in cleaned.divergences}
    divergences = tuple(known.get(_where(each)) or _masked(each) for each in result.divergences)
    return replace(result, divergences=divergences, timelines="")


def _where(found: Divergence) -> tuple[Any, ...]:
    texts = (redacted(found.label), redacted(found.path))
    return (found.channel, found.kind, found.control_index, found.candidate_index, *texts)


def _masked(found: Divergence) -> Divergence:
    return replace(
        found, control=_all_masked(found.control), candidate=_all_masked(found.candidate)
    )


def _all_masked(value: Json) -> Json:
    if isinstance(value, str):
        return value if value == ABSENT else masked(value)
    if isinstance(value, list):
        return [_all_masked(item) for item in value]
    if isinstance(value, dict):
        return {key: _all_masked(item) for key, item in value.items()}
    return value

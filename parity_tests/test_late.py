"""Faults that nothing but times shows: found with times, and parity without."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.explain import first_cause
from harness.faults.catalogue import faults
from harness.faults.force import in_force
from harness.parity.compare import compare
from harness.parity.times import is_time
from harness.parity.verdict import CaseVerdict
from harness.replay.runner import run_cassette
from parity_tests.corpus import WAIVERS, cassette


@pytest.mark.parametrize(
    ("name", "fault", "path"),
    [
        ("invalid_stream/invalid_no_finish_then_ok", "retry-announced-after-wait", "atMs"),
        ("invalid_stream/invalid_no_finish_then_ok", "retry-announced-when-it-begins", "atMs"),
        ("hooks/allow_is_no_permission", "after-agent-delayed", "timestamp"),
    ],
)
def test_a_late_report_is_found_by_its_time_alone(name: str, fault: str, path: str) -> None:
    one = cassette(name)
    with in_force(faults()[fault], "legacy"):
        legacy = run_cassette(one, "legacy")
    with in_force(faults()[fault], "adk"):
        adk = run_cassette(one, "adk")

    found = compare(legacy, adk, one, WAIVERS)
    cause = first_cause(found)

    assert found.verdict is CaseVerdict.DIVERGENT
    assert all(map(is_time, found.divergences))
    assert cause is not None
    assert cause.path == path
    timeless = compare(replace(legacy, times={}), adk, one, WAIVERS)
    assert timeless.verdict is CaseVerdict.PARITY


def test_a_hook_is_observed_when_it_starts() -> None:
    seen = run_cassette(cassette("hooks/allow_is_no_permission"), "legacy")

    assert seen.hooks
    assert all(run.at_ms >= 0 for run in seen.hooks)

"""The progress of calls in a baseline."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.baseline.files import Baseline, BaselineFormatError, baseline_text, parse_baseline
from harness.parity.compare import compare_observations
from harness.replay.observation import Observation
from harness.replay.trace import trace_json
from harness.triage.traces import parse_trace
from tests.harness.samples import observation

NAME, DIGEST = "tools/read", "a" * 64


def seen(progress: Any) -> Observation:
    return replace(observation(), progress=progress)


def kept(run: Observation) -> Observation:
    text = baseline_text(Baseline.of(run, NAME, DIGEST))
    return parse_baseline(text, Path("b.json"), NAME).observation


def test_what_calls_showed_is_kept_and_agrees_with_the_run() -> None:
    run = seen({"c": [{"process": 4242}, {"output": "in /tmp/run-a/ws"}]})

    stored = kept(run)

    assert stored.progress == {"c": [{"process": 4242}, {"output": "in <WS>"}]}
    assert compare_observations(stored, kept(run)).divergences == ()


@pytest.mark.parametrize("progress", [None, {}])
def test_no_progress_differs_from_progress_that_was_not_observed(progress: Any) -> None:
    run = seen(progress)

    assert kept(run).progress == progress
    assert parse_trace(trace_json(run), "t.json").progress == progress


def test_a_trace_has_the_progress() -> None:
    run = seen({"c": [{"output": "a"}]})

    assert parse_trace(trace_json(run), "t.json").progress == run.progress


@pytest.mark.parametrize("wrong", [[], {"c": {}}, {"c": ["text"]}])
def test_progress_of_a_wrong_type_is_refused(wrong: Any) -> None:
    document = json.loads(baseline_text(Baseline.of(seen({}), NAME, DIGEST)))
    document["observation"]["progress"] = wrong

    with pytest.raises(BaselineFormatError, match=r"progress.*must be|progress.*valid"):
        parse_baseline(json.dumps(document), Path("b.json"), NAME)

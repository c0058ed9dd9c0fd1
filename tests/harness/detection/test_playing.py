"""The digest of a run, which shows whether a fault or mutant changed the run."""

from dataclasses import replace
from pathlib import Path

import pytest

import harness.detection.playing as playing
from harness.cassette.format import Cassette
from harness.cassette.load import build_cassette
from harness.detection.playing import play
from harness.replay.observation import HookRun, Observation
from harness.replay.runner import run_cassette


def cassette() -> Cassette:
    document = {
        "cassette": 1,
        "name": "family/case",
        "session": {"model": "gemini-2.5-flash"},
        "script": [{"send": "x"}],
        "model": [{"text": "hi"}],
    }
    return build_cassette(document, Path("/corpus/family/case.yaml"), Path("/corpus"))


def test_a_run_that_differs_in_a_time_alone_has_another_digest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = run_cassette(cassette(), "legacy")
    place = next(iter(seen.times))
    late = replace(seen, times={**seen.times, place: seen.times[place] + 1})
    late_hook = replace(seen, hooks=[HookRun(event="Stop", hook="h", at_ms=1)])

    def digest_of(found: Observation) -> str:
        monkeypatch.setattr(playing, "run_cassette", lambda *_, **__: found)
        return play(cassette(), "legacy").digest

    digests = [digest_of(seen), digest_of(seen), digest_of(late), digest_of(late_hook)]

    assert digests[0] == digests[1]
    assert len(set(digests)) == 3

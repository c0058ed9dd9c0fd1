from dataclasses import replace

from benchmarks.report import broken
from harness.parity.compare import compare_repeated
from harness.parity.verdict import CaseVerdict
from tests.harness.samples import Facts, observation


def test_a_run_that_was_tampered_with_diverges_from_the_one_it_was() -> None:
    control, candidate = observation("legacy"), observation("adk")

    assert compare_repeated([control], [candidate], Facts()).verdict is CaseVerdict.PARITY
    found = compare_repeated([control], [broken(candidate)], Facts())
    assert found.verdict is CaseVerdict.DIVERGENT
    assert {each.channel.value for each in found.divergences} == {"events", "transcript"}


def test_short_texts_and_everything_else_stay_as_they_are() -> None:
    seen = replace(observation(), events=[{"type": "message", "text": "ok", "id": "long enough"}])

    assert list(broken(seen).events) == list(seen.events)

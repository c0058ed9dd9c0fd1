"""What real runs look like as baselines: the families of the corpus, a few cassettes each."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.baseline.files import Baseline, baseline_text, parse_baseline
from harness.baseline.projected import projected
from harness.cassette.find import CassetteFile, find_cassettes
from harness.experiment.backend import real_backend
from harness.parity.compare import compare_observations, observation_digest
from harness.replay.observation import Observation

ROOT = Path(__file__).parents[3] / "cassettes"
DIGEST = "ab" * 32


def _chosen() -> list[CassetteFile]:
    """Two of each family, and of the recorded HTTP traffic."""
    families: dict[Path, list[CassetteFile]] = {}
    for file in find_cassettes([ROOT, ROOT / "http"]):
        families.setdefault(file.path.parent, []).append(file)
    return [file for family in families.values() for file in (family[0], family[-1])]


CHOSEN = _chosen()


def observed(file: CassetteFile, runtime: str = "legacy") -> Observation:
    backend = real_backend()
    return backend.run(backend.load(file.path, file.root), runtime)


def test_a_dozen_cassettes_are_tried() -> None:
    assert len(CHOSEN) >= 12


@pytest.mark.parametrize("file", CHOSEN, ids=[file.name for file in CHOSEN])
@pytest.mark.sampled(6)
def test_a_baseline_is_parity_with_a_fresh_run(file: CassetteFile) -> None:
    text = baseline_text(Baseline.of(observed(file), file.name, DIGEST))
    stored = parse_baseline(text, Path("b.json"), file.name)
    again = observed(file)

    compared = compare_observations(stored.observation, projected(again))

    assert compared.divergences == ()
    assert compared.digests[0] == compared.digests[1]
    assert baseline_text(Baseline.of(again, file.name, DIGEST)) == text
    assert str(ROOT.parent) not in text
    assert observation_digest(stored.observation) != observation_digest(again)


def test_a_real_environment_text_that_changed_is_a_divergence() -> None:
    seen = projected(observed(CHOSEN[0]))
    first = seen.requests[0].new_contents[0]
    assert first["parts"][0]["text"].startswith("<session_context> sha256:")
    raw = observed(CHOSEN[0])
    text = raw.transcript[0]["parts"][0]["text"]
    changed = {**raw.transcript[0], "parts": [{"text": f"{text} and more"}]}
    changed["parts"] += raw.transcript[0]["parts"][1:]
    other = projected(replace(raw, transcript=[changed, *raw.transcript[1:]]))

    found = compare_observations(seen, other).divergences

    assert [each.place for each in found] == ["transcript[0] content(user): parts[0].text"]

"""Ten seeded faults: the first sentence names the right channel, the seam is right or unknown."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from harness.cassette.find import find_cassettes
from harness.detection.explaining import explanation_of
from harness.detection.families import FAMILIES
from harness.explain import Explanation, Seam
from harness.faults.catalogue import faults
from harness.faults.fault import Behaviour
from harness.parity.divergence import ChannelName
from parity_tests.corpus import CORPUS, ROOT, WAIVERS


@dataclass(frozen=True)
class Seeded:
    """What a fault's explanation has to say."""

    channel: ChannelName
    seams: frozenset[Seam]


def seeded(channel: ChannelName, *seams: Seam) -> Seeded:
    return Seeded(channel, frozenset(seams))


FAULTS: Final = {
    "usage-dropped": seeded(ChannelName.EVENTS, Seam.EVENTS),
    "one-attempt-too-many": seeded(ChannelName.RETRIES, Seam.RETRY),
    "sticky-model-kept": seeded(ChannelName.REQUESTS, Seam.ROUTING),
    "results-as-they-finish": seeded(ChannelName.REQUESTS, Seam.SCHEDULER, Seam.REQUEST_ASSEMBLY),
    "refusal-taken-for-approval": seeded(ChannelName.TOOL_STATES, Seam.POLICY),
    "hook-context-lost": seeded(ChannelName.REQUESTS, Seam.HOOKS),
    "narration-resets-loop": seeded(ChannelName.TOOL_STATES, Seam.LOOPS),
    "masking-by-position": seeded(ChannelName.REQUESTS, Seam.REQUEST_ASSEMBLY),
    "recording-not-synced": seeded(ChannelName.RECORDING, Seam.RECORDING),
    "abort-told-as-completion": seeded(ChannelName.EVENTS, Seam.LIFECYCLE),
}


@pytest.fixture(scope="module")
def explanations(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Explanation | None]:
    """Each fault's explanation, by its name."""
    kept = tmp_path_factory.mktemp("kept")
    return {name: explanation_in_its_families(name, kept) for name in FAULTS}


def explanation_in_its_families(name: str, kept: Path) -> Explanation | None:
    families = FAMILIES[faults()[name].behaviour]
    files = [file for file in find_cassettes([CORPUS]) if file.name.partition("/")[0] in families]
    baselines = ROOT / "baselines" / "upstream"
    return explanation_of(faults()[name], files, WAIVERS, kept=kept, baselines=baselines)


def test_each_class_of_behaviour_has_one_here() -> None:
    assert {faults()[name].behaviour for name in FAULTS} == set(Behaviour)


@pytest.mark.parametrize("name", FAULTS)
def test_the_first_sentence_names_the_channel(
    name: str, explanations: dict[str, Explanation | None]
) -> None:
    found = explanations[name]

    assert found is not None
    assert found.channel is FAULTS[name].channel
    assert f"(channel {FAULTS[name].channel.value})" in found.sentences[0]


def test_the_seam_is_never_wrong_and_seldom_unknown(
    explanations: dict[str, Explanation | None],
) -> None:
    said = {name: found.seam for name, found in explanations.items() if found is not None}
    unknown = [name for name, seam in said.items() if seam is Seam.UNKNOWN]
    wrong = {
        name: seam
        for name, seam in said.items()
        if seam is not Seam.UNKNOWN and seam not in FAULTS[name].seams
    }

    assert wrong == {}
    assert len(unknown) <= 2


def test_every_explanation_ends_with_a_contradiction(
    explanations: dict[str, Explanation | None],
) -> None:
    for found in explanations.values():
        assert found is not None
        assert len(found.sentences) >= 3
        assert found.contradiction

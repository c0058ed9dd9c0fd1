"""Ten seeded faults: the first sentence names the right channel, the seam is never surely wrong.

The faults are drawn: of each class of behaviour the first in the order of their names' hashes, out
of the half that no rule of the explainer was made for.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from harness.cassette.find import find_cassettes
from harness.detection.explaining import explanations_of
from harness.detection.families import FAMILIES
from harness.detection.good import Corpus
from harness.explain import Explanation, Seam
from harness.faults.catalogue import CatalogueAt, faults
from harness.parity.divergence import ChannelName
from parity_tests.corpus import CORPUS, ROOT, WAIVERS
from seeded_faults import Behaviour


@dataclass(frozen=True)
class Seeded:
    """What a fault's explanation has to say."""

    channel: ChannelName
    seams: frozenset[Seam]
    family: str | None
    """The only family whose cassettes are tried; by default those of the fault's class."""


def seeded(channel: ChannelName, *seams: Seam, family: str | None = None) -> Seeded:
    return Seeded(channel, frozenset(seams), family)


FAULTS: Final = {
    "recorded-thoughts-lose-subject": seeded(ChannelName.RECORDING, Seam.STREAM),
    "causes-not-looked-at": seeded(ChannelName.RETRIES, Seam.RETRY, Seam.FALLBACK),
    "classifier-sees-oldest-turns": seeded(ChannelName.REQUESTS, Seam.ROUTING),
    "line-ends-normalised": seeded(ChannelName.WORKSPACE, Seam.TOOL),
    "allowed-prefix-allows-the-rest": seeded(ChannelName.TOOL_STATES, Seam.POLICY),
    "after-tool-only-on-success": seeded(ChannelName.WORKSPACE, Seam.HOOKS),
    "chant-outlives-calls": seeded(ChannelName.REQUESTS, Seam.LOOPS),
    "side-questions-uninstructed": seeded(ChannelName.REQUESTS, Seam.MODEL_CONFIG),
    "reset-goes-on-in-the-recording": seeded(ChannelName.RECORDING, Seam.RECORDING),
    "subagent-no-instruction": seeded(ChannelName.REQUESTS, Seam.SUBAGENTS, Seam.MODEL_CONFIG),
    "no-end-at-turn-limit": seeded(ChannelName.EVENTS, Seam.LIFECYCLE),
    "context-of-start-lost": seeded(ChannelName.REQUESTS, Seam.HISTORY, Seam.HOOKS, family="hooks"),
}


def drawn(behaviour: Behaviour) -> str:
    def number(name: str) -> int:
        return int(hashlib.sha256(name.encode()).hexdigest(), 16)

    names = (
        name
        for name, fault in faults().items()
        if fault.behaviour is behaviour and fault.unobservable is None and number(name) % 2
    )
    return min(names, key=number)


class Explanations(dict[str, Explanation | None]):
    """Each fault's explanation, by its name; found when it is first asked for."""

    def __init__(self, kept: Path) -> None:
        super().__init__()
        self._kept = kept

    def __missing__(self, name: str) -> Explanation | None:
        self[name] = explanation_in_its_families(name, self._kept)
        return self[name]


@pytest.fixture(scope="module")
def explanations(tmp_path_factory: pytest.TempPathFactory) -> Explanations:
    return Explanations(tmp_path_factory.mktemp("kept"))


def explanation_in_its_families(name: str, kept: Path) -> Explanation | None:
    family = FAULTS[name].family
    families = FAMILIES[faults()[name].behaviour] if family is None else (family,)
    files = [file for file in find_cassettes([CORPUS]) if file.name.partition("/")[0] in families]
    corpus = Corpus(
        catalogue=CatalogueAt(),
        files=tuple(files),
        trusted=frozenset(),
        waivers=WAIVERS,
        kept=kept,
        baselines=ROOT / "baselines" / "upstream",
    )
    found = explanations_of(faults()[name], corpus)
    return next((explanation for _, explanation in found), None)


def test_each_class_of_behaviour_has_the_one_that_was_drawn() -> None:
    assert set(FAULTS) == {drawn(behaviour) for behaviour in Behaviour}


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.sampled(11)
def test_the_first_sentence_names_the_channel(name: str, explanations: Explanations) -> None:
    found = explanations[name]

    assert found is not None
    assert found.channel is FAULTS[name].channel
    assert f"(channel {FAULTS[name].channel.value})" in found.sentences[0]


@pytest.mark.slow
def test_the_seam_is_right_in_eight_and_never_wrong_with_confidence(
    explanations: Explanations,
) -> None:
    said = {name: found for name in FAULTS if (found := explanations[name]) is not None}
    right = [name for name, found in said.items() if found.seam in FAULTS[name].seams]
    wrong = {name: found.seam for name, found in said.items() if name not in right and found.sure}

    assert wrong == {}
    assert len(right) >= 8


@pytest.mark.slow
def test_every_explanation_ends_with_a_contradiction(
    explanations: Explanations,
) -> None:
    for found in map(explanations.__getitem__, FAULTS):
        assert found is not None
        assert len(found.sentences) >= 3
        assert found.contradiction

"""The corpus finds a fault of each class of behaviour; `parity faults` measures the catalogue."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from harness.cassette.find import find_cassettes
from harness.detection.families import FAMILIES
from harness.detection.finding import FoundBy
from harness.detection.good import Corpus
from harness.detection.measuring import CorpusTask, measure
from harness.faults.catalogue import CatalogueAt, faults
from parity_tests.corpus import CORPUS, ROOT, WAIVERS
from seeded_faults import Behaviour

CHOSEN: Final = (
    "usage-dropped",
    "one-attempt-too-many",
    "sticky-model-kept",
    "results-in-completion-order",
    "refusal-taken-for-approval",
    "block-not-heeded",
    "narration-resets-calls",
    "masking-by-index",
    "recording-not-synced",
    "abort-told-as-completion",
    "subagent-id-reused",
    "output-not-shown-live",
)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where good runs are kept for all tests of the module."""
    return tmp_path_factory.mktemp("kept")


def test_each_class_has_one_here() -> None:
    assert {faults()[name].behaviour for name in CHOSEN} == set(Behaviour)


@pytest.mark.parametrize("name", CHOSEN)
@pytest.mark.sampled(11)
def test_the_cassettes_of_its_class_find_it_by_a_channel(name: str, kept: Path) -> None:
    families = FAMILIES[faults()[name].behaviour]
    files = tuple(
        file for file in find_cassettes([CORPUS]) if file.name.partition("/")[0] in families
    )

    corpus = Corpus(
        catalogue=CatalogueAt(),
        files=files,
        trusted=frozenset(file.name for file in files),
        waivers=WAIVERS,
        kept=kept,
        baselines=ROOT / "baselines" / "upstream",
    )

    done = measure(CorpusTask(fault=name, corpus=corpus))

    assert done.found is not None
    assert done.found.kind is FoundBy.CHANNEL
    assert done.left_out == {}

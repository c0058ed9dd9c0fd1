from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.cassette.find import CassetteFile, find_cassettes
from harness.detection.families import FAMILIES, own_first
from seeded_faults import Behaviour

CORPUS = Path(__file__).parents[3] / "cassettes"
EXTRA = {"http"}
"""Not found under the corpus' root: recordings are named apart."""


def file(name: str) -> CassetteFile:
    return CassetteFile(Path(f"{name}.yaml"), Path("corpus"), name)


def names(files: Sequence[CassetteFile]) -> list[str]:
    return [one.name for one in files]


def test_every_behaviour_has_families() -> None:
    assert set(FAMILIES) == set(Behaviour)
    assert all(FAMILIES.values())


@pytest.mark.skipif(not CORPUS.is_dir(), reason="needs the corpus of a checkout (cassettes/)")
def test_every_family_of_the_corpus_belongs_to_a_behaviour_and_every_one_named_exists() -> None:
    there = {one.name.partition("/")[0] for one in find_cassettes([CORPUS])} | EXTRA
    named = {family for families in FAMILIES.values() for family in families}

    assert there == named


def test_the_cassettes_of_its_own_class_come_first_in_the_order_of_the_table() -> None:
    given = [file(name) for name in ("abort/a", "loops/b", "limits/c", "loops/a", "next_speaker/z")]

    assert names(own_first(given, Behaviour.LOOPS)) == [
        "loops/a",
        "loops/b",
        "limits/c",
        "next_speaker/z",
        "abort/a",
    ]


def test_the_others_follow_one_of_each_family_in_turn_and_none_is_lost() -> None:
    given = [file(name) for name in ("b/3", "a/1", "b/1", "a/2", "c/1", "hooks/x", "b/2")]

    ordered = names(own_first(given, Behaviour.HOOKS))

    assert ordered == ["hooks/x", "a/1", "b/1", "c/1", "a/2", "b/2", "b/3"]


def test_a_recording_belongs_to_the_family_that_its_folder_says() -> None:
    recording = CassetteFile(Path("cassettes/http/x.yaml"), Path("cassettes/http"), "x")

    ordered = own_first([file("a/1"), recording], Behaviour.ANSWERS)

    assert names(ordered) == ["x", "a/1"]

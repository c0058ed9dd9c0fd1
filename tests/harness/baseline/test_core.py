"""Where the published core's findings of the provider rules come from."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness.baseline.core import known_core_findings
from harness.baseline.files import Baseline, baseline_file, cassette_digest, write_baseline
from harness.baseline.stale import staleness
from harness.provider.rules import ProviderFinding
from tests.harness.samples import observation

NAME = "tools/read"
FOUND = ProviderFinding(rule="text-empty", path="contents[0].parts[0]", message="has no text")


@pytest.fixture
def cassette(tmp_path: Path) -> Path:
    file = tmp_path / "read.yaml"
    file.write_text("a cassette")
    return file


def keep(folder: Path, cassette: Path, runtime: str = "upstream") -> None:
    """A baseline in which the core's second request is objected to."""
    seen = observation(runtime)
    requests = [seen.requests[0], replace(seen.requests[1], provider=(FOUND,))]
    kept = Baseline.of(replace(seen, requests=requests), NAME, cassette_digest(cassette))
    write_baseline(folder, kept)


def test_the_first_folder_with_a_fitting_baseline_of_the_core_says_it(
    tmp_path: Path, cassette: Path
) -> None:
    folders = [tmp_path / name for name in ("absent", "ours", "old", "damaged", "core")]
    keep(folders[1], cassette, runtime="legacy")
    cassette.write_text("before")
    keep(folders[2], cassette)
    cassette.write_text("a cassette")
    damaged = baseline_file(folders[3], NAME)
    damaged.parent.mkdir(parents=True)
    damaged.write_text("{}")
    keep(folders[4], cassette)

    known = known_core_findings(folders, NAME, cassette)

    assert known.keys == frozenset({(1, FOUND.rule, FOUND.path)})
    assert known_core_findings(folders[:4], NAME, cassette).keys is None


def test_without_a_baseline_the_advice_names_the_command_that_makes_one(
    tmp_path: Path, cassette: Path
) -> None:
    known = known_core_findings([tmp_path / "a b", tmp_path], NAME, cassette)

    assert known.mend == (
        f"observe that with `parity baseline {cassette} --runtime upstream --out '{tmp_path}/a b'`"
    )


def test_without_folders_there_is_no_advice(cassette: Path) -> None:
    assert known_core_findings([], NAME, cassette).mend is None


def test_a_baseline_of_an_earlier_format_is_no_better_than_none(
    tmp_path: Path, cassette: Path
) -> None:
    keep(tmp_path, cassette)
    file = baseline_file(tmp_path, NAME)
    document = json.loads(file.read_text())
    del document["observation"]["provider"]
    file.write_text(json.dumps({**document, "format": 1}))

    assert known_core_findings([tmp_path], NAME, cassette).keys is None


def test_a_baseline_is_stale_when_the_core_is_objected_to_elsewhere(
    tmp_path: Path, cassette: Path
) -> None:
    keep(tmp_path, cassette)
    fresh = Baseline.of(observation("upstream"), NAME, cassette_digest(cassette))

    lines, _ = staleness(tmp_path, fresh)

    assert lines[0] == "provider[1] text-empty: contents[0].parts[0] (missing)"
    assert "stored sent the second request, now did not" in lines[1]

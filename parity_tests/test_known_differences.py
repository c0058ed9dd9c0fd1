"""What is listed as different from the published core, with a cassette, still is: no more, no less.

The cassettes stand in docs/known; docs/differences-from-upstream.md says what they show.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from harness.cassette.find import CassetteFile, find_cassettes
from harness.cassette.load import load_cassette
from harness.parity.compare import compare
from harness.parity.verdict import CaseVerdict
from harness.replay.runner import run_cassette
from parity_tests.corpus import ROOT, WAIVERS
from parity_tests.test_upstream import why_not

KNOWN: Final = find_cassettes([ROOT / "docs" / "known"])
PAGE: Final[Path] = ROOT / "docs" / "differences-from-upstream.md"


def verdict(file: CassetteFile, control: str, candidate: str) -> CaseVerdict:
    cassette = load_cassette(file.path, file.root)
    runs = [run_cassette(cassette, side) for side in (control, candidate)]
    return compare(runs[0], runs[1], cassette, WAIVERS).verdict


@pytest.mark.parametrize("file", KNOWN, ids=lambda file: file.name)
def test_the_two_runtimes_agree_on_it(file: CassetteFile) -> None:
    assert verdict(file, "legacy", "adk") is CaseVerdict.PARITY


@pytest.mark.skipif(bool(why_not()), reason=why_not())
@pytest.mark.parametrize("file", KNOWN, ids=lambda file: file.name)
@pytest.mark.sampled(2)
def test_the_published_core_differs(file: CassetteFile) -> None:
    assert verdict(file, "upstream", "legacy") is CaseVerdict.DIVERGENT


def test_the_page_names_each() -> None:
    page = PAGE.read_text("utf-8")

    assert KNOWN
    assert [file.name for file in KNOWN if f"known/{file.name}.yaml" not in page] == []

"""Where the suite finds what it runs, and how it runs one cassette on both sides."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Final

from harness.cassette.find import CassetteFile, find_cassettes
from harness.cassette.format import Cassette
from harness.cassette.load import load_cassette
from harness.parity.compare import compare
from harness.parity.verdict import CaseResult
from harness.parity.waivers import Waivers, load_waivers
from harness.replay.runner import run_cassette

__all__ = ["CORPUS", "ROOT", "SHARED", "WAIVERS", "cassette", "cassette_files", "judge"]

ROOT: Final = Path(__file__).parents[1]
CORPUS: Final = ROOT / "cassettes"
SHARED: Final = ROOT.parent / "shared"
AS_OF: Final = date(2026, 11, 21)


def load_own_waivers() -> Waivers:
    return load_waivers(ROOT / "parity_tests" / "waivers.toml", as_of=AS_OF)


WAIVERS: Final = load_own_waivers()


def cassette_files(*, variants: bool = False) -> list[CassetteFile]:
    """Every cassette of the project's corpus; with `variants` each with its variants."""
    return find_cassettes([CORPUS], variants=variants)


def cassette(name: str) -> Cassette:
    """One cassette of the corpus by its name."""
    return load_cassette(CORPUS / f"{name}.yaml", CORPUS)


def judge(one: Cassette, *, control: str = "legacy", candidate: str = "adk") -> CaseResult:
    """Both runs of one cassette, compared, the project's waivers applied."""
    return compare(run_cassette(one, control), run_cassette(one, candidate), one, WAIVERS)

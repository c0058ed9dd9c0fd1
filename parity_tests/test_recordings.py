"""Upstream's recorded `.responses` files: each imports, runs, and ends alike in both runtimes.

The recordings lie beside the checkout; these tests skip where they are absent.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cassette.importing import import_responses
from harness.cassette.load import build_cassette
from harness.explain import explain
from harness.parity.compare import compare
from harness.replay.runner import run_cassette
from parity_tests.corpus import SHARED, WAIVERS

RECORDINGS = SHARED / "recordings" / "gemini-cli"

pytestmark = pytest.mark.skipif(
    not RECORDINGS.is_dir(), reason="needs ../shared/recordings beside the checkout"
)


def files() -> list[Path]:
    return sorted(RECORDINGS.rglob("*.responses")) or [Path("absent")]


@pytest.mark.parametrize("file", files(), ids=lambda file: file.stem)
@pytest.mark.sampled(4)
def test_a_recorded_conversation_ends_alike_in_both_runtimes(file: Path) -> None:
    imported = import_responses(file)
    path = Path("/imported") / f"{imported['name']}.yaml"
    cassette = build_cassette(imported, path, Path("/imported"))

    control, candidate = run_cassette(cassette, "legacy"), run_cassette(cassette, "adk")

    assert (control.error, candidate.error) == (None, None)
    result = compare(control, candidate, cassette, WAIVERS)
    assert result.open == (), "\n".join(explain(result, "legacy", "adk"))
    assert not result.cut

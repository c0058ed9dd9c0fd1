"""Cassettes of the corpus on both runtimes: parity on every channel.

With each change `nox -s parity` plays all of them, so that few are played again here.
"""

from __future__ import annotations

import pytest

from harness.cassette.find import CassetteFile
from harness.cassette.format import Cassette
from harness.explain import explain
from harness.http.case import load_found
from harness.parity.verdict import CaseVerdict
from parity_tests.corpus import cassette_files, judge

FAMILIES = {"text", "tools", "finish", "invalid_stream", "errors", "abort", "limits"}


@pytest.mark.sampled(30)
@pytest.mark.parametrize("file", cassette_files(variants=True), ids=lambda file: file.name)
@pytest.mark.sampled(40)
def test_both_runtimes_agree(file: CassetteFile) -> None:
    loaded = load_found(file)
    assert isinstance(loaded, Cassette)
    result = judge(loaded)

    assert result.verdict is CaseVerdict.PARITY, "\n".join(explain(result, "legacy", "adk"))


def test_the_corpus_covers_every_family_of_this_build() -> None:
    names = [file.name for file in cassette_files()]

    assert len(names) >= 60
    assert {name.split("/")[0] for name in names} >= FAMILIES

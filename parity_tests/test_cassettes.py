"""Every cassette of the corpus on both runtimes: parity on every channel."""

from __future__ import annotations

import pytest

from harness.cassette.find import CassetteFile
from harness.cassette.load import load_cassette
from harness.explain import explain
from harness.parity.verdict import CaseVerdict
from parity_tests.corpus import cassette_files, judge

FAMILIES = {"text", "tools", "finish", "invalid_stream", "errors", "abort", "limits"}


@pytest.mark.parametrize("file", cassette_files(), ids=lambda file: file.name)
def test_both_runtimes_agree(file: CassetteFile) -> None:
    result = judge(load_cassette(file.path, file.root))

    assert result.verdict is CaseVerdict.PARITY, "\n".join(explain(result, "legacy", "adk"))


def test_the_corpus_covers_every_family_of_this_build() -> None:
    names = [file.name for file in cassette_files()]

    assert len(names) >= 60
    assert {name.split("/")[0] for name in names} >= FAMILIES

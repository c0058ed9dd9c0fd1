"""Cassettes of the corpus on both runtimes: parity on every channel.

Every tenth of them: `parity run` plays them all, which CI does just before, as `nox -s parity`.
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.cassette.find import CassetteFile
from harness.cassette.format import Cassette
from harness.explain import explain
from harness.http.case import load_found
from harness.parity.verdict import CaseVerdict
from parity_tests.corpus import cassette_files, judge

FAMILIES = {"text", "tools", "finish", "invalid_stream", "errors", "abort", "limits"}


EVERY = 10


def chosen() -> list[Any]:
    """Each of them; all but every tenth are for the night."""
    return [
        pytest.param(file, id=file.name, marks=[pytest.mark.slow] if place % EVERY else [])
        for place, file in enumerate(cassette_files(variants=True))
    ]


@pytest.mark.parametrize("file", chosen())
def test_both_runtimes_agree(file: CassetteFile) -> None:
    loaded = load_found(file)
    assert isinstance(loaded, Cassette)
    result = judge(loaded)

    assert result.verdict is CaseVerdict.PARITY, "\n".join(explain(result, "legacy", "adk"))


def test_the_corpus_covers_every_family_of_this_build() -> None:
    names = [file.name for file in cassette_files()]

    assert len(names) >= 60
    assert {name.split("/")[0] for name in names} >= FAMILIES

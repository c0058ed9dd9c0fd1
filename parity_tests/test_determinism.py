"""Two runs of one runtime give the same bytes, whoever runs beside them."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from harness.cassette.load import load_cassette
from harness.replay.runner import run_cassette
from harness.replay.trace import trace_json
from parity_tests.corpus import cassette_files


def trace(path: Path, root: Path, runtime: str) -> str:
    return trace_json(run_cassette(load_cassette(path, root), runtime))


# A part of each family will do: signing runs the whole corpus again and compares all traces.
EVERY = 60


@pytest.mark.timeout(1200)  # the longer one: a part of the corpus, twice
@pytest.mark.parametrize("every", [EVERY, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    # legacy's, which is what adk is compared with, by night alone.
    "runtime",
    [pytest.param("legacy", marks=pytest.mark.slow), "adk"],
)
def test_one_worker_and_two_give_the_same_bytes(runtime: str, every: int) -> None:
    files = cassette_files()[::every]
    alone = {file.name: trace(file.path, file.root, runtime) for file in files}

    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        futures = {
            file.name: pool.submit(trace, file.path, file.root, runtime) for file in reversed(files)
        }
        together = {name: future.result() for name, future in futures.items()}

    assert [name for name in alone if alone[name] != together[name]] == []

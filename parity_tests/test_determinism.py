"""Two runs of one runtime give the same bytes, also beside other runs."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from harness.cassette.load import load_cassette
from harness.replay.runner import run_cassette
from harness.replay.trace import trace_json
from parity_tests.corpus import cassette_files

EVERY = 3
"""One cassette of so many is run."""


def trace(path: Path, root: Path, runtime: str) -> str:
    return trace_json(run_cassette(load_cassette(path, root), runtime))


# By night: with each change `.ci/run` signs: other workers run cases again, and all traces are
# compared.
@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("runtime", ["legacy", "adk"])
def test_one_worker_and_two_give_the_same_bytes(runtime: str) -> None:
    files = cassette_files()[::EVERY]
    alone = {file.name: trace(file.path, file.root, runtime) for file in files}

    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        futures = {
            file.name: pool.submit(trace, file.path, file.root, runtime) for file in reversed(files)
        }
        together = {name: future.result() for name, future in futures.items()}

    assert [name for name in alone if alone[name] != together[name]] == []

"""The conformance suite: what the published core did, level by level, for both runtimes.

Lies beside the checkout; these tests skip where it is absent. A cassette of a family that this
build does not cover yet plays no part.
"""

from __future__ import annotations

import importlib.util
import json
from types import ModuleType
from typing import Any

import pytest

from harness.cassette.find import find_cassettes
from harness.cassette.load import load_cassette
from harness.replay.runner import run_cassette
from harness.replay.trace import to_trace
from parity_tests.corpus import SHARED

ORACLE = SHARED / "oracle"
FAMILIES = ["text", "tools", "finish", "invalid_stream", "errors", "abort", "limits", "plan"]
OUR_WORDS = {
    ("tools/error", "events_all"): "the tool's own description stands in for invalid arguments",
    ("tools/invalid_args", "events_all"): "the same",
    ("plan/outside_path", "events_all"): "the same",
}

pytestmark = pytest.mark.skipif(
    not ORACLE.is_dir(), reason="needs the conformance suite beside the checkout (../shared/oracle)"
)


def names() -> list[str]:
    if not ORACLE.is_dir():
        return ["absent"]
    folders = [ORACLE / "cassettes" / family for family in FAMILIES]
    return [file.name for file in find_cassettes(folders)]


@pytest.fixture(scope="module")
def judge() -> ModuleType:
    spec = importlib.util.spec_from_file_location("oracle_compare", ORACLE / "compare.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("runtime", ["legacy", "adk"])
@pytest.mark.parametrize("name", names())
@pytest.mark.sampled(3)
def test_every_level_agrees_with_the_published_core(
    judge: ModuleType, name: str, runtime: str
) -> None:
    root = ORACLE / "cassettes"
    golden: dict[str, Any] = json.loads((ORACLE / "golden" / f"{name}.json").read_text())
    cassette = load_cassette(root / f"{name}.yaml", root)

    levels = judge.compare(golden, to_trace(run_cassette(cassette, runtime)))

    different = {level for level, same in levels.items() if not same}
    assert different == {level for case, level in OUR_WORDS if case == name}

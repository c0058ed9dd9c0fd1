"""The published core as a runtime: the goldens it was asked for before, and the contract.

These tests need node and the package, and say which command installs it.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from harness.cassette.find import find_cassettes
from harness.cassette.load import load_cassette
from harness.replay.runner import run_cassette
from harness.replay.trace import to_trace
from parity_tests import test_conformance
from parity_tests.corpus import SHARED
from runtimes.contract import RuntimeUnavailable
from runtimes.registry import check_runtime

ORACLE = SHARED / "oracle"
ROOT = ORACLE / "cassettes"


def why_not() -> str:
    """Why the core cannot be run here, with the command that mends it; empty if it can."""
    try:
        check_runtime("upstream")
    except RuntimeUnavailable as missing:
        return str(missing)
    return ""


pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())

needs_goldens = pytest.mark.skipif(
    not ORACLE.is_dir(), reason="needs the conformance suite beside the checkout (../shared/oracle)"
)


def goldens() -> list[str]:
    return [file.name for file in find_cassettes([ROOT])] if ORACLE.is_dir() else ["absent"]


@pytest.fixture(scope="module")
def judge() -> ModuleType:
    spec = importlib.util.spec_from_file_location("oracle_compare", ORACLE / "compare.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@needs_goldens
@pytest.mark.parametrize("name", goldens())
@pytest.mark.sampled(20)
def test_every_level_is_as_it_was_seen_before(judge: ModuleType, name: str) -> None:
    golden: dict[str, Any] = json.loads((ORACLE / "golden" / f"{name}.json").read_text())
    seen = run_cassette(load_cassette(ROOT / f"{name}.yaml", ROOT), "upstream")

    levels = judge.compare(golden, to_trace(seen))

    assert seen.blocker is None
    assert [level for level, same in levels.items() if not same] == []


def promises() -> Iterator[Any]:
    """Every test of the conformance suite that takes a runtime, with its other parameters."""
    for name, test in inspect.getmembers(test_conformance, inspect.isfunction):
        marks = getattr(test, "pytestmark", [])
        if test_conformance.RUNTIMES.mark not in marks:
            continue
        own = test_conformance.RUNTIMES.mark
        others = [mark for mark in marks if mark.name == "parametrize" and mark != own]
        if not others:
            yield pytest.param(test, {}, id=name)
        for mark in others:
            argument, values = mark.args
            for value in values:
                yield pytest.param(test, {argument: value}, id=f"{name}[{type(value).__name__}]")


@pytest.mark.parametrize(("promise", "more"), list(promises()))
@pytest.mark.sampled(4)
def test_it_keeps_the_contract(promise: Callable[..., None], more: dict[str, Any]) -> None:
    promise("upstream", **more)

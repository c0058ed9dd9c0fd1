"""Faults of the terminal: each breaks what one side shows, and the channel `screen` finds it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("textual")

from harness.cassette.load import load_cassette
from harness.parity.compare import compare_observations
from harness.parity.divergence import ChannelName
from harness.replay.observation import Observation
from harness.replay.runner import run_cassette
from seeded_faults.patching import replaced
from seeded_faults.wrappers import Wrap, instead, result, returns

CASSETTES = Path(__file__).parents[4] / "cassettes"
CONTROL, CANDIDATE = "terminal:legacy", "terminal:adk"
DIALOG = "surfaces.terminal.dialogs.confirmation"


@dataclass(frozen=True)
class Broken:
    """A fault of the terminal."""

    target: str
    wrap: Wrap
    cassette: str = "text/text"
    shown: str = ""
    """What the first differing line of the broken side has."""


def _first_two_swapped(options: Any) -> list[Any]:
    one, two, *rest = options
    return [two, one, *rest]


def _with_model(show: Any, self: Any, folder: str, sandbox: str, status: Any, vim: Any) -> None:
    show(self, folder, sandbox, replace(status, model="gemini-99-ultra"), vim)


def _one_call_is_silent(request: Any, self: Any, event: Any) -> None:
    if event.name != "read_file":
        request(self, event)


def _always_done(line: Any, self: Any) -> Any:
    before, self.status = self.status, "success" if self.settled else self.status
    try:
        return line(self)
    finally:
        self.status = before


FAULTS = {
    "options in another order": Broken(
        f"{DIALOG}:_options", result(_first_two_swapped), "hooks/ask_answered", "1. Allow for"
    ),
    "an option is missing": Broken(
        f"{DIALOG}:_options", result(lambda options: list(options)[1:]), "policy/cancelled_wave"
    ),
    "a dropped answer": Broken("surfaces.terminal.drawing:Drawing._message", returns(None)),
    "a dropped prompt": Broken("surfaces.terminal.drawing:Drawing._typed", returns(None)),
    "a dropped call": Broken(
        "surfaces.terminal.drawing:Drawing._request",
        instead(_one_call_is_silent),
        "tools/read_file",
    ),
    "a footer that lies": Broken(
        "surfaces.terminal.status:Footer.show", instead(_with_model), shown="gemini-99-ultra"
    ),
    "a failure shown as a success": Broken(
        "surfaces.terminal.call_words:CallShown.line", instead(_always_done), "tools/error"
    ),
}


@lru_cache
def good(name: str) -> Observation:
    return run_cassette(load_cassette(CASSETTES / f"{name}.yaml", CASSETTES), CONTROL)


@pytest.mark.parametrize("fault", FAULTS.values(), ids=list(FAULTS))
def test_the_screens_show_a_fault_of_the_terminal(fault: Broken) -> None:
    cassette = load_cassette(CASSETTES / f"{fault.cassette}.yaml", CASSETTES)
    with replaced(fault.target, fault.wrap):
        candidate = run_cassette(cassette, CANDIDATE)

    found = compare_observations(good(fault.cassette), candidate).divergences
    assert {each.channel for each in found} == {ChannelName.SCREEN}
    assert any(fault.shown in str(each.candidate) for each in found)


def test_without_a_fault_the_screens_are_the_same() -> None:
    """The cassettes of the faults are at parity, so that each fault alone makes the difference."""
    for name in {fault.cassette for fault in FAULTS.values()}:
        cassette = load_cassette(CASSETTES / f"{name}.yaml", CASSETTES)
        assert compare_observations(good(name), run_cassette(cassette, CANDIDATE)).divergences == ()

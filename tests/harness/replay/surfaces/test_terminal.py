"""Cassettes through the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("textual")

from harness.cassette.load import build_cassette, load_cassette
from harness.parity.compare import compare_observations
from harness.replay.client import Unplayable
from harness.replay.observation import Observation
from harness.replay.runner import run_cassette

CASSETTES = Path(__file__).parents[4] / "cassettes"
SIDES = ("terminal:legacy", "terminal:adk")


def played(name: str, side: str) -> Observation:
    return run_cassette(load_cassette(CASSETTES / f"{name}.yaml", CASSETTES), side)


def shown(seen: Observation) -> str:
    return "\n".join("\n".join(screen.lines) for screen in seen.screens)


@pytest.mark.parametrize("side", SIDES)
def test_a_prompt_is_typed_and_the_answer_is_shown(side: str) -> None:
    seen = played("text/text", side)

    assert seen.error is None
    assert [event["type"] for event in seen.events][-1] == "agent_end"
    typed = [screen for screen in seen.screens if "> Say hi" in screen.lines]
    assert typed, "the prompt was never in the input"
    assert "✦ Hello there." in "\n".join(seen.screens[-1].lines)


@pytest.mark.parametrize(
    "name",
    [
        "plan/own_folder_full_path",  # dialogs of plans, with feedback
        "abort/mid_stream_wait",
        "ask_user/answered_late",
        "steering/during_confirmation",
    ],
)
def test_both_runtimes_show_the_same(name: str) -> None:
    control, candidate = (played(name, side) for side in SIDES)

    assert control.error is None
    assert len(control.screens) > 3
    assert compare_observations(control, candidate).divergences == ()


def test_two_runs_show_the_same_screens() -> None:
    first, again = (played("text/text", SIDES[0]) for _ in range(2))

    assert compare_observations(first, again).divergences == ()


def test_a_screen_is_drawn_as_svg() -> None:
    picture = played("text/text", SIDES[0]).screens[-1].picture()

    assert picture.startswith("<svg")
    assert "Hello" in picture


@pytest.mark.parametrize(
    ("send", "words"),
    [
        ("/help", "is a command"),
        (" go", "has no blanks around it"),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "one text"),
    ],
)
def test_what_no_user_can_type_is_refused(send: Any, words: str, tmp_path: Path) -> None:
    document = {
        "cassette": 1,
        "name": "x/y",
        "session": {"model": "gemini-2.5-flash"},
        "script": [{"send": send}],
        "model": [{"text": "ok"}],
    }
    cassette = build_cassette(document, tmp_path / "x/y.yaml", tmp_path)

    with pytest.raises(Unplayable, match=words):
        run_cassette(cassette, SIDES[0])


@pytest.mark.parametrize("side", SIDES)
def test_a_prompt_waits_until_the_dialogs_of_the_opening_are_answered(side: str) -> None:
    seen = played("interaction/agents_acknowledged", side)

    assert seen.error is None
    assert not seen.unused_steps


def test_a_dialog_that_stays_open_leaves_no_place_to_type() -> None:
    with pytest.raises(Unplayable, match="nothing can be typed while a dialog is open"):
        played("interaction/agents_never", SIDES[0])

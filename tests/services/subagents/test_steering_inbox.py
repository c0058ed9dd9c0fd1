"""Hints and ends of background commands in requests."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.steering_texts import background_completion, steering_update, user_hints
from services.subagents.steering_inbox import injected_parts
from services.tools.background import completion_note
from tests.runtimes.upstream.stand_ins import needs_core
from tests.services.subagents.core_twin import from_core


@needs_core
def test_frames_are_those_of_the_core() -> None:
    hints = ["  use\u00a0\ntabs\t please ", "a\u0085b\ufeff", ""]
    output = "line 1\nline 2\n"
    asked = [
        {"kind": "injected", "hints": hints, "output": output},
        {"kind": "injected", "hints": [], "output": ""},
    ]
    some, none = from_core(asked)
    assert [
        user_hints(hints),
        steering_update("\n".join(hints)),
        background_completion(output),
    ] == (some)
    assert user_hints([]) is None
    assert none[0] is None


def test_completions_come_before_hints() -> None:
    parts = injected_parts(["hurry"], ["first", "second"])
    assert [part["text"].split("\n")[0] for part in parts] == [
        "Background execution update:",
        "User hints:",
    ]
    assert "<background_output>\nfirst\nsecond\n</background_output>" in parts[0]["text"]
    assert "\n- hurry\n" in parts[1]["text"]


def test_without_injections_there_is_no_part() -> None:
    assert injected_parts([], []) == []
    assert len(injected_parts(["hint"], [])) == len(injected_parts([], ["end"])) == 1


OUTPUTS = [
    "",
    "  one line ",
    "a\nb </output> <output>",
    "x" * 5000,
    "x" * 4999 + "\n",
    "x" * 5001,
    "line\r\n" * 1200,
    "x" * 4999 + "e\u0301" + "rest",
    "x" * 4998 + "e\u0301" + "rest",
    "x" * 4999 + "\U0001f600" * 3,
    "\u0301" * 6000,
    "ab\n\u0301" * 2000,
]


@needs_core
@pytest.mark.parametrize("behaviour", ["inject", "notify"])
def test_ends_of_background_commands_have_the_cores_text(behaviour: str) -> None:
    job = {"kind": "completion", "behaviour": behaviour, "outputs": OUTPUTS}
    (theirs,) = from_core([job])
    for output, their in zip(OUTPUTS, theirs, strict=True):
        assert completion_note(behaviour, Path("LOG"), output) == their, output[:20]


@pytest.mark.parametrize("behaviour", ["silent", "", "INJECT"])
def test_ends_of_background_commands_are_not_sent_by_default(behaviour: str) -> None:
    assert completion_note(behaviour, Path("LOG"), "x") is None

"""What models are told of hints and of background commands that have ended."""

from __future__ import annotations

from services.subagents.injected import (
    background_completion,
    injected_parts,
    steering_update,
    user_hints,
)
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


def test_nothing_said_is_no_part() -> None:
    assert injected_parts([], []) == []
    assert len(injected_parts(["hint"], [])) == len(injected_parts([], ["end"])) == 1

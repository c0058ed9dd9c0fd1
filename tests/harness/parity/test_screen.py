"""The channel of a surface's screens."""

from __future__ import annotations

from dataclasses import replace

from harness.explain import explain
from harness.parity.compare import compare_observations, compare_repeated
from harness.parity.divergence import ChannelName, Kind
from harness.replay.observation import Observation, Screen
from harness.timeline.model import Row, unpack
from tests.harness.samples import Facts, observation

BUSY = " ⠋ Thinking... (esc to cancel, 0s)      ? for shortcuts"


def run(*screens: tuple[str, ...]) -> Observation:
    return replace(observation(), screens=[Screen(lines=lines) for lines in screens])


def drawn(*screens: str) -> Observation:
    """A run whose screens have pictures."""
    shown = [Screen(lines=(text,), picture=f"<svg>{text}</svg>".__str__) for text in screens]
    return replace(observation(), screens=shown)


def found(control: Observation, candidate: Observation) -> list[tuple[Kind, str]]:
    divergences = compare_observations(control, candidate).divergences
    assert {each.channel for each in divergences} <= {ChannelName.SCREEN}
    return [(each.kind, each.path) for each in divergences]


def test_every_line_of_every_screen_is_compared() -> None:
    one, other = ("> go", "✦ yes"), ("> go", "✦ no")

    assert found(run(one), run(one)) == []
    assert found(run(one, one), run(one, other)) == [(Kind.CHANGED, "lines[1]")]
    assert found(run(one, other), run(one)) == [(Kind.MISSING, "")]


def test_the_explanation_names_the_screen_and_the_line() -> None:
    control, candidate = run(("a",), ("> go", "✦ yes")), run(("a",), ("> go", "✦ no"))

    words = explain(compare_repeated([control], [candidate], Facts()), "legacy", "adk")

    assert words[0].startswith("screen[1]")
    assert any("lines[1] (line 2 of the screen)" in line for line in words)
    assert "  seam: probably surface" in "\n".join(words) or any("surface" in w for w in words)


def test_the_clock_of_the_activity_line_may_differ() -> None:
    later = BUSY.replace("⠋", "⠧").replace("0s", "12s").replace("      ?", "     ?")

    assert found(run((BUSY,)), run((later,))) == []


def test_what_the_rule_about_the_clock_does_not_hide() -> None:
    other_words = BUSY.replace("Thinking...", "Retrying...")

    assert found(run((BUSY,)), run((other_words,))) == [(Kind.CHANGED, "lines[0]")]
    assert found(run((BUSY,)), run(("",))) != []
    assert found(run(("took 1s)",)), run(("took 2s)",))) != []


def test_the_first_differing_screens_keep_their_pictures() -> None:
    control, candidate = (
        drawn("one", *(f"{side} {number}" for number in range(3))) for side in ("here", "there")
    )

    rows = unpack(compare_repeated([control], [candidate], Facts()).timelines).rows

    pictures = [(row.control.picture, row.candidate.picture) for row in rows if _both(row)]
    assert [each for each in pictures if each != (None, None)] == [
        ("<svg>here 0</svg>", "<svg>there 0</svg>"),
        ("<svg>here 1</svg>", "<svg>there 1</svg>"),
    ]


def _both(row: Row) -> bool:
    return row.control is not None and row.candidate is not None


def test_a_screen_that_may_have_a_secret_has_no_picture() -> None:
    secret = "AIza" + "SyA1234567890abcdefghijklmnopqrstuv"
    control, candidate = drawn(f"key {secret}"), drawn("another")

    rows = unpack(compare_repeated([control], [candidate], Facts()).timelines).rows

    assert secret not in str(rows)
    assert not any(row.control.picture for row in rows if row.control is not None)

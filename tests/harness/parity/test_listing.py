"""The limits on listed divergences of a channel."""

from __future__ import annotations

from harness.parity.divergence import ChannelName, Divergence, Kind
from harness.parity.listing import MAX_ALIKE, MAX_LISTED, listed


def found(index: int, path: str = "tools.glob", control: str = "declared") -> Divergence:
    return Divergence(
        cassette="tools/read",
        channel=ChannelName.REQUESTS,
        kind=Kind.CHANGED,
        label="generateContentStream(main)",
        control_index=index,
        candidate_index=index,
        path=path,
        control=control,
    )


def test_what_every_request_repeats_is_listed_everywhere() -> None:
    every = [found(index) for index in range(MAX_LISTED * 3)]
    assert listed(iter(every)) == (every, False)


def test_positions_within_an_item_make_no_other_difference() -> None:
    every = [found(index, f"contents[{index}].text") for index in range(MAX_LISTED * 3)]
    assert listed(iter(every)) == (every, False)


def test_different_ones_are_cut_at_the_limit_and_repeated_ones_before_it_stay() -> None:
    differing = [found(index, control=str(index)) for index in range(MAX_LISTED + 1)]
    every = [differing[0], differing[0], *differing]
    assert listed(iter(every)) == (every[: MAX_LISTED + 2], True)


def test_as_many_as_the_limit_are_not_cut() -> None:
    every = [found(index, control=str(index)) for index in range(MAX_LISTED)]
    assert listed(iter(every)) == (every, False)


def test_repeated_ones_have_a_limit_too() -> None:
    every = [found(index) for index in range(MAX_ALIKE)]
    assert listed(iter(every)) == (every, False)
    assert listed(iter([*every, found(0)])) == (every, True)

from typing import Any

from harness.parity.causes import first_cause_at, in_order
from harness.parity.divergence import ChannelName, Divergence, Kind

REQUESTS, RETRIES, EVENTS = ChannelName.REQUESTS, ChannelName.RETRIES, ChannelName.EVENTS


def divergence(channel: ChannelName, kind: Kind = Kind.CHANGED, **more: Any) -> Divergence:
    values = {"control_index": 0, "candidate_index": 0, **more}
    return Divergence(cassette="a/b", channel=channel, kind=kind, **values)


def test_the_earliest_item_of_either_side_is_the_first_cause() -> None:
    found = [
        divergence(REQUESTS, Kind.MISSING, control_index=1, candidate_index=None),
        divergence(RETRIES),
    ]
    control = {(REQUESTS, 0): (0, 1), (REQUESTS, 1): (2, 1), (RETRIES, 0): (3, 1)}
    candidate = {(REQUESTS, 0): (0, 1), (RETRIES, 0): (1, 1)}

    assert in_order(found, (control, candidate)) == [1, 0]


def test_on_a_tie_the_cause_in_the_earlier_stream_is_first() -> None:
    found = [
        divergence(REQUESTS, Kind.MISSING, control_index=1, candidate_index=None),
        divergence(RETRIES),
    ]
    control = {(REQUESTS, 1): (1, 2), (RETRIES, 0): (2, 2)}
    candidate = {(RETRIES, 0): (1, 1)}

    assert in_order(found, (control, candidate)) == [1, 0]


def test_a_remark_comes_after_its_request() -> None:
    found = [divergence(ChannelName.PROVIDER), divergence(REQUESTS)]
    times = {(REQUESTS, 0): (0, 1)}

    assert in_order(found, (times, times)) == [1, 0]


def test_events_and_the_replay_s_notes_are_no_causes_in_time() -> None:
    found = [divergence(EVENTS), divergence(REQUESTS, Kind.REPLAY)]
    times = {(REQUESTS, 0): (0, 1), (EVENTS, 0): (0, 1)}

    assert in_order(found, (times, times)) == []


def test_without_times_the_channels_order_decides_and_the_replay_comes_last() -> None:
    found = [
        divergence(REQUESTS, Kind.REPLAY),
        divergence(EVENTS),
        divergence(RETRIES),
        divergence(REQUESTS),
    ]

    assert first_cause_at(enumerate(found)) == 3
    assert first_cause_at([(0, found[0]), (1, found[1])]) == 1
    assert first_cause_at([]) is None


def test_causes_with_a_time_come_before_those_without() -> None:
    found = [divergence(REQUESTS), divergence(ChannelName.TOOL_STATES)]

    assert first_cause_at(enumerate(found), [1]) == 1

import asyncio
import logging
from collections.abc import Sequence

import pytest

from agent_protocol.event_log import EventLog
from agent_protocol.events import AgentEvent, Custom


def event(number: int, kind: str = "k") -> Custom:
    return Custom(id=f"e-{number}", stream_id="s", timestamp="t", kind=kind)


def test_events_is_one_live_view_that_cannot_be_written() -> None:
    log = EventLog()
    view = log.events
    assert len(view) == 0
    log.emit([event(0), event(1)])
    assert list(view) == [event(0), event(1)]
    assert view[-1] == event(1)
    assert view[:1] == [event(0)]
    assert isinstance(view, Sequence)
    assert not hasattr(view, "append")
    assert repr(view) == "<2 events>"


def test_past_events_are_not_replayed_to_a_subscriber() -> None:
    log, seen = EventLog(), list[AgentEvent]()
    log.emit([event(0)])
    log.subscribe(seen.append)
    log.emit([event(1)])
    assert seen == [event(1)]


def test_an_id_is_stored_once_and_delivered_each_time() -> None:
    log, seen = EventLog(), list[AgentEvent]()
    log.subscribe(seen.append)
    log.emit([event(0), event(0, "other"), event(1)])
    assert list(log.events) == [event(0), event(1)]
    assert seen == [event(0), event(0, "other"), event(1)]


def test_an_event_is_stored_before_anybody_hears_of_it() -> None:
    log, stored = EventLog(), list[int]()
    log.subscribe(lambda _: stored.append(len(log.events)))
    log.emit([event(0), event(1)])
    assert stored == [1, 2]


def test_subscribers_are_called_in_order_of_subscription() -> None:
    log, seen = EventLog(), list[str]()
    log.subscribe(lambda _: seen.append("first"))
    log.subscribe(lambda _: seen.append("second"))
    log.emit([event(0), event(1)])
    assert seen == ["first", "second", "first", "second"]


def test_who_leaves_during_a_batch_still_gets_its_rest() -> None:
    log, seen = EventLog(), list[AgentEvent]()

    def leave(received: AgentEvent) -> None:
        seen.append(received)
        off()

    off = log.subscribe(leave)
    log.emit([event(0), event(1)])
    log.emit([event(2)])
    assert seen == [event(0), event(1)]


def test_who_comes_during_a_batch_sees_only_later_batches() -> None:
    log, seen = EventLog(), list[AgentEvent]()

    def subscribe_more(_: AgentEvent) -> None:
        log.subscribe(seen.append)

    log.subscribe(subscribe_more)
    log.emit([event(0), event(1)])
    assert seen == []
    log.emit([event(2)])
    assert seen == [event(2)]


def test_a_batch_emitted_by_a_subscriber_is_delivered_within_the_outer_one() -> None:
    log, seen = EventLog(), list[str]()

    def answer(received: AgentEvent) -> None:
        if received.id == "e-0":
            log.emit([event(9)])

    log.subscribe(answer)
    log.subscribe(lambda received: seen.append(received.id))
    log.emit([event(0), event(1)])
    assert seen == ["e-9", "e-0", "e-1"]
    assert [stored.id for stored in log.events] == ["e-0", "e-9", "e-1"]


def test_the_same_callback_is_registered_once() -> None:
    log, seen = EventLog(), list[AgentEvent]()
    first, second = log.subscribe(seen.append), log.subscribe(seen.append)
    log.emit([event(0)])
    assert seen == [event(0)]
    first()
    second()
    log.emit([event(1)])
    assert seen == [event(0)]


def test_a_spent_unsubscribe_does_not_end_a_later_registration() -> None:
    log, seen = EventLog(), list[AgentEvent]()
    off = log.subscribe(seen.append)
    off()
    log.subscribe(seen.append)
    off()
    log.emit([event(0)])
    assert seen == [event(0)]


@pytest.mark.parametrize("raised", [ValueError("mine"), asyncio.CancelledError()])
def test_a_subscriber_that_raises_is_logged_and_skipped(
    raised: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    log, seen = EventLog(), list[AgentEvent]()

    def fail(_: AgentEvent) -> None:
        raise raised

    log.subscribe(fail)
    log.subscribe(seen.append)
    with caplog.at_level(logging.ERROR, logger="agent_protocol.event_log"):
        log.emit([event(0), event(1)])
    assert seen == [event(0), event(1)]
    assert [record.getMessage() for record in caplog.records] == [
        "A subscriber raised on event e-0 (custom); skipped",
        "A subscriber raised on event e-1 (custom); skipped",
    ]
    assert caplog.records[0].exc_info is not None


def test_an_interrupt_is_not_a_subscribers_failure() -> None:
    log = EventLog()

    def interrupted(_: AgentEvent) -> None:
        raise KeyboardInterrupt

    log.subscribe(interrupted)
    with pytest.raises(KeyboardInterrupt):
        log.emit([event(0)])
    assert len(log.events) == 1

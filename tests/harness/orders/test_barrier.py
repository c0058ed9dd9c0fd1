"""Threads that use a scripted model through a barrier, as tasks in a virtual loop."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from harness.cassette.format import Cassette
from harness.cassette.load import build_cassette
from harness.orders.barrier import PATIENCE_MS, Barrier
from harness.orders.order import Order
from harness.orders.places import Place
from harness.orders.shared import CLIENT, MODEL, apart
from harness.replay.models import ReplayedModel, scripted_model
from services.abort import AbortController, AbortError, AbortSignal, void
from services.clock import VirtualClock, virtual_loop
from services.model.errors import ApiError
from services.model.generator import LlmRole, ModelRequest

Act = Callable[["Session"], Coroutine[Any, Any, None]]


def order(*texts: str, chunks: bool = False) -> Order:
    return Order(tuple(map(Place.parse, texts)), chunks)


def script(*steps: dict[str, Any], **more: Any) -> Cassette:
    document = {
        "cassette": 1,
        "name": "orders/case",
        "session": {"model": "m"},
        "script": [{"send": "Go"}],
        "match": "by_role",
        "model": list(steps),
        **more,
    }
    return build_cassette(document, Path("orders/case.yaml"), Path())


def step(thread: str, text: str, **more: Any) -> dict[str, Any]:
    return {"thread": thread, "text": text, "role": "subagent", **more}


class Session:
    """The model of a run's threads, and the answers in their order."""

    def __init__(self, model: ReplayedModel, clock: VirtualClock) -> None:
        self.heard: list[str] = []
        self.clock = clock
        self._model = model

    async def ask(self, thread: str, signal: AbortSignal | None = None) -> None:
        request = ModelRequest(
            model="m",
            contents=[],
            role=LlmRole.SUBAGENT,
            prompt_id="p",
            signal=signal or AbortController().signal,
            thread=thread,
        )
        async with aclosing(await self._model.generate_content_stream(request)) as chunks:
            async for chunk in chunks:
                part = chunk["candidates"][0]["content"]["parts"][0]
                self.heard.append(f"{thread} {part['text']}")


def play(cassette: Cassette, barrier: Barrier, *acts: Act) -> Session:
    """Run `acts` in parallel; a run that stalls fails."""

    async def main() -> Session:
        clock = VirtualClock(0)
        model = barrier.model(scripted_model)(cassette, clock, lambda _: None, lambda *_: None)
        session = Session(model, clock)
        task = asyncio.current_task()
        assert task is not None
        clock.on_stall = lambda: void(task.cancel())
        clock.watch()
        async with asyncio.TaskGroup() as group:
            for act in acts:
                group.create_task(act(session))
        return session

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        return runner.run(main())


def asks(thread: str, times: int = 1) -> Act:
    async def act(session: Session) -> None:
        for _ in range(times):
            await session.ask(thread)

    return act


TWO_EACH = script(step("0/0", "a"), step("0/0", "b"), step("0/1", "c"), step("0/1", "d"))


@pytest.mark.parametrize(
    ("wanted", "heard"),
    [
        ((), ["0/0 a", "0/0 b", "0/1 c", "0/1 d"]),
        (("0/1 answer 0",), ["0/1 c", "0/1 d", "0/0 a", "0/0 b"]),
        (("0/1 answer 0", "0/0 answer 0", "0/1 answer 1"), ["0/1 c", "0/0 a", "0/1 d", "0/0 b"]),
    ],
)
def test_answers_come_in_the_order_that_is_imposed(wanted: list[str], heard: list[str]) -> None:
    barrier = Barrier(order(*wanted))

    session = play(TWO_EACH, barrier, asks("0/1", 2), asks("0/0", 2))

    assert session.heard == heard
    assert barrier.schedule.missed is None
    assert session.clock.now_ms() == 4  # one for each request: holding takes no time


def test_choices_record_the_ready_places() -> None:
    barrier = Barrier()

    play(TWO_EACH, barrier, asks("0/0", 2), asks("0/1", 2))

    ready = [" or ".join(map(str, choice.ready)) for choice in barrier.schedule.choices]
    assert ready == [
        "0/0 answer 0 or 0/1 answer 0",
        "0/0 answer 1 or 0/1 answer 0",
        "0/1 answer 0",
        "0/1 answer 1",
    ]


def test_an_impossible_order_is_left_with_a_message() -> None:
    first_heard = asyncio.Event()

    async def first(session: Session) -> None:
        await session.ask("0/0")
        first_heard.set()

    async def waits_for_the_first(session: Session) -> None:
        await first_heard.wait()
        await session.ask("0/1")

    barrier = Barrier(order("0/1 answer 0", "0/0 answer 0"))
    cassette = script(step("0/0", "a"), step("0/1", "b"))

    session = play(cassette, barrier, first, waits_for_the_first)

    assert session.heard == ["0/0 a", "0/1 b"]
    assert barrier.schedule.missed == "0/1 answer 0 was next, but 0/0 answer 0 continued"


def test_an_answer_on_its_way_is_among_the_choices() -> None:
    cassette = script(step("0/0", "a", delay_ms=PATIENCE_MS - 1), step("0/1", "b"))

    session = play(cassette, Barrier(), asks("0/0"), asks("0/1"))

    assert session.heard == ["0/0 a", "0/1 b"]


def test_the_barrier_does_not_wait_for_a_slow_answer() -> None:
    cassette = script(step("0/0", "a", delay_ms=PATIENCE_MS + 10), step("0/1", "b"))

    session = play(cassette, Barrier(), asks("0/0"), asks("0/1"))

    assert session.heard == ["0/1 b", "0/0 a"]


def test_the_barrier_waits_for_answers_only() -> None:
    async def retries_later(session: Session) -> None:
        await session.clock.sleep(5)
        await session.ask("0/0")

    cassette = script(step("0/0", "a"), step("0/1", "b"))

    session = play(cassette, Barrier(order("0/0 answer 0")), retries_later, asks("0/1"))

    assert session.heard == ["0/1 b", "0/0 a"]


def test_an_abort_releases_a_held_place_at_once() -> None:
    aborted = AbortController()
    ends: list[type[BaseException]] = []

    async def asks_in_vain(session: Session) -> None:
        try:
            await session.ask("0/1", aborted.signal)
        except AbortError as error:
            ends.append(type(error))

    async def aborts(session: Session) -> None:
        await session.ask("0/0")
        assert not ends
        aborted.abort()
        await asyncio.sleep(0)

    barrier = Barrier(order("0/0 answer 0", "0/1 answer 0"))

    session = play(script(step("0/0", "a"), step("0/1", "b")), barrier, asks_in_vain, aborts)

    assert session.heard == ["0/0 a"]
    assert ends == [AbortError]
    assert list(map(str, barrier.schedule.went)) == ["0/0 answer 0"]


def chunk(text: str) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}}]}


STREAMS = script(
    {"stream": [chunk("a"), chunk("b")], "thread": "0/0", "role": "subagent"},
    {"stream": [chunk("c"), chunk("d")], "thread": "0/1", "role": "subagent"},
)


def test_chunks_are_held_where_an_order_is_one_of_chunks() -> None:
    wanted = ("0/1 answer 0", "0/0 answer 0", "0/1 answer 0 chunk 1")

    whole = play(STREAMS, Barrier(order(*wanted)), asks("0/0"), asks("0/1"))
    parts = play(STREAMS, Barrier(order(*wanted, chunks=True)), asks("0/0"), asks("0/1"))

    assert whole.heard == ["0/1 c", "0/1 d", "0/0 a", "0/0 b"]
    assert parts.heard == ["0/1 c", "0/0 a", "0/1 d", "0/0 b"]


def fails(thread: str) -> Act:
    async def act(session: Session) -> None:
        with pytest.raises(ApiError):
            await session.ask(thread)

    return act


def test_a_failure_comes_at_its_turn_and_touches_the_models_availability() -> None:
    error = {"error": {"status": 500, "message": "no"}, "thread": "0/0", "role": "subagent"}
    cassette = script(error, step("0/1", "b"), step("0/1", "c"))
    before, after = Barrier(), Barrier(order("0/1 answer 0"))

    play(cassette, before, fails("0/0"), asks("0/1", 2))
    play(cassette, after, fails("0/0"), asks("0/1", 2))

    assert apart(before.trace, after.trace) == (MODEL,)


def test_orders_differ_where_the_client_acts_meanwhile() -> None:
    during = {"when": {"request": 0}, "do": "abort"}
    cassette = script(step("0/0", "a"), step("0/1", "b"), during=[during])
    one, other = Barrier(), Barrier(order("0/1 answer 0"))

    play(cassette, one, asks("0/0"), asks("0/1"))
    play(cassette, other, asks("0/0"), asks("0/1"))

    assert apart(one.trace, other.trace) == (CLIENT,)


def test_steps_without_a_thread_are_shared_where_they_went_elsewhere() -> None:
    def unaddressed(text: str) -> dict[str, Any]:
        return {"text": text, "role": "subagent"}

    cassette = script(*map(unaddressed, "abc"))
    one, other = Barrier(), Barrier(order("0/1 answer 0", "0/0 answer 0"))

    first = play(cassette, one, asks("0/0", 2), asks("0/1"))
    second = play(cassette, other, asks("0/0", 2), asks("0/1"))

    assert sorted(first.heard) == sorted(second.heard)
    assert apart(one.trace, other.trace) == ()
    third = Barrier(order("0/1 answer 0"))
    play(cassette, third, asks("0/1", 2), asks("0/0"))
    assert apart(one.trace, third.trace) == ("the script's steps without a thread",)

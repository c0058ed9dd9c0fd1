"""The handlers of a run."""

from __future__ import annotations

import asyncio

import pytest

from harness.cassette.format import QuestionAnswer
from harness.replay.questions import HandlerFailed, ScriptedHandlers
from harness.replay.witness import Witness
from services.abort import AbortController, AbortError
from services.clock import VirtualClock, virtual_loop
from services.interaction.interaction import Interaction
from services.interaction.questions import FallbackIntent, FallbackQuestion, LoopQuestion

LOOP = LoopQuestion(prompt_id="p")
MODEL = FallbackQuestion(failed_model="pro", fallback_model="flash", error="E")


def _interaction(witness: Witness, clock: VirtualClock, *answers: QuestionAnswer) -> Interaction:
    given = {"loop": answers, "fallback": answers}
    return Interaction(ScriptedHandlers(given, witness, clock).made())


async def test_answers_come_in_turn_and_the_last_one_repeats() -> None:
    witness = Witness()
    asking = _interaction(
        witness, VirtualClock(), QuestionAnswer(value="keep"), QuestionAnswer(value="disable")
    )

    answers = [await asking.ask(LOOP) for _ in range(3)]

    assert answers == ["keep", "disable", "disable"]
    assert witness.side_events == [
        {"event": "question", "kind": "loop", "prompt_id": "p", "answer": answer}
        for answer in answers
    ]


async def test_a_question_about_a_model_has_the_side_event_of_its_handler() -> None:
    witness = Witness()

    answer = await _interaction(witness, VirtualClock(), QuestionAnswer(value="stop")).ask(MODEL)

    assert answer == FallbackIntent.STOP
    assert witness.side_events == [
        {
            "event": "fallback-handler",
            "failed": "pro",
            "fallback": "flash",
            "error": "E",
            "intent": "stop",
        }
    ]


async def test_a_kind_without_answers_has_no_handler() -> None:
    handlers = ScriptedHandlers({"loop": ()}, Witness(), VirtualClock()).made()
    assert handlers.loop is None
    assert handlers.fallback is None


async def test_a_handler_may_fail() -> None:
    witness = Witness()
    with pytest.raises(HandlerFailed, match="closed"):
        await _interaction(witness, VirtualClock(), QuestionAnswer(fails="closed")).ask(LOOP)
    assert witness.side_events[0]["answer"] == "fails: closed"


def test_a_late_answer_takes_virtual_time() -> None:
    async def ask() -> tuple[object, int]:
        clock = VirtualClock()
        clock.watch()
        begun = clock.now_ms()
        answer = QuestionAnswer(value="keep", delay_ms=90_000)
        try:
            found = await _interaction(Witness(), clock, answer).ask(LOOP)
        finally:
            clock.unwatch()
        return found, clock.now_ms() - begun

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        assert runner.run(ask()) == ("keep", 90_000)


async def test_a_question_without_an_answer_waits_until_it_is_withdrawn() -> None:
    witness, abort = Witness(), AbortController()
    asking = _interaction(witness, VirtualClock(), QuestionAnswer(never=True))

    async def ask() -> None:
        await asking.ask(LOOP, abort.signal)

    waiting = asyncio.create_task(ask())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert len(witness.side_events) == 1
    assert not waiting.done()
    abort.abort()

    with pytest.raises(AbortError):
        await waiting
    assert witness.side_events[0]["answer"] is None

"""Questions that nothing waits for, and those that the loop detection and agents ask so."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from agent_protocol.events import AgentEnd, AgentEvent, AgentStart, ErrorEvent
from services.background import background_tasks
from services.interaction.asides import Asides
from services.interaction.interaction import Handlers, Interaction
from services.interaction.questions import (
    LoopChoice,
    LoopQuestion,
    NewAgent,
    NewAgentsChoice,
    NewAgentsQuestion,
)
from services.loop_detection.question import LoopPrompt
from services.subagents.new_agents import ask_about_new_agents
from tests.services.subagents.registries import Place

ASKED = LoopQuestion(prompt_id="p")


async def _asked(handler: Callable[[LoopQuestion], Awaitable[LoopChoice]] | None) -> list[str]:
    """Ask aside, and return the choices that came back."""
    taken: list[str] = []

    async def take(choice: LoopChoice) -> None:
        taken.append(choice)

    async with background_tasks() as tasks:
        Asides(Interaction(Handlers(loop=handler)), tasks).ask(ASKED, take)
        assert taken == []
        await tasks.settled()
    return taken


async def test_the_answer_comes_after_the_asker_went_on() -> None:
    async def keep(_: LoopQuestion) -> LoopChoice:
        return LoopChoice.KEEP

    assert await _asked(keep) == ["keep"]


async def test_without_a_surface_nothing_comes_back() -> None:
    assert await _asked(None) == []


async def test_a_handler_that_fails_has_not_answered(caplog: pytest.LogCaptureFixture) -> None:
    async def fail(_: LoopQuestion) -> LoopChoice:
        raise RuntimeError("closed")

    assert await _asked(fail) == []
    assert "a question (loop) could not be asked" in caplog.text


async def test_the_end_of_the_session_withdraws_the_question() -> None:
    ended = asyncio.Event()

    async def wait(_: LoopQuestion) -> LoopChoice:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return LoopChoice.KEEP

    async def take(_: LoopChoice) -> None:
        raise AssertionError("nothing was answered")

    async with background_tasks() as tasks:
        Asides(Interaction(Handlers(loop=wait)), tasks).ask(ASKED, take)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await tasks.end(0)
    assert ended.is_set()


LOOPED = ErrorEvent(
    id="2",
    timestamp="t",
    stream_id="s",
    status="INTERNAL",
    message="Loop detected, stopping execution",
    fatal=False,
    meta={"code": "LOOP_DETECTED"},
)
START = AgentStart(id="1", timestamp="t", stream_id="s")


def _end(reason: str) -> AgentEnd:
    return AgentEnd(id="3", timestamp="t", stream_id="s", reason=reason)


@pytest.mark.contract("P-295")
@pytest.mark.parametrize(
    ("events", "choice", "asked", "disabled"),
    [
        ([START, LOOPED, _end("completed")], LoopChoice.DISABLE, 1, 1),
        ([START, LOOPED, _end("completed")], LoopChoice.KEEP, 1, 0),
        ([START, LOOPED, _end("aborted")], LoopChoice.DISABLE, 0, 0),
        ([START, _end("completed")], LoopChoice.DISABLE, 0, 0),
        ([START, LOOPED], LoopChoice.DISABLE, 0, 0),
        ([START, LOOPED, _end("completed"), START, _end("completed")], LoopChoice.KEEP, 1, 0),
        ([START, LOOPED, START, _end("completed")], LoopChoice.DISABLE, 0, 0),
    ],
)
async def test_a_loop_is_asked_about_at_the_end_of_its_stream(
    events: list[AgentEvent], choice: LoopChoice, asked: int, disabled: int
) -> None:
    questions: list[LoopQuestion] = []
    switched: list[bool] = []

    async def answer(question: LoopQuestion) -> LoopChoice:
        questions.append(question)
        return choice

    async with background_tasks() as tasks:
        prompt = LoopPrompt(
            Asides(Interaction(Handlers(loop=answer)), tasks),
            prompt_id="p",
            disable=lambda: switched.append(True),
        )
        for event in events:
            prompt(event)
        await tasks.settled()

    assert questions == [ASKED] * asked
    assert len(switched) == disabled


@pytest.mark.contract("P-296")
@pytest.mark.parametrize(
    ("choice", "names"),
    [(NewAgentsChoice.ACKNOWLEDGE, ["one", "two"]), (NewAgentsChoice.IGNORE, [])],
)
def test_new_agents_are_one_question(
    tmp_path: Path, choice: NewAgentsChoice, names: list[str]
) -> None:
    place = Place(tmp_path)
    place.write(place.project, "one", "description: first")
    place.write(place.project, "two", "description: second")
    registry = place.loaded()
    questions: list[NewAgentsQuestion] = []

    async def answer(question: NewAgentsQuestion) -> NewAgentsChoice:
        questions.append(question)
        return choice

    async def go() -> None:
        async with background_tasks() as tasks:
            ask_about_new_agents(registry, Asides(Interaction(Handlers(new_agents=answer)), tasks))
            await tasks.settled()

    asyncio.run(go())

    (question,) = questions
    assert question.agents == (
        NewAgent(name="one", description="first"),
        NewAgent(name="two", description="second"),
    )
    assert registry.names() == names

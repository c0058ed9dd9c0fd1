"""Questions, handlers, and what happens without them."""

from __future__ import annotations

import asyncio
from dataclasses import fields
from typing import Any

import pytest

from services.abort import AbortController, AbortError
from services.interaction import questions
from services.interaction.interaction import Handlers, Interaction
from services.interaction.questions import (
    FallbackIntent,
    FallbackQuestion,
    LoopChoice,
    LoopQuestion,
    NewAgentsChoice,
    NewAgentsQuestion,
    Question,
    SignInQuestion,
    SignInSubject,
    TrustQuestion,
    ValidationQuestion,
)

ASKED = FallbackQuestion(failed_model="pro", fallback_model="flash", error="TerminalQuotaError")
SIGN_IN = SignInQuestion(subject=SignInSubject.MCP_SERVER, name="s", prompt="Sign in?")


@pytest.mark.parametrize(
    ("question", "default"),
    [
        (ASKED, None),
        (ValidationQuestion(link=None, description=None, learn_more_url=None), None),
        (LoopQuestion(prompt_id="p"), LoopChoice.KEEP),
        (TrustQuestion(folder="/ws"), None),
        (NewAgentsQuestion(agents=()), NewAgentsChoice.IGNORE),
        (SIGN_IN, False),
    ],
)
async def test_without_a_handler_the_default_is_the_answer(
    question: Question[Any], default: object
) -> None:
    interaction = Interaction()

    assert not interaction.answers(type(question))
    assert await interaction.ask(question) == default


def test_each_kind_of_question_has_a_field_for_its_handler() -> None:
    kinds = {
        each.kind
        for each in vars(questions).values()
        if isinstance(each, type) and issubclass(each, Question) and each is not Question
    }

    assert kinds == {field.name for field in fields(Handlers)}


async def test_the_handler_of_the_latest_surface_that_has_one_answers() -> None:
    async def stop(_: FallbackQuestion) -> FallbackIntent:
        return FallbackIntent.STOP

    async def upgrade(_: FallbackQuestion) -> FallbackIntent:
        return FallbackIntent.UPGRADE

    async def disable(_: LoopQuestion) -> LoopChoice:
        return LoopChoice.DISABLE

    interaction = Interaction(Handlers(fallback=stop, loop=disable))
    off = interaction.register(Handlers(fallback=upgrade))

    assert await interaction.ask(ASKED) is FallbackIntent.UPGRADE
    assert await interaction.ask(LoopQuestion(prompt_id="p")) is LoopChoice.DISABLE
    off()
    off()
    assert await interaction.ask(ASKED) is FallbackIntent.STOP


async def test_equal_handlers_are_taken_back_one_by_one() -> None:
    async def stop(_: FallbackQuestion) -> FallbackIntent:
        return FallbackIntent.STOP

    interaction = Interaction(Handlers(fallback=stop))
    off = interaction.register(Handlers(fallback=stop))
    off()

    assert interaction.answers(FallbackQuestion)


async def test_an_abort_withdraws_the_question_and_ends_its_handler() -> None:
    abort, ended = AbortController(), asyncio.Event()

    async def wait(_: FallbackQuestion) -> FallbackIntent:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return FallbackIntent.STOP

    async def ask() -> None:
        await Interaction(Handlers(fallback=wait)).ask(ASKED, abort.signal)

    asking = asyncio.create_task(ask())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    abort.abort()
    with pytest.raises(AbortError):
        await asking
    assert ended.is_set()


async def test_the_cancellation_of_the_asker_ends_the_handler() -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    async def wait(_: FallbackQuestion) -> FallbackIntent:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return FallbackIntent.STOP

    interaction = Interaction(Handlers(fallback=wait))
    asking = asyncio.create_task(interaction.ask(ASKED, AbortController().signal))
    await started.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert ended.is_set()


async def test_an_error_of_the_handler_reaches_the_asker() -> None:
    async def fail(_: FallbackQuestion) -> FallbackIntent:
        raise RuntimeError("closed")

    with pytest.raises(RuntimeError, match="closed"):
        await Interaction(Handlers(fallback=fail)).ask(ASKED, AbortController().signal)

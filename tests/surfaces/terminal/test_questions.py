"""The questions of a session as dialogs."""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from services.interaction.interaction import Interaction
from services.interaction.questions import (
    FallbackIntent,
    FallbackQuestion,
    LoopChoice,
    LoopQuestion,
    NewAgent,
    NewAgentsChoice,
    NewAgentsQuestion,
    Question,
    SignInQuestion,
    SignInSubject,
    TrustChoice,
    TrustQuestion,
    ValidationIntent,
    ValidationQuestion,
)
from surfaces.terminal.dialogs.questions import handlers
from tests.surfaces.terminal.conftest import Open, Terminal


@dataclass(frozen=True)
class Case:
    question: Question[Any]
    options: list[str]
    answers: list[Any]
    escape: Any


QUOTA = FallbackQuestion(
    failed_model="gemini-2.5-pro",
    fallback_model="gemini-2.5-pro",
    error="TerminalQuotaError",
)
BUSY = FallbackQuestion(
    failed_model="gemini-2.5-pro", fallback_model="gemini-2.5-flash", error="ModelNotFoundError"
)
CASES = {
    "no other model": Case(
        QUOTA,
        ["Keep trying", "Stop"],
        [FallbackIntent.RETRY_ONCE, FallbackIntent.RETRY_LATER],
        FallbackIntent.RETRY_LATER,
    ),
    "another model": Case(
        BUSY,
        ["Keep trying", "Switch to gemini-2.5-flash", "Stop"],
        [FallbackIntent.RETRY_ONCE, FallbackIntent.RETRY_ALWAYS, FallbackIntent.RETRY_LATER],
        FallbackIntent.RETRY_LATER,
    ),
    "validation": Case(
        ValidationQuestion(link="https://x.test", description="Verify", learn_more_url=None),
        ["Verify your account", "Change authentication"],
        [ValidationIntent.VERIFY, ValidationIntent.CHANGE_AUTH],
        ValidationIntent.CANCEL,
    ),
    "loop": Case(
        LoopQuestion(prompt_id="p"),
        ["Keep loop detection enabled (esc)", "Disable loop detection for this session"],
        [LoopChoice.KEEP, LoopChoice.DISABLE],
        LoopChoice.KEEP,
    ),
    "trust": Case(
        TrustQuestion(folder="/a/b"),
        ["Trust folder (b)", "Trust parent folder (a)", "Don't trust"],
        [TrustChoice.TRUST_FOLDER, TrustChoice.TRUST_PARENT, TrustChoice.DO_NOT_TRUST],
        None,
    ),
    "new agents": Case(
        NewAgentsQuestion(agents=(NewAgent(name="helper", description="helps"),)),
        ["Acknowledge and Enable", "Do not enable (Ask again next time)"],
        [NewAgentsChoice.ACKNOWLEDGE, NewAgentsChoice.IGNORE],
        NewAgentsChoice.IGNORE,
    ),
    "sign-in": Case(
        SignInQuestion(subject=SignInSubject.MCP_SERVER, name="s", prompt="Sign in to s?"),
        ["Yes", "No"],
        [True, False],
        False,
    ),
}


@pytest.mark.parametrize("terminal", ["legacy"], indirect=True)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_each_option_has_its_answer(terminal: Open, case: Case) -> None:
    async with terminal() as screen:
        interaction = Interaction(
            handlers(lambda: screen.app.dialogs, screen.view.turns.abort, set())
        )
        keys: list[tuple[int | str, object]] = [*enumerate(case.answers, 1)]
        if not isinstance(case.question, FallbackQuestion):
            keys.append(("escape", case.escape))
        for key, expected in keys:
            asked = asyncio.create_task(interaction.ask(case.question))
            text = await screen.shows("● 1. ")
            lines = [line.strip("│ ●") for line in text.splitlines() if ". " in line]
            assert [line for line in lines if line[:1].isdigit()] == [
                f"{number}. {label}" for number, label in enumerate(case.options, 1)
            ]
            await screen.pilot.press(str(key))

            assert await asked == expected
            await screen.shows("Type your message")


def asking_in(screen: Terminal) -> Interaction:
    """Asks in the dialogs of `screen`."""
    return Interaction(handlers(lambda: screen.app.dialogs, screen.view.turns.abort, set()))


@pytest.mark.parametrize("terminal", ["legacy"], indirect=True)
async def test_a_withdrawn_question_disappears(terminal: Open) -> None:
    async with terminal() as screen:
        interaction = Interaction(
            handlers(lambda: screen.app.dialogs, screen.view.turns.abort, set())
        )
        asked = asyncio.create_task(interaction.ask(LoopQuestion(prompt_id="p")))
        await screen.shows("A potential loop was detected")
        asked.cancel()

        await screen.hides("A potential loop")
        await screen.shows("Type your message")


@pytest.mark.parametrize("terminal", ["legacy"], indirect=True)
async def test_questions_wait_for_each_other(terminal: Open) -> None:
    async with terminal() as screen:
        interaction = Interaction(
            handlers(lambda: screen.app.dialogs, screen.view.turns.abort, set())
        )
        first = asyncio.create_task(interaction.ask(LoopQuestion(prompt_id="p")))
        await screen.shows("A potential loop was detected")
        second = asyncio.create_task(interaction.ask(TrustQuestion(folder="/a/b")))
        await screen.pilot.press("2")
        await screen.shows("Trust folder (b)")
        await screen.pilot.press("1")

        assert await first is LoopChoice.DISABLE
        assert await second is TrustChoice.TRUST_FOLDER


@pytest.mark.parametrize("terminal", ["legacy"], indirect=True)
async def test_esc_cancels_the_request_of_a_fallback_and_the_dialog_stays(terminal: Open) -> None:
    async with terminal() as screen:
        cancelled = asyncio.Event()

        async def abort() -> None:
            cancelled.set()

        interaction = Interaction(handlers(lambda: screen.app.dialogs, abort, set()))
        question = next(
            case.question for case in CASES.values() if isinstance(case.question, FallbackQuestion)
        )
        asked = asyncio.create_task(interaction.ask(question))
        await screen.shows("● 1. ")
        await screen.pilot.press("escape")
        await cancelled.wait()
        asked.cancel()
        await asyncio.wait([asked])
        await screen.shows("● 1. ")
        await screen.pilot.press("1")

        await screen.shows("Type your message")

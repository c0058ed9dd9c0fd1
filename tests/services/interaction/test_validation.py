"""The question about an account that must be verified."""

from __future__ import annotations

import pytest

from services.abort import AbortController, AbortError
from services.clock import VirtualClock
from services.ids import FixedRandom
from services.interaction.interaction import Handlers, Interaction
from services.interaction.questions import ValidationIntent, ValidationQuestion
from services.interaction.validation import account_validation
from services.model.errors import ValidationRequiredError
from services.model.google_errors import GoogleError
from services.model.retry import Retry

pytestmark = pytest.mark.contract("P-293", "P-294")


def _refused() -> ValidationRequiredError:
    return ValidationRequiredError(
        "verify",
        GoogleError(code=403, message="verify", details=()),
        validation_link="https://verify.example",
        validation_description="Verify",
        learn_more_url="https://help.example",
    )


async def _ask_model(answers: list[ValidationIntent | None]) -> tuple[str, list[object]]:
    """Make a request that is refused until the answers are used up."""
    asked: list[ValidationQuestion] = []
    failures = [_refused() for _ in answers]

    async def answer(question: ValidationQuestion) -> ValidationIntent | None:
        asked.append(question)
        return answers[len(asked) - 1]

    async def request() -> str:
        if failures:
            raise failures.pop(0)
        return "answer"

    interaction, signal = Interaction(Handlers(validation=answer)), AbortController().signal
    retry = Retry(
        clock=VirtualClock(),
        rng=FixedRandom(0.5),
        signal=signal,
        on_validation_required=account_validation(interaction, signal),
    )
    return await retry.run(request), list(asked)


async def test_a_verified_account_gets_its_answer() -> None:
    answer, asked = await _ask_model([ValidationIntent.VERIFY, ValidationIntent.VERIFY])

    assert answer == "answer"
    question = ValidationQuestion(
        link="https://verify.example",
        description="Verify",
        learn_more_url="https://help.example",
    )
    assert asked == [question, question]


@pytest.mark.parametrize("intent", [ValidationIntent.CANCEL, ValidationIntent.CHANGE_AUTH, None])
async def test_any_other_answer_raises_the_error_as_dealt_with(
    intent: ValidationIntent | None,
) -> None:
    with pytest.raises(ValidationRequiredError) as raised:
        await _ask_model([intent])
    assert raised.value.user_handled


def test_without_a_surface_there_is_no_handler() -> None:
    assert account_validation(Interaction(), AbortController().signal) is None


async def test_an_abort_withdraws_the_question() -> None:
    abort = AbortController()

    async def answer(_: ValidationQuestion) -> ValidationIntent:
        abort.abort()
        return ValidationIntent.VERIFY

    async def request() -> str:
        raise _refused()

    interaction = Interaction(Handlers(validation=answer))
    retry = Retry(
        clock=VirtualClock(),
        rng=FixedRandom(0.5),
        signal=abort.signal,
        on_validation_required=account_validation(interaction, abort.signal),
    )
    with pytest.raises(AbortError):
        await retry.run(request)

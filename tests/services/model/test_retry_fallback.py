from dataclasses import dataclass
from typing import Any

import pytest

from services.model.errors import (
    ApiError,
    ModelNotFoundError,
    NetworkError,
    RetryableQuotaError,
    TerminalQuotaError,
    ValidationRequiredError,
)
from tests.services.model.retrying import answering, capacity, quota, run, server_error, validation


def test_a_fallback_lets_a_missing_model_start_over_without_waiting() -> None:
    asked, fallback = answering("other-model")
    outcome = run(ApiError.from_parts(404, "gone"), "fine", on_persistent_429=fallback)

    assert (outcome.result, outcome.waits) == ("fine", [])
    assert isinstance(asked[0][0], ModelNotFoundError)


@pytest.mark.parametrize("answer", [False, None, RuntimeError("broken handler")])
def test_without_a_fallback_the_classified_error_is_raised(answer: object) -> None:
    asked, fallback = answering(answer)
    outcome = run(quota("400s"), on_persistent_429=fallback)

    assert (len(asked), outcome.calls) == (1, 1)
    assert isinstance(outcome.error, TerminalQuotaError)


def test_capacity_is_retried_twice_silently_and_then_asked_about() -> None:
    asked, fallback = answering(False)
    outcome = run(capacity(), on_persistent_429=fallback)

    assert (outcome.waits, outcome.calls, len(asked)) == ([1100, 3300], 3, 1)
    assert isinstance(outcome.error, TerminalQuotaError)


def test_a_fallback_brings_no_further_silent_retries() -> None:
    asked, fallback = answering(True, True)
    outcome = run(*[capacity()] * 4, "fine", on_persistent_429=fallback)

    assert (outcome.result, outcome.waits, len(asked)) == ("fine", [1100, 3300], 2)


def test_silent_capacity_retries_wait_as_long_as_the_server_wants() -> None:
    _, fallback = answering(False)

    assert run(capacity("7s"), on_persistent_429=fallback).waits == [7700, 7700]


def test_capacity_ends_after_two_silent_retries_where_there_is_no_other_model() -> None:
    async def no_fallback(_error: Exception) -> bool | None:
        return None

    outcome = run(capacity(), on_persistent_429=no_fallback)

    assert (outcome.waits, outcome.calls) == ([1100, 3300], 3)
    assert isinstance(outcome.error, TerminalQuotaError)


def test_unattended_capacity_is_retried_like_any_quota() -> None:
    outcome = run(capacity(), max_attempts=3)

    assert outcome.waits == [5000, 10_000]
    assert isinstance(outcome.error, RetryableQuotaError)
    assert outcome.error.message == "full"


def test_the_message_alone_can_mark_a_lack_of_capacity() -> None:
    outcome = run(ApiError.from_parts(503, "Capacity exceeded"), "fine")

    assert (outcome.result, outcome.waits) == ("fine", [5000])


def test_used_up_attempts_ask_the_fallback_and_start_over() -> None:
    asked, fallback = answering("next", False)
    outcome = run(quota(), max_attempts=2, on_persistent_429=fallback)

    assert (outcome.calls, len(asked)) == (4, 2)
    assert outcome.waits == [5000, 5000]
    assert isinstance(outcome.error, RetryableQuotaError)


def test_a_server_error_asks_the_fallback_with_the_error_as_it_is() -> None:
    error = server_error()
    asked, fallback = answering(False)
    outcome = run(error, max_attempts=2, on_persistent_429=fallback)

    assert asked == [(error,)]
    assert outcome.error is error


def test_a_network_failure_never_reaches_the_fallback() -> None:
    asked, fallback = answering()
    outcome = run(NetworkError("r", code="ECONNRESET"), max_attempts=3, on_persistent_429=fallback)

    assert (outcome.waits, asked) == ([5000, 10_000], [])


def test_a_verified_account_starts_over() -> None:
    asked, handler = answering("verify")
    outcome = run(validation(), "fine", on_validation_required=handler)

    assert (outcome.result, outcome.waits) == ("fine", [])
    assert isinstance(asked[0][0], ValidationRequiredError)


@pytest.mark.parametrize(
    ("answers", "handled"), [(["cancel"], True), ([RuntimeError("x")], False), (None, False)]
)
def test_an_unverified_account_raises_and_records_whether_the_user_was_asked(
    answers: list[Any] | None, handled: bool
) -> None:
    handler = None if answers is None else answering(*answers)[1]
    outcome = run(validation(), on_validation_required=handler)

    assert isinstance(outcome.error, ValidationRequiredError)
    assert (outcome.error.user_handled, outcome.calls) == (handled, 1)


@dataclass
class Policy:
    """A model's policy, which counts the answers it received."""

    max_attempts: int | None
    answered: int = 0

    def mark_healthy(self) -> None:
        self.answered += 1


def test_a_policys_limit_goes_before_the_callers() -> None:
    assert run(quota(), max_attempts=9, availability_context=lambda: Policy(2)).calls == 2
    assert run(quota(), max_attempts=4, availability_context=lambda: Policy(None)).calls == 4
    assert run(quota(), max_attempts=4, availability_context=lambda: None).calls == 4


def test_a_fallback_brings_the_limit_of_the_model_it_chose() -> None:
    limits = [2]

    async def fall_back(_error: Exception) -> bool:
        limits.append(3)
        return len(limits) == 2

    outcome = run(
        quota(),
        availability_context=lambda: Policy(limits[-1]),
        on_persistent_429=fall_back,
    )

    assert (outcome.calls, len(limits)) == (2 + 3, 3)


def test_a_good_answer_clears_the_model_that_gave_it() -> None:
    before, now = Policy(1), Policy(5)
    asked, handler = answering(True)

    outcome = run(
        quota(),
        "unwanted",
        "fine",
        rejected=lambda answer: answer == "unwanted",
        availability_context=lambda: now if asked else before,
        on_persistent_429=handler,
    )

    assert outcome.result == "fine"
    assert (before.answered, now.answered) == (0, 1)

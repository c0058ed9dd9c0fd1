import asyncio

import pytest

from services.abort import AbortController, AbortError
from services.clock import VirtualClock, virtual_loop
from services.ids import FixedRandom
from services.model.errors import (
    ApiError,
    ModelError,
    NetworkError,
    RetryableQuotaError,
    RetryLimitError,
    TerminalQuotaError,
    is_cancellation,
)
from services.model.retry import Retry
from tests.services.model.retrying import quota, run, server_error


def test_a_first_success_is_the_result() -> None:
    outcome = run("fine")

    assert (outcome.result, outcome.calls, outcome.waits) == ("fine", 1, [])


def test_ten_500s_wait_longer_and_longer_and_raise_the_last() -> None:
    error = server_error()
    outcome = run(error)

    assert outcome.waits == [5000, 10_000, 20_000, *[30_000] * 6]
    assert outcome.elapsed_ms == sum(outcome.waits)
    assert (outcome.error, outcome.calls) == (error, 10)
    assert outcome.observed[0] == (1, '{"error":{"code":500,"message":"internal"}}')
    assert [attempt for attempt, _ in outcome.observed] == list(range(1, 10))


@pytest.mark.parametrize(
    ("delay", "waits"),
    [("2s", [5500, 11_000, 22_000]), ("60s", [66_000] * 3)],
)
def test_a_delay_from_the_server_is_a_minimum_above_the_cap(delay: str, waits: list[float]) -> None:
    outcome = run(quota(delay), max_attempts=4)

    assert outcome.waits == waits
    assert isinstance(outcome.error, RetryableQuotaError)
    assert outcome.error.message == f"slow\nSuggested retry after {delay}."


def test_delays_of_both_kinds_share_one_doubling() -> None:
    outcome = run(quota("7s"), ApiError.from_parts(429, "Please retry in 2.5s"), quota(), "fine")

    assert outcome.waits == [7700, 15_400, 28_000]


@pytest.mark.parametrize(("rng", "first", "asked"), [(0.0, 3500, 10_000), (1.0, 6500, 12_000)])
def test_jitter_is_thirty_percent_either_way_or_twenty_on_top(
    rng: float, first: float, asked: float
) -> None:
    assert run(server_error(), "fine", rng=rng).waits == [first]
    assert run(quota("10s"), "fine", rng=rng).waits == [asked]


def test_a_terminal_quota_is_raised_at_once() -> None:
    outcome = run(quota("400s"))

    assert (type(outcome.error), outcome.calls) == (TerminalQuotaError, 1)


def test_the_raised_error_names_the_one_it_was_made_of() -> None:
    original = quota("400s")

    assert run(original).error is not original
    error = run(original).error
    assert error is not None
    assert error.__cause__ is original


def test_an_abort_by_name_is_not_retried_whatever_its_code() -> None:
    outcome = run(NetworkError("cut off", name="AbortError", code="ECONNRESET"), "fine")

    assert (outcome.calls, outcome.waits) == (1, [])
    assert outcome.error is not None
    assert is_cancellation(outcome.error)


def test_a_server_error_is_retried_whatever_the_setting_for_fetch_errors() -> None:
    outcome = run(server_error(), "fine", retry_fetch_errors=False)

    assert outcome.result == "fine"


@pytest.mark.parametrize("retry_fetch_errors", [True, False])
def test_failures_of_fetching_follow_the_setting(retry_fetch_errors: bool) -> None:
    error = NetworkError("fetch failed", name="TypeError")
    outcome = run(error, max_attempts=3, retry_fetch_errors=retry_fetch_errors)

    assert outcome.calls == (3 if retry_fetch_errors else 1)
    assert outcome.error is error


@pytest.mark.parametrize("error", [ApiError.from_parts(400, "bad"), ValueError("bug")])
def test_an_error_that_is_not_retryable_is_raised_unchanged(error: Exception) -> None:
    outcome = run(error)

    assert (outcome.error, outcome.calls) == (error, 1)


def test_an_unwanted_answer_is_asked_for_again() -> None:
    outcome = run("bad", "good", rejected="bad".__eq__)

    assert (outcome.result, outcome.waits) == ("good", [5000])
    assert outcome.observed == [(1, "Invalid content")]


def test_unwanted_answers_wait_after_the_last_attempt_too() -> None:
    outcome = run("bad", max_attempts=2, rejected="bad".__eq__)

    assert isinstance(outcome.error, RetryLimitError)
    assert str(outcome.error) == "Retry attempts exhausted"
    assert outcome.waits == [5000, 10_000]


@pytest.mark.parametrize("attempts", [0, -1])
def test_attempts_must_be_positive(attempts: int) -> None:
    outcome = run("fine", max_attempts=attempts)

    assert isinstance(outcome.error, RetryLimitError)
    assert str(outcome.error) == "maxAttempts must be a positive number."
    assert outcome.calls == 0


def test_an_aborted_signal_prevents_the_first_attempt() -> None:
    controller = AbortController()
    controller.abort()
    outcome = run("fine", controller=controller)

    assert isinstance(outcome.error, AbortError)
    assert (str(outcome.error), outcome.calls) == ("Aborted", 0)


def test_with_asks_after_abort_the_call_is_made_after_an_abort() -> None:
    controller = AbortController()
    controller.abort()
    answered = run("fine", controller=controller, asks_after_abort=True)
    waited = run(server_error(), AbortError(), abort_after=1200, asks_after_abort=True)

    assert (answered.result, answered.calls) == ("fine", 1)
    assert isinstance(waited.error, AbortError)
    assert (waited.elapsed_ms, waited.calls) == (1200, 2)


def test_a_wait_ends_with_the_abort() -> None:
    outcome = run(server_error(), abort_after=1200)

    assert isinstance(outcome.error, AbortError)
    assert str(outcome.error) == "Aborted"
    assert (outcome.elapsed_ms, outcome.calls) == (1200, 1)


def test_the_calls_own_abort_comes_through_unchanged() -> None:
    abort = AbortError("stopped by the model layer")

    assert run(abort).error is abort


@pytest.mark.parametrize("ends_badly", [True, False])
def test_any_outcome_after_the_abort_raises_an_abort(ends_badly: bool) -> None:
    controller = AbortController()
    waits: list[float] = []

    async def call() -> str:
        controller.abort()
        if ends_badly:
            raise ApiError(400, "after the abort")
        return "bad"

    async def main() -> None:
        retry = Retry(
            clock=VirtualClock(),
            rng=FixedRandom(),
            signal=controller.signal,
            on_retry=lambda _attempt, _error, delay_ms: waits.append(delay_ms),
        )
        await retry.run(call, should_retry_on_content="bad".__eq__)

    with (
        asyncio.Runner(loop_factory=virtual_loop) as runner,
        pytest.raises(AbortError, match="Aborted"),
    ):
        runner.run(main())
    assert waits == []


def test_an_unclassified_error_is_retried_after_the_delay_in_its_message() -> None:
    outcome = run(ModelError("Please retry in 2s"), "fine")

    assert (outcome.result, outcome.waits) == ("fine", [5500])

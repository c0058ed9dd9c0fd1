import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from services.abort import AbortController, AbortError
from services.clock import VIRTUAL_EPOCH_MS, VirtualClock, virtual_loop
from services.ids import FixedRandom
from services.model.errors import (
    ApiError,
    ModelError,
    ModelNotFoundError,
    NetworkError,
    RetryableQuotaError,
    RetryLimitError,
    TerminalQuotaError,
    ValidationRequiredError,
    is_cancellation,
)
from services.model.retry import retry_with_backoff

RPC = "type.googleapis.com/google.rpc."
TIP = (
    "\n\n💡 Tip: The shared Google Cloud project is experiencing high traffic and has hit its "
    "quota limits. To get dedicated, uninterrupted quota, please set your own Google Cloud "
    "project by running:\n  gcloud config set project [PROJECT_ID]\n"
    "or by setting the GOOGLE_CLOUD_PROJECT environment variable."
)


def quota(delay: str | None = None) -> ApiError:
    details = None if delay is None else [{"@type": RPC + "RetryInfo", "retryDelay": delay}]
    return ApiError.from_parts(429, "slow", details=details)


def capacity(delay: str | None = None) -> ApiError:
    info = {"@type": RPC + "ErrorInfo", "reason": "MODEL_CAPACITY_EXHAUSTED"}
    retry = [] if delay is None else [{"@type": RPC + "RetryInfo", "retryDelay": delay}]
    return ApiError.from_parts(429, "full", details=[info, *retry])


def server_error() -> ApiError:
    return ApiError.from_parts(500, "internal")


def validation() -> ApiError:
    info = {
        "@type": RPC + "ErrorInfo",
        "reason": "VALIDATION_REQUIRED",
        "domain": "cloudcode-pa.googleapis.com",
    }
    return ApiError.from_parts(403, "verify", details=[info])


@dataclass
class Outcome:
    """What a run came to; the last of `answers` is repeated for ever."""

    answers: list[Any]
    result: Any = None
    error: Exception | None = None
    calls: int = 0
    waits: list[float] = field(default_factory=list)
    observed: list[tuple[int, str]] = field(default_factory=list)
    elapsed_ms: int = 0


def run(
    *answers: Any,
    rng: float = 0.5,
    abort_after: float | None = None,
    controller: AbortController | None = None,
    **options: Any,
) -> Outcome:
    outcome = Outcome(list(answers))
    clock = VirtualClock()
    controller = controller or AbortController()

    async def call() -> Any:
        answer = outcome.answers[min(outcome.calls, len(outcome.answers) - 1)]
        outcome.calls += 1
        if isinstance(answer, Exception):
            raise answer
        return answer

    def observe(attempt: int, error: Exception, delay_ms: float) -> None:
        outcome.observed.append((attempt, str(error)))
        outcome.waits.append(delay_ms)

    async def aborter(delay_ms: float) -> None:
        await clock.sleep(delay_ms)
        controller.abort()

    async def main() -> None:
        tasks = [] if abort_after is None else [asyncio.create_task(aborter(abort_after))]
        try:
            outcome.result = await retry_with_backoff(
                call,
                clock=clock,
                rng=FixedRandom(rng),
                signal=controller.signal,
                on_retry=observe,
                **options,
            )
        except Exception as error:
            outcome.error = error
        for task in tasks:
            task.cancel()

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        runner.run(main())
    outcome.elapsed_ms = clock.now_ms() - VIRTUAL_EPOCH_MS
    return outcome


def answering(*answers: Any) -> tuple[list[tuple[Any, ...]], Callable[..., Awaitable[Any]]]:
    """A handler that gives these answers in turn, and what it was asked."""
    asked: list[tuple[Any, ...]] = []
    replies: Iterator[Any] = iter(answers)

    async def handler(*arguments: Any) -> Any:
        asked.append(arguments)
        reply = next(replies)
        if isinstance(reply, Exception):
            raise reply
        return reply

    return asked, handler


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
def test_a_servers_delay_is_a_minimum_that_the_cap_does_not_shorten(
    delay: str, waits: list[float]
) -> None:
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


def test_a_fallback_lets_a_missing_model_start_over_without_waiting() -> None:
    asked, fallback = answering("other-model")
    outcome = run(
        ApiError.from_parts(404, "gone"), "fine", on_persistent_429=fallback, auth_type="vertex-ai"
    )

    assert (outcome.result, outcome.waits) == ("fine", [])
    auth_type, error = asked[0]
    assert auth_type == "vertex-ai"
    assert isinstance(error, ModelNotFoundError)


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


def test_a_fallback_does_not_buy_more_silent_retries() -> None:
    asked, fallback = answering(True, True)
    outcome = run(*[capacity()] * 4, "fine", on_persistent_429=fallback)

    assert (outcome.result, outcome.waits, len(asked)) == ("fine", [1100, 3300], 2)


def test_silent_capacity_retries_wait_as_long_as_the_server_wants() -> None:
    _, fallback = answering(False)

    assert run(capacity("7s"), on_persistent_429=fallback).waits == [7700, 7700]


def test_an_abort_by_name_is_not_retried_whatever_its_code() -> None:
    outcome = run(NetworkError("cut off", name="AbortError", code="ECONNRESET"), "fine")

    assert (outcome.calls, outcome.waits) == (1, [])
    assert outcome.error is not None
    assert is_cancellation(outcome.error)


def test_capacity_ends_after_two_silent_retries_where_there_is_no_other_model() -> None:
    async def no_fallback(_auth_type: str | None, _error: Exception) -> bool | None:
        return None

    outcome = run(capacity(), on_persistent_429=no_fallback)

    assert (outcome.waits, outcome.calls) == ([1100, 3300], 3)
    assert isinstance(outcome.error, TerminalQuotaError)


def test_unattended_capacity_is_retried_like_any_quota() -> None:
    outcome = run(capacity(), max_attempts=3)

    assert outcome.waits == [5000, 10_000]
    assert isinstance(outcome.error, RetryableQuotaError)
    assert outcome.error.message == "full"


def test_capacity_is_told_by_the_message_as_well() -> None:
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

    assert asked == [(None, error)]
    assert outcome.error is error


def test_a_server_error_is_not_the_settings_business() -> None:
    outcome = run(server_error(), "fine", retry_fetch_errors=False)

    assert outcome.result == "fine"


@pytest.mark.parametrize("retry_fetch_errors", [True, False])
def test_failures_of_fetching_follow_the_setting(retry_fetch_errors: bool) -> None:
    error = NetworkError("fetch failed", name="TypeError")
    outcome = run(error, max_attempts=3, retry_fetch_errors=retry_fetch_errors)

    assert outcome.calls == (3 if retry_fetch_errors else 1)
    assert outcome.error is error


def test_a_network_failure_never_reaches_the_fallback() -> None:
    asked, fallback = answering()
    outcome = run(NetworkError("r", code="ECONNRESET"), max_attempts=3, on_persistent_429=fallback)

    assert (outcome.waits, asked) == ([5000, 10_000], [])


@pytest.mark.parametrize("error", [ApiError.from_parts(400, "bad"), ValueError("bug")])
def test_what_is_not_retryable_is_raised_unchanged(error: Exception) -> None:
    outcome = run(error)

    assert (outcome.error, outcome.calls) == (error, 1)


def test_a_verified_account_starts_over() -> None:
    asked, handler = answering("verify")
    outcome = run(validation(), "fine", on_validation_required=handler)

    assert (outcome.result, outcome.waits) == ("fine", [])
    assert isinstance(asked[0][0], ValidationRequiredError)


@pytest.mark.parametrize(
    ("answers", "handled"), [(["cancel"], True), ([RuntimeError("x")], False), (None, False)]
)
def test_an_unverified_account_is_raised_and_knows_whether_somebody_was_asked(
    answers: list[Any] | None, handled: bool
) -> None:
    handler = None if answers is None else answering(*answers)[1]
    outcome = run(validation(), on_validation_required=handler)

    assert isinstance(outcome.error, ValidationRequiredError)
    assert (outcome.error.user_handled, outcome.calls) == (handled, 1)


def test_an_unwanted_answer_is_asked_for_again() -> None:
    outcome = run("bad", "good", should_retry_on_content="bad".__eq__)

    assert (outcome.result, outcome.waits) == ("good", [5000])
    assert outcome.observed == [(1, "Invalid content")]


def test_unwanted_answers_wait_after_the_last_attempt_too() -> None:
    outcome = run("bad", max_attempts=2, should_retry_on_content="bad".__eq__)

    assert isinstance(outcome.error, RetryLimitError)
    assert str(outcome.error) == "Retry attempts exhausted"
    assert outcome.waits == [5000, 10_000]


@pytest.mark.parametrize("attempts", [0, -1])
def test_attempts_must_be_positive(attempts: int) -> None:
    outcome = run("fine", max_attempts=attempts)

    assert isinstance(outcome.error, RetryLimitError)
    assert str(outcome.error) == "maxAttempts must be a positive number."
    assert outcome.calls == 0


def test_the_limit_is_read_anew_each_time_and_ten_where_there_is_none() -> None:
    limits = iter([9, 9, 9, 2, 2])

    assert run(server_error(), max_attempts=lambda: next(limits)).calls == 2
    assert run(server_error(), max_attempts=None).calls == 10
    assert run(server_error(), max_attempts=lambda: None).calls == 10


def test_an_aborted_signal_lets_nothing_start() -> None:
    controller = AbortController()
    controller.abort()
    outcome = run("fine", controller=controller)

    assert isinstance(outcome.error, AbortError)
    assert (str(outcome.error), outcome.calls) == ("Aborted", 0)


def test_a_call_that_finds_out_itself_is_made_after_the_abort_too() -> None:
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
def test_whatever_a_call_comes_to_after_the_abort_is_an_abort(ends_badly: bool) -> None:
    controller = AbortController()
    waits: list[float] = []

    async def call() -> str:
        controller.abort()
        if ends_badly:
            raise ApiError(400, "never told")
        return "bad"

    async def main() -> None:
        await retry_with_backoff(
            call,
            clock=VirtualClock(),
            rng=FixedRandom(),
            signal=controller.signal,
            should_retry_on_content="bad".__eq__,
            on_retry=lambda _attempt, _error, delay_ms: waits.append(delay_ms),
        )

    with (
        asyncio.Runner(loop_factory=virtual_loop) as runner,
        pytest.raises(AbortError, match="Aborted"),
    ):
        runner.run(main())
    assert waits == []


@pytest.mark.parametrize(
    "auth_type",
    ["oauth-personal", "compute-default-credentials", "LOGIN_WITH_GOOGLE", "COMPUTE_ADC"],
)
def test_users_of_the_shared_project_get_a_tip_once(auth_type: str) -> None:
    outcome = run(quota("400s"), auth_type=auth_type)

    assert isinstance(outcome.error, TerminalQuotaError)
    assert outcome.error.message == "slow\nSuggested retry after 400s." + TIP
    again = run(outcome.error, auth_type=auth_type)
    assert str(again.error).count("💡 Tip:") == 1


@pytest.mark.parametrize(
    "options",
    [
        {"auth_type": "gemini-api-key"},
        {"auth_type": None},
        {"auth_type": "oauth-personal", "variables": {"GOOGLE_CLOUD_PROJECT": "mine"}},
        {"auth_type": "oauth-personal", "variables": {"GOOGLE_CLOUD_PROJECT_ID": "mine"}},
    ],
)
def test_users_of_their_own_project_get_no_tip(options: dict[str, Any]) -> None:
    assert str(run(quota("400s"), **options).error) == "slow\nSuggested retry after 400s."


def test_an_empty_project_is_none_and_other_errors_get_no_tip() -> None:
    options: dict[str, Any] = {
        "auth_type": "oauth-personal",
        "variables": {"GOOGLE_CLOUD_PROJECT": ""},
    }

    assert str(run(quota(), max_attempts=1, **options).error) == "slow" + TIP
    assert str(run(ApiError.from_parts(404, "gone"), **options).error) == "gone"


def test_an_error_of_no_class_of_ours_is_still_judged_by_its_words() -> None:
    outcome = run(ModelError("Please retry in 2s"), "fine")

    assert (outcome.result, outcome.waits) == ("fine", [5500])


@dataclass
class Policy:
    """A model's policy, and whether it has been told of an answer."""

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

    async def fall_back(_auth_type: str | None, _error: Exception) -> bool:
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
        should_retry_on_content=lambda answer: answer == "unwanted",
        availability_context=lambda: now if asked else before,
        on_persistent_429=handler,
    )

    assert outcome.result == "fine"
    assert (before.answered, now.answered) == (0, 1)

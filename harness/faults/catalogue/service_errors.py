"""Faults of services in what becomes of a failing model."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import all_of, replaced
from services.model.errors import RetryableQuotaError

__all__ = ["FAULTS"]

_errors = partial(Fault, site=Site.SERVICE, behaviour=Behaviour.ERRORS)


def _blind_for_server_errors(status_of: Any) -> Any:
    def broken(error: Any) -> Any:
        status = status_of(error)
        return None if isinstance(status, int) and 500 <= status < 600 else status

    return broken


def _retrying_bad_requests(is_retryable: Any) -> Any:
    def broken(error: Any, retry_fetch_errors: bool) -> Any:
        return getattr(error, "status", None) == 400 or is_retryable(error, retry_fetch_errors)

    return broken


def _without_delay(classify: Any) -> Any:
    def broken(error: Any) -> Any:
        classified = classify(error)
        if getattr(classified, "retry_delay_ms", None) is not None:
            classified.retry_delay_ms = None
        return classified

    return broken


def _twice(classify: Any) -> Any:
    def broken(error: Any) -> Any:
        classified = classify(error)
        delay_ms = getattr(classified, "retry_delay_ms", None)
        if delay_ms is not None and classified is not error:
            classified.retry_delay_ms = 2 * delay_ms
        return classified

    return broken


def _milliseconds_as_seconds(seconds: Any) -> Any:
    def broken(duration: str) -> Any:
        return seconds(duration.replace("ms", "s"))

    return broken


def _daily_for_a_minute(by_details: Any) -> Any:
    def broken(error: Any) -> Any:
        found = by_details(error)
        if "daily quota" not in found.message:
            return found
        return RetryableQuotaError(f"{error.message}\nSuggested retry after 60s.", error, 60)

    return broken


def _not_doubling(wait: Any) -> Any:
    async def broken(self: Any, failure: Any, delay_ms: float) -> None:
        before = self.delay_ms
        await wait(self, failure, delay_ms)
        self.delay_ms = before

    return broken


def _one_attempt_more(may_try: Any) -> Any:
    def broken(self: Any) -> Any:
        self.attempt -= 1
        try:
            return may_try(self)
        finally:
            self.attempt += 1

    return broken


def _counting_from_zero(prepare: Any) -> Any:
    def broken(self: Any) -> None:
        prepare(self)
        told = self.on_retry
        if told is not None:
            self.on_retry = lambda attempt, *more: told(attempt - 1, *more)

    return broken


def _deaf_to_aborts(_: Any) -> Any:
    async def broken(clock: Any, delay_ms: float, signal: Any) -> None:
        await clock.sleep(delay_ms)

    return broken


def _not_one(causes: int) -> int:
    return 0


def _without_unavailable(names: Any) -> Any:
    return {status: name for status, name in names.items() if status != 503}


def _accepting_no_finish(validate: Any) -> Any:
    def broken(self: Any, text: str) -> None:
        if self._finish_reason is not None or not text:
            validate(self, text)

    return broken


FAULTS: Final = (
    _errors(
        name="server-errors-not-retried",
        says="A 500 or 503 ends the turn at once.",
        origin="a retry rule for 429 alone, as client libraries have it",
        breaks=lambda: all_of(
            replaced("services.model.retry:error_status", _blind_for_server_errors),
            replaced("services.model.classification:error_status", _blind_for_server_errors),
        ),
    ),
    _errors(
        name="bad-request-retried",
        says="A 400 is tried again as if the same request could succeed.",
        origin="a retry decorator around everything that the client raises",
        breaks=lambda: replaced("services.model.retry:is_retryable_error", _retrying_bad_requests),
    ),
    _errors(
        name="retry-delay-ignored",
        says="The wait that the API asks for is not heeded; our own backoff takes its place.",
        origin="a framework's retry options, which know a schedule and no answer",
        breaks=lambda: replaced("services.model.retry:classify_google_error", _without_delay),
    ),
    _errors(
        name="retry-delay-doubled",
        says="The wait that the API asks for is made twice as long.",
        origin="a delay doubled before it is used instead of after",
        breaks=lambda: replaced("services.model.retry:classify_google_error", _twice),
    ),
    _errors(
        name="milliseconds-read-as-seconds",
        says="A suggested wait in milliseconds is taken for one in seconds.",
        origin="a parser of durations that knows one unit",
        breaks=lambda: replaced("services.model.classification:_seconds", _milliseconds_as_seconds),
    ),
    _errors(
        name="daily-quota-retried-each-minute",
        says="A used-up daily quota is waited for as one that comes back in a minute.",
        origin="quota ids that are compared with `Per` only",
        breaks=lambda: replaced("services.model.classification:_by_details", _daily_for_a_minute),
    ),
    _errors(
        name="backoff-does-not-grow",
        says="Every wait between attempts is as long as the first.",
        origin="a new backoff object for every attempt",
        breaks=lambda: replaced("services.model.retry:_Run._wait", _not_doubling),
    ),
    _errors(
        name="one-attempt-too-many",
        says="A model is tried once more than the limit says.",
        origin="a limit on retries taken for one on attempts",
        breaks=lambda: replaced("services.model.retry:_Run.may_try", _one_attempt_more),
    ),
    _errors(
        name="retries-counted-from-zero",
        says="Notices number the attempts from 0.",
        origin="the attempt's index told instead of its number",
        breaks=lambda: replaced("services.model.retry:_Run.__post_init__", _counting_from_zero),
    ),
    _errors(
        name="abort-waits-out-backoff",
        says="An abort during a wait between attempts takes effect when the wait is over.",
        origin="a plain sleep in the loop; the published core's utility questions had it",
        breaks=lambda: replaced("services.model.retry:sleep_or_abort", _deaf_to_aborts),
    ),
    _errors(
        name="causes-not-looked-at",
        says="A network failure that is only an error's cause is not recognised.",
        origin="a client library that wraps what the socket raised",
        breaks=lambda: replaced("services.model.classification:_MAX_CAUSES", _not_one),
    ),
    _errors(
        name="unavailable-told-as-internal",
        says="A 503 is told to clients as INTERNAL.",
        origin="a table of statuses that was copied without some of its rows",
        breaks=lambda: replaced("services.presentation.errors:_STATUS_NAMES", _without_unavailable),
    ),
    _errors(
        name="missing-finish-accepted",
        says="A stream that broke off without a finish reason counts as an answer.",
        origin="a stream's end taken for the answer's",
        breaks=lambda: replaced(
            "services.model.stream:StreamAssembler._validate", _accepting_no_finish
        ),
    ),
)

"""Trying again: the connection retry around every question to a model.

Two doubling delays share one variable: our own, jittered by 30 % either way and capped, and the
one the API asks for, which is a minimum (so up to 20 % more) and which the cap does not shorten.
Source: core `utils/retry.ts`; the order of the checks is observable and is its order.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, NoReturn, Protocol, TypeVar

from services.abort import AbortError, AbortSignal
from services.clock import Clock, sleep_or_abort
from services.ids import RandomSource
from services.model.classification import (
    classify_google_error,
    is_capacity_message,
    is_retryable_error,
)
from services.model.errors import (
    ModelError,
    ModelNotFoundError,
    RetryableQuotaError,
    RetryLimitError,
    TerminalQuotaError,
    ValidationRequiredError,
    error_name,
    error_status,
)
from services.model.quota_tip import enrich_quota_error

__all__ = [
    "DEFAULT_MAX_ATTEMPTS",
    "AvailabilityContext",
    "AvailabilityContextProvider",
    "MaxAttempts",
    "PersistentFailureHandler",
    "RetryObserver",
    "ValidationHandler",
    "retry_with_backoff",
]

logger = logging.getLogger(__name__)

T = TypeVar("T")

DEFAULT_MAX_ATTEMPTS: Final = 10
_SILENT_CAPACITY_DELAYS_MS: Final = (1000.0, 3000.0)
_CAPACITY_REASONS: Final = ("MODEL_CAPACITY_EXHAUSTED", "MODEL_CAPACITY_EXCEEDED")

MaxAttempts = int | Callable[[], int | None] | None
"""How often to try at most. A callable is asked anew before every decision; None means 10."""
PersistentFailureHandler = Callable[[str | None, Exception], Awaitable[str | bool | None]]
"""Asked (auth type, classified error) when trying on is useless; truthy: start over."""
ValidationHandler = Callable[[ValidationRequiredError], Awaitable[str]]
"""Asked to have the account verified; `verify` means it was."""
RetryObserver = Callable[[int, Exception, float], None]
"""Called before each wait with the attempts made so far, the error as it came, the wait in ms."""


class AvailabilityContext(Protocol):
    """The policy of the model that is being asked, as far as a retry loop needs to know it."""

    @property
    def max_attempts(self) -> int | None:
        """How often this model may be tried; `None` leaves it to the caller's limit."""
        ...

    def mark_healthy(self) -> None:
        """The model answered: forget what is held against it."""
        ...


AvailabilityContextProvider = Callable[[], AvailabilityContext | None]
"""The context of the model asked just now; `None` where that model is in no chain of its own."""


async def retry_with_backoff(
    api_call: Callable[[], Awaitable[T]],
    *,
    clock: Clock,
    rng: RandomSource,
    signal: AbortSignal,
    max_attempts: MaxAttempts = DEFAULT_MAX_ATTEMPTS,
    initial_delay_ms: float = 5000,
    max_delay_ms: float = 30_000,
    retry_fetch_errors: bool = True,
    should_retry_on_content: Callable[[T], bool] | None = None,
    auth_type: str | None = None,
    variables: Mapping[str, str] | None = None,
    on_persistent_429: PersistentFailureHandler | None = None,
    on_validation_required: ValidationHandler | None = None,
    on_retry: RetryObserver | None = None,
    availability_context: AvailabilityContextProvider | None = None,
    asks_after_abort: bool = False,
) -> T:
    """Call `api_call` until it succeeds, is refused for good, or the attempts are used up.

    Args:
        api_call: One attempt.
        clock: What waits are made on.
        rng: The jitter.
        signal: Ends waits, and keeps failures after an abort from being judged.
        max_attempts: See `MaxAttempts`.
        initial_delay_ms: The first wait.
        max_delay_ms: What doubling stops at.
        retry_fetch_errors: Whether failures of fetching itself are retried.
        should_retry_on_content: Says of an answer that it is not good enough.
        auth_type: How the session signed in.
        variables: The environment, asked for the user's own cloud project.
        on_persistent_429: May change the model and have it all start over.
        on_validation_required: May get the account verified and have it all start over.
        on_retry: Watches.
        availability_context: Asked anew before every decision, because a fallback changes the
            model: its limit goes before `max_attempts`, and a good answer clears its model.
        asks_after_abort: Whether an aborted signal only ends waits, and the attempt that comes
            next is made all the same: the call is left to find out, by raising `AbortError`.

    Returns:
        The first answer that is good enough.

    Raises:
        AbortError: The signal was aborted, or the call said so itself.
        RetryLimitError: No attempts were allowed, or unwanted answers used them up.
        ModelError: What the last failure was classified as; any exception of `api_call` that is
            none of the taxonomy's business comes through unchanged.
    """
    if signal.aborted and not asks_after_abort:
        raise AbortError("Aborted")
    if isinstance(max_attempts, int) and max_attempts <= 0:
        raise RetryLimitError("maxAttempts must be a positive number.")
    run = _Run(
        clock=clock,
        rng=rng,
        signal=signal,
        max_attempts=max_attempts,
        initial_delay_ms=initial_delay_ms,
        max_delay_ms=max_delay_ms,
        retry_fetch_errors=retry_fetch_errors,
        auth_type=auth_type,
        variables=variables or {},
        on_persistent_429=on_persistent_429,
        on_validation_required=on_validation_required,
        on_retry=on_retry,
        availability_context=availability_context,
        asks_after_abort=asks_after_abort,
    )
    while run.may_try():
        if signal.aborted and not asks_after_abort:
            raise AbortError("Aborted")
        run.attempt += 1
        try:
            result = await api_call()
        except Exception as error:
            if error_name(error) == AbortError.name:
                raise
            failure = error
        else:
            if should_retry_on_content is None or not should_retry_on_content(result):
                context = run.context()
                if context is not None:
                    context.mark_healthy()
                return result
            if signal.aborted and not asks_after_abort:
                raise AbortError("Aborted")
            await run.back_off(ModelError("Invalid content"))
            continue
        if signal.aborted and not asks_after_abort:
            raise AbortError("Aborted") from failure
        await run.judge(failure)
    raise RetryLimitError("Retry attempts exhausted")


@dataclass(kw_only=True)
class _Run:
    """One call of `retry_with_backoff`: its options, and how far it has come."""

    clock: Clock
    rng: RandomSource
    signal: AbortSignal
    max_attempts: MaxAttempts
    initial_delay_ms: float
    max_delay_ms: float
    retry_fetch_errors: bool
    auth_type: str | None
    variables: Mapping[str, str]
    on_persistent_429: PersistentFailureHandler | None
    on_validation_required: ValidationHandler | None
    on_retry: RetryObserver | None
    availability_context: AvailabilityContextProvider | None
    asks_after_abort: bool
    attempt: int = 0
    capacity_failures: int = 0
    """Never starts over: a fallback does not buy another round of silent retries."""
    delay_ms: float = field(init=False)

    def __post_init__(self) -> None:
        self.delay_ms = self.initial_delay_ms

    def context(self) -> AvailabilityContext | None:
        """The policy of the model asked now."""
        return None if self.availability_context is None else self.availability_context()

    def may_try(self) -> bool:
        context = self.context()
        limit = None if context is None else context.max_attempts
        if limit is None:
            limit = self.max_attempts() if callable(self.max_attempts) else self.max_attempts
        return self.attempt < (DEFAULT_MAX_ATTEMPTS if limit is None else limit)

    def start_over(self) -> None:
        self.attempt = 0
        self.delay_ms = self.initial_delay_ms

    async def judge(self, failure: Exception) -> None:
        """Return when another attempt is due, having waited for it; else raise."""
        classified = classify_google_error(failure)
        if isinstance(classified, TerminalQuotaError):
            softened = self._soften_capacity(classified)
            if softened is None:
                await self._fall_back_or_raise(classified, failure)
                return
            classified = softened
        elif isinstance(classified, ModelNotFoundError):
            await self._fall_back_or_raise(classified, failure)
            return
        elif isinstance(classified, ValidationRequiredError):
            await self._validate_or_raise(classified, failure)
            return
        status = error_status(failure)
        is_server_error = status is not None and 500 <= status < 600
        if isinstance(classified, RetryableQuotaError) or is_server_error:
            await self._retry_or_fall_back(classified, failure)
        elif self.may_try() and is_retryable_error(failure, self.retry_fetch_errors):
            await self.back_off(failure)
        else:
            raise failure

    def _soften_capacity(self, error: TerminalQuotaError) -> RetryableQuotaError | None:
        """Capacity comes back: retryable without a user, or before enough attempts."""
        if error.reason not in _CAPACITY_REASONS and not is_capacity_message(error.message):
            return None
        delay_ms = error.retry_delay_ms
        if self.on_persistent_429 is not None:
            self.capacity_failures += 1
            if self.capacity_failures > len(_SILENT_CAPACITY_DELAYS_MS):
                return None
            if delay_ms is None:
                delay_ms = _SILENT_CAPACITY_DELAYS_MS[self.capacity_failures - 1]
        softened = RetryableQuotaError(error.message, error.google_error)
        if delay_ms is not None:
            softened.retry_delay_ms = delay_ms
            self.delay_ms = delay_ms
        return softened

    async def _retry_or_fall_back(self, classified: Exception, failure: Exception) -> None:
        quota = classified if isinstance(classified, RetryableQuotaError) else None
        if not self.may_try():
            if not await self._fell_back(classified):
                self._raise(quota if quota is not None else failure, failure)
        elif quota is not None and quota.retry_delay_ms is not None:
            self.delay_ms = max(self.delay_ms, quota.retry_delay_ms)
            await self._wait(failure, self.delay_ms + self.delay_ms * 0.2 * self.rng.random())
        else:
            await self.back_off(failure)

    async def _fall_back_or_raise(self, classified: ModelError, failure: Exception) -> None:
        if not await self._fell_back(classified):
            self._raise(classified, failure)

    async def _fell_back(self, classified: Exception) -> bool:
        if self.on_persistent_429 is None:
            return False
        try:
            if not await self.on_persistent_429(self.auth_type, classified):
                return False
        except Exception:
            logger.warning("the fallback handler failed", exc_info=True)
            return False
        self.start_over()
        return True

    async def _validate_or_raise(self, error: ValidationRequiredError, failure: Exception) -> None:
        if self.on_validation_required is not None:
            try:
                answer = await self.on_validation_required(error)
            except Exception:
                logger.warning("the validation handler failed", exc_info=True)
            else:
                if answer == "verify":
                    self.start_over()
                    return
                error.user_handled = True
        self._raise(error, failure)

    def _raise(self, error: Exception, failure: Exception) -> NoReturn:
        enriched = enrich_quota_error(error, self.auth_type, self.variables)
        if enriched is failure:
            raise enriched
        raise enriched from failure

    async def back_off(self, failure: Exception) -> None:
        """Our own wait: the current delay, 30 % more or less."""
        jitter = self.delay_ms * 0.3 * (self.rng.random() * 2 - 1)
        await self._wait(failure, max(0.0, self.delay_ms + jitter))

    async def _wait(self, failure: Exception, delay_ms: float) -> None:
        logger.debug("attempt %d failed (%s); waiting %.0f ms", self.attempt, failure, delay_ms)
        if self.on_retry is not None:
            self.on_retry(self.attempt, failure, delay_ms)
        try:
            await sleep_or_abort(self.clock, delay_ms, self.signal)
        except AbortError:
            if not self.asks_after_abort:
                raise AbortError("Aborted") from None
        self.delay_ms = min(self.max_delay_ms, self.delay_ms * 2)

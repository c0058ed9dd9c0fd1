"""`Retry`: repeats a request that failed, with a backoff between the attempts.

Two doubling delays share one variable: our own, jittered by 30 % either way and capped, and the
one the API asks for, which is a minimum (so up to 20 % more) and which the cap does not shorten.
Source: core `utils/retry.ts`; the order of the checks is observable and is its order.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final, NoReturn, Protocol, TypeVar

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
    QuotaError,
    RetryableQuotaError,
    RetryLimitError,
    TerminalQuotaError,
    ValidationRequiredError,
    error_name,
    error_status,
)

__all__ = [
    "DEFAULT_MAX_ATTEMPTS",
    "AvailabilityContext",
    "Retry",
    "RetryObserver",
]

logger = logging.getLogger(__name__)

T = TypeVar("T")

DEFAULT_MAX_ATTEMPTS: Final = 10
_SILENT_CAPACITY_DELAYS_MS: Final = (1000.0, 3000.0)
_CAPACITY_REASONS: Final = ("MODEL_CAPACITY_EXHAUSTED", "MODEL_CAPACITY_EXCEEDED")
_SHARED_PROJECT_AUTH: Final = (
    "oauth-personal",
    "compute-default-credentials",
    "LOGIN_WITH_GOOGLE",
    "COMPUTE_ADC",
)
_TIP: Final = "💡 Tip:"
_SHARED_PROJECT_TIP: Final = (
    f"\n\n{_TIP} The shared Google Cloud project is experiencing high traffic and has hit its "
    "quota limits. To get dedicated, uninterrupted quota, please set your own Google Cloud "
    "project by running:\n"
    "  gcloud config set project [PROJECT_ID]\n"
    "or by setting the GOOGLE_CLOUD_PROJECT environment variable."
)

RetryObserver = Callable[[int, Exception, float], None]
"""Called before each wait with the attempts made so far, the raw error, and the wait in ms."""


class AvailabilityContext(Protocol):
    """The policy of the model in use, as far as a retry loop needs it."""

    @property
    def max_attempts(self) -> int | None:
        """The limit on attempts with this model; `None`: the caller's limit applies."""
        ...

    def mark_healthy(self) -> None:
        """Record that the model answered."""
        ...


@dataclass(kw_only=True)
class Retry:
    """Repeats one request until it succeeds, is refused for good, or the attempts are used up."""

    clock: Clock
    rng: RandomSource
    """The jitter."""
    signal: AbortSignal
    """Ends waits; failures after an abort are not classified."""
    max_attempts: int = DEFAULT_MAX_ATTEMPTS
    initial_delay_ms: ClassVar[float] = 5000
    max_delay_ms: ClassVar[float] = 30_000
    retry_fetch_errors: bool = True
    auth_type: str | None = None
    """How the session signed in."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """The environment; it may name the user's own cloud project."""
    on_persistent_429: Callable[[Exception], Awaitable[str | bool | None]] | None = None
    """Called with the classified error when this model cannot go on; truthy: start over."""
    on_validation_required: Callable[[ValidationRequiredError], Awaitable[str | None]] | None = None
    """Asks the user to verify the account; `verify`: start over."""
    on_retry: RetryObserver | None = None
    availability_context: Callable[[], AvailabilityContext | None] = lambda: None
    """The policy of the model in use, read before every decision because a fallback changes the
    model; `None` where no chain contains that model."""
    asks_after_abort: bool = False
    """Whether an abort only ends waits, and the next attempt itself raises `AbortError`."""
    attempt: int = field(default=0, init=False)
    capacity_failures: int = field(default=0, init=False)
    """Not reset by a fallback, which therefore brings no further silent retries."""
    delay_ms: float = field(init=False)

    def __post_init__(self) -> None:
        self.delay_ms = self.initial_delay_ms

    async def run(
        self,
        api_call: Callable[[], Awaitable[T]],
        *,
        should_retry_on_content: Callable[[T], bool] = lambda _: False,
    ) -> T:
        """Return the first result of `api_call` that `should_retry_on_content` does not reject.

        Raises:
            AbortError: The signal was aborted, or `api_call` raised it.
            RetryLimitError: No attempts were allowed, or rejected results used them up.
            ModelError: The last failure as classified; other exceptions come through unchanged.
        """
        self._raise_if_aborted()
        if self.max_attempts <= 0:
            raise RetryLimitError("maxAttempts must be a positive number.")
        while self.may_try():
            self._raise_if_aborted()
            self.attempt += 1
            try:
                result = await api_call()
            except Exception as error:  # whatever it is, the classification decides
                if error_name(error) == AbortError.name:
                    raise
                failure = error
            else:
                if not should_retry_on_content(result):
                    context = self.availability_context()
                    if context is not None:
                        context.mark_healthy()
                    return result
                self._raise_if_aborted()
                await self.back_off(ModelError("Invalid content"))
                continue
            self._raise_if_aborted(failure)
            await self.judge(failure)
        raise RetryLimitError("Retry attempts exhausted")

    def _raise_if_aborted(self, cause: Exception | None = None) -> None:
        if self.signal.aborted and not self.asks_after_abort:
            raise AbortError("Aborted") from cause

    def may_try(self) -> bool:
        """Whether the limit allows another attempt."""
        context = self.availability_context()
        limit = None if context is None else context.max_attempts
        return self.attempt < (self.max_attempts if limit is None else limit)

    def start_over(self) -> None:
        """Reset attempts and delay: the next attempt uses another model or a verified account."""
        self.attempt = 0
        self.delay_ms = self.initial_delay_ms

    async def judge(self, failure: Exception) -> None:
        """Wait for the next attempt, or raise the failure."""
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
        """Make a lack of capacity retryable: without a fallback always, else twice."""
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
            if not await self.on_persistent_429(classified):
                return False
        except AbortError:
            raise
        except Exception:
            logger.warning("the fallback handler failed", exc_info=True)
            return False
        self.start_over()
        return True

    async def _validate_or_raise(self, error: ValidationRequiredError, failure: Exception) -> None:
        if self.on_validation_required is not None:
            try:
                answer = await self.on_validation_required(error)
            except AbortError:
                raise
            except Exception:
                logger.warning("the validation handler failed", exc_info=True)
            else:
                if answer == "verify":
                    self.start_over()
                    return
                error.user_handled = True
        self._raise(error, failure)

    def _raise(self, error: Exception, failure: Exception) -> NoReturn:
        if isinstance(error, QuotaError):
            self._add_tip(error)
        if error is failure:
            raise error
        raise error from failure

    def _add_tip(self, error: QuotaError) -> None:
        """Explain once, to a user of the shared project, how to get a quota of their own."""
        own = any(map(self.variables.get, ("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_PROJECT_ID")))
        if self.auth_type in _SHARED_PROJECT_AUTH and not own and _TIP not in error.message:
            error.args = (error.message + _SHARED_PROJECT_TIP,)

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

"""Faults of the services in the handling of failing models: waits, retries, nudges."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.wrappers import (
    changed,
    during,
    instead,
    keeps,
    only_when,
    passing,
    result,
    returns,
)
from services.history.transforms import (
    NO_RESPONSE_TEXT_NUDGE,
    THINKING_ONLY_NUDGE,
    has_function_response,
)
from services.model.errors import RetryableQuotaError, error_status

fault = Faults(Site.SERVICE, Behaviour.ERRORS)
held_out = Faults(Site.SERVICE, Behaviour.ERRORS, held_out=True)
_CAP_MS: Final = 30_000
_SHORT_LIST: Final = frozenset({"ECONNRESET", "ETIMEDOUT", "EPIPE"})


@instead
def _blind_for_server_errors(status_of: Any, error: Any) -> Any:
    status = status_of(error)
    return None if isinstance(status, int) and 500 <= status < 600 else status


@instead
def _by_status(label: Any, error: Any) -> Any:
    found = label(error)
    return f"HTTP_{error_status(error)}" if found == "SERVER_ERROR" else found


@instead
def _beside_results(apply: Any, contents: Sequence[Any], nudge: str) -> Any:
    if not contents or not has_function_response(contents[-1]):
        return apply(contents, nudge)
    *before, last = contents
    return [*before, {**last, "parts": [*last["parts"], {"text": f"\n{nudge}"}]}]


server_errors_not_retried = fault.wrap_all(
    ("services.model.retry:error_status", _blind_for_server_errors),
    ("services.model.classification:error_status", _blind_for_server_errors),
    says="A 500 or 503 ends the turn at once.",
    origin="a retry rule for 429 alone, as in client libraries",
)
milliseconds_read_as_seconds = fault.wrap(
    "services.model.classification:_seconds",
    passing(duration=lambda duration: duration.replace("ms", "s")),
    says="A suggested wait in milliseconds is read as seconds.",
    origin="a duration parser with one unit",
)
backoff_does_not_grow = fault.wrap(
    "services.model.retry:Retry._wait",
    keeps("delay_ms"),
    says="Every wait between attempts is as long as the first.",
    origin="a new backoff object for every attempt",
)
abort_waits_out_backoff = fault.wrap(
    "services.model.retry:sleep_or_abort",
    instead(lambda _, clock, delay_ms, signal: clock.sleep(delay_ms)),
    says="An abort during a retry wait takes effect only after the wait.",
    origin="a plain sleep in the loop; the published core's utility questions had it",
)
causes_not_looked_at = fault.wrap(
    "services.model.classification:_MAX_CAUSES",
    lambda causes: 0,
    says="A network failure is not recognised when it is only the cause of an error.",
    origin="a client library that wraps the socket's errors",
)
unavailable_told_as_internal = fault.wrap(
    "services.presentation.errors:_STATUS_NAMES",
    lambda names: {status: name for status, name in names.items() if status != 503},
    says="A 503 is reported to clients as INTERNAL.",
    origin="a copied table of statuses with missing rows",
)
missing_finish_accepted = fault.wrap(
    "services.model.stream:StreamAssembler._validate",
    only_when(lambda self, text: self._finish_reason is not None or not text),
    says="A stream that broke off without a finish reason counts as complete.",
    origin="a stream's end taken for the answer's",
)
unreachable_hosts_fatal = held_out.wrap(
    "services.model.classification:_NETWORK_CODES",
    lambda _: _SHORT_LIST,
    says="An unknown host or a refused connection ends the turn at once.",
    origin="a client library's list of transient codes",
)
server_errors_labelled_by_status = held_out.wrap_all(
    ("services.model.base_llm_client:retry_error_type", _by_status),
    ("services.tools.web_access:retry_error_type", _by_status),
    ("services.chat.attempt:retry_error_type", _by_status),
    says="Retry notices name a server error by its status instead of its kind.",
    origin="a label built from the status before the kind is checked",
)
fractional_wait_in_words_unread = held_out.wrap(
    "services.model.classification:_RETRY_IN",
    lambda _: re.compile("Please retry in ([0-9]+(?:ms|s))"),
    says="A suggested wait with a fraction of a second is not found in the error message.",
    origin="a pattern for whole numbers",
)
waits_compared_in_milliseconds = held_out.wrap(
    "services.model.classification:_MAX_RETRYABLE_DELAY_S",
    lambda limit: limit / 1000,
    says="A wait of a third of a second exceeds the longest acceptable wait.",
    origin="a limit changed from milliseconds to seconds, and its number divided",
)
first_quota_violation_decides = held_out.wrap(
    "services.model.classification:_quota_ids",
    result(lambda found: found[:1]),
    says="Only the first violated quota of a request is checked.",
    origin="`violations[0]` for a loop over them",
    closed_by="errors/429_minute_then_day",
)
nested_error_not_unwrapped = held_out.wrap(
    "services.model.google_errors:_MAX_NESTING",
    lambda _: 0,
    says="An error nested in another error's message is not parsed.",
    origin="a parser rewritten when no proxy was in use",
)
silent_side_answer_accepted = held_out.wrap(
    "services.model.base_llm_client:_is_silent",
    returns(False),
    says="An empty answer to a utility request is not retried.",
    origin="a check that an answer exists, not that it has content",
)
unwanted_answers_asked_for_at_once = held_out.wrap(
    "services.model.retry:Retry.back_off",
    only_when(lambda self, failure: str(failure) != "Invalid content"),
    says="An insufficient answer is retried without a wait.",
    origin="a loop's `continue` before its sleep",
)
malformed_call_accepted = held_out.wrap(
    "services.model.stream:_REFUSED",
    lambda _: {},
    says="An answer that ends with a malformed call is valid if it has text.",
    origin="finish reasons checked only when the text is empty",
)
blocked_taken_for_silent = held_out.wrap(
    "services.model.stream:_BLOCKED",
    lambda blocked: {reason: text for reason, text in blocked.items() if reason == "MAX_TOKENS"},
    says="An empty answer that was blocked is treated as merely empty.",
    origin="a table of finish reasons with only its first row",
)
empty_answer_to_tools_invalid = held_out.wrap(
    "services.model.stream:StreamAssembler._validate",
    during("after_function_response", False),
    says="An empty answer to tool results is invalid, as after a user message.",
    origin="a flag set only for the first request of a prompt",
)
nudges_swapped = held_out.wrap_all(
    ("services.model.stream:THINKING_ONLY_NUDGE", lambda _: NO_RESPONSE_TEXT_NUDGE),
    ("services.model.stream:NO_RESPONSE_TEXT_NUDGE", lambda _: THINKING_ONLY_NUDGE),
    says="The nudges for an empty and for a thinking-only answer are swapped.",
    origin="two texts under each other's names",
)
nudge_beside_tool_results = held_out.wrap_all(
    ("services.chat.attempt:apply_retry_nudge", _beside_results),
    ("services.hooks.model_call:apply_retry_nudge", _beside_results),
    says="After tool results, the nudge is part of their turn instead of a turn of its own.",
    origin="text appended to the last turn, whatever its kind",
)
verification_told_as_refusal = held_out.wrap(
    "services.model.classification:_validation_required",
    returns(None),
    says="An account that needs verification is reported as one without access.",
    origin="403 handled by its number, without its details",
)


bad_request_retried = fault.wrap(
    "services.model.retry:is_retryable_error",
    instead(
        lambda is_retryable, error, *more: (
            getattr(error, "status", None) == 400 or is_retryable(error, *more)
        )
    ),
    says="A 400 is retried although the same request cannot succeed.",
    origin="a retry decorator for all exceptions of the client",
)


@fault(
    "services.model.retry:classify_google_error",
    origin="a framework's retry options, which follow a schedule and ignore answers",
)
def retry_delay_ignored(classify: Any, error: Any) -> Any:
    """The wait that the API asks for is ignored, and our own backoff is used."""
    classified = classify(error)
    if getattr(classified, "retry_delay_ms", None) is not None:
        classified.retry_delay_ms = None
    return classified


@fault(
    "services.model.retry:classify_google_error",
    origin="a delay doubled before it is used instead of after",
)
def retry_delay_doubled(classify: Any, error: Any) -> Any:
    """The wait that the API asks for is doubled."""
    classified = classify(error)
    delay_ms = getattr(classified, "retry_delay_ms", None)
    if delay_ms is not None and classified is not error:
        classified.retry_delay_ms = 2 * delay_ms
    return classified


@fault(
    "services.model.classification:_by_details",
    origin="quota ids matched by `Per` alone",
)
def daily_quota_retried_each_minute(by_details: Any, error: Any) -> Any:
    """An exhausted daily quota is retried as a per-minute quota."""
    found = by_details(error)
    if "daily quota" not in found.message:
        return found
    return RetryableQuotaError(f"{error.message}\nSuggested retry after 60s.", error, 60)


one_attempt_too_many = fault.wrap(
    "services.model.retry:Retry.may_try",
    changed("attempt", lambda attempt: attempt - 1),
    says="A model gets one attempt more than the limit.",
    origin="a limit on retries taken for one on attempts",
)


@fault(
    "services.model.retry:Retry.__post_init__",
    origin="the attempt's index reported instead of its number",
)
def retries_counted_from_zero(prepare: Any, self: Any) -> None:
    """Notices number the attempts from 0."""
    prepare(self)
    notify = self.on_retry
    if notify is not None:
        self.on_retry = lambda attempt, *more: notify(attempt - 1, *more)


@held_out("services.model.retry:Retry.back_off", origin="another library's jitter, which only adds")
async def jitter_only_upward(_: Any, self: Any, failure: Any) -> None:
    """Jitter only makes waits longer, never shorter."""
    await self._wait(failure, self.delay_ms + self.delay_ms * 0.3 * self.rng.random())


@held_out("services.model.retry:classify_google_error", origin="one `min` over both delays")
def asked_wait_cut_at_cap(classify: Any, error: Any) -> Any:
    """A wait that the API asks for is capped like our own waits."""
    classified = classify(error)
    if isinstance(classified, RetryableQuotaError):
        delay_ms = classified.retry_delay_ms
        classified.retry_delay_ms = None if delay_ms is None else min(delay_ms, _CAP_MS)
    return classified


attempts_kept_over_fallback = held_out.wrap(
    "services.model.retry:Retry.start_over",
    keeps("attempt"),
    says="The fallback model gets only the attempts that the failed one left.",
    origin="a reset split in two, with one half missing",
)


backoff_kept_over_fallback = held_out.wrap(
    "services.model.retry:Retry.start_over",
    keeps("delay_ms"),
    says="The fallback model's first wait is as long as the failed model's last.",
    origin="a reset split in two, with one half missing",
)


@held_out(
    "services.model.base_llm_client:_parse",
    origin="trust in a mime type that models ignore",
)
def fenced_json_refused(parse: Any, text: str) -> Any:
    """JSON in a Markdown fence is rejected, and requested again."""
    if text.startswith("```"):
        raise ValueError("a fence is not JSON")
    return parse(text)

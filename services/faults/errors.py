"""Faults of the services in how a failing model is handled: waits, retries, nudges."""

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
    origin="a retry rule for 429 alone, as client libraries have it",
)
milliseconds_read_as_seconds = fault.wrap(
    "services.model.classification:_seconds",
    passing(duration=lambda duration: duration.replace("ms", "s")),
    says="A suggested wait in milliseconds is taken for one in seconds.",
    origin="a parser of durations that knows one unit",
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
    says="An abort during a wait between attempts takes effect when the wait is over.",
    origin="a plain sleep in the loop; the published core's utility questions had it",
)
causes_not_looked_at = fault.wrap(
    "services.model.classification:_MAX_CAUSES",
    lambda causes: 0,
    says="A network failure that is only an error's cause is not recognised.",
    origin="a client library that wraps what the socket raised",
)
unavailable_told_as_internal = fault.wrap(
    "services.presentation.errors:_STATUS_NAMES",
    lambda names: {status: name for status, name in names.items() if status != 503},
    says="A 503 is reported to clients as INTERNAL.",
    origin="a table of statuses that was copied without some of its rows",
)
missing_finish_accepted = fault.wrap(
    "services.model.stream:StreamAssembler._validate",
    only_when(lambda self, text: self._finish_reason is not None or not text),
    says="A stream that broke off without a finish reason counts as an answer.",
    origin="a stream's end taken for the answer's",
)
unreachable_hosts_fatal = held_out.wrap(
    "services.model.classification:_NETWORK_CODES",
    lambda _: _SHORT_LIST,
    says="A host that is not found or refuses the connection ends the turn at once.",
    origin="a list of transient codes as a client library has it",
)
server_errors_labelled_by_status = held_out.wrap_all(
    ("services.model.base_llm_client:retry_error_type", _by_status),
    ("services.tools.web_access:retry_error_type", _by_status),
    ("services.chat.attempt:retry_error_type", _by_status),
    says="Notices of retries call a server's error by its status instead of by its kind.",
    origin="a label made of the status before the kinds are looked at",
)
fractional_wait_in_words_unread = held_out.wrap(
    "services.model.classification:_RETRY_IN",
    lambda _: re.compile("Please retry in ([0-9]+(?:ms|s))"),
    says="A wait of a fraction of seconds that an error's words ask for is not found in them.",
    origin="a pattern for whole numbers",
)
waits_compared_in_milliseconds = held_out.wrap(
    "services.model.classification:_MAX_RETRYABLE_DELAY_S",
    lambda limit: limit / 1000,
    says="A wait of a third of a second counts as longer than the longest acceptable wait.",
    origin="a limit in milliseconds that became one in seconds, its number divided",
)
first_quota_violation_decides = held_out.wrap(
    "services.model.classification:_quota_ids",
    result(lambda found: found[:1]),
    says="Of the quotas that a request ran into only the first that is named is looked at.",
    origin="`violations[0]` for a loop over them",
    closed_by="errors/429_minute_then_day",
)
nested_error_not_unwrapped = held_out.wrap(
    "services.model.google_errors:_MAX_NESTING",
    lambda _: 0,
    says="An error inside another error's message is not looked into.",
    origin="a proxy that was gone when the parser was written anew",
)
silent_side_answer_accepted = held_out.wrap(
    "services.model.base_llm_client:_is_silent",
    returns(False),
    says="An empty answer to a question beside the conversation is not asked for again.",
    origin="an answer checked for being there, not for saying anything",
)
unwanted_answers_asked_for_at_once = held_out.wrap(
    "services.model.retry:Retry.back_off",
    only_when(lambda self, failure: str(failure) != "Invalid content"),
    says="After an answer that is not good enough the next is asked for without a wait.",
    origin="a loop's `continue` before its sleep",
)
malformed_call_accepted = held_out.wrap(
    "services.model.stream:_REFUSED",
    lambda _: {},
    says="An answer that ended with a malformed call counts as good if it has any text.",
    origin="finish reasons looked at only where the text is empty",
)
blocked_taken_for_silent = held_out.wrap(
    "services.model.stream:_BLOCKED",
    lambda blocked: {reason: text for reason, text in blocked.items() if reason == "MAX_TOKENS"},
    says="An empty answer that was blocked is treated as one that merely said nothing.",
    origin="a table of finish reasons with its first row alone",
)
empty_answer_to_tools_invalid = held_out.wrap(
    "services.model.stream:StreamAssembler._validate",
    during("after_function_response", False),
    says="An answer to tool results may not be empty, as if it answered the user's words.",
    origin="a flag that is set for the first request of a prompt and not again",
)
nudges_swapped = held_out.wrap_all(
    ("services.model.stream:THINKING_ONLY_NUDGE", lambda _: NO_RESPONSE_TEXT_NUDGE),
    ("services.model.stream:NO_RESPONSE_TEXT_NUDGE", lambda _: THINKING_ONLY_NUDGE),
    says="A model that answered nothing is reminded that it only thought, and the other way round.",
    origin="two texts under each other's names",
)
nudge_beside_tool_results = held_out.wrap_all(
    ("services.chat.attempt:apply_retry_nudge", _beside_results),
    ("services.hooks.model_call:apply_retry_nudge", _beside_results),
    says="After tool results the nudge stands in their turn instead of in one of its own.",
    origin="text appended to whatever turn is the last",
)
verification_told_as_refusal = held_out.wrap(
    "services.model.classification:_validation_required",
    returns(None),
    says="An account that is to be verified is reported as one that may not ask.",
    origin="403 handled by its number, details unread",
)


bad_request_retried = fault.wrap(
    "services.model.retry:is_retryable_error",
    instead(
        lambda is_retryable, error, *more: (
            getattr(error, "status", None) == 400 or is_retryable(error, *more)
        )
    ),
    says="A 400 is tried again as if the same request could succeed.",
    origin="a retry decorator around everything that the client raises",
)


@fault(
    "services.model.retry:classify_google_error",
    origin="a framework's retry options, which know a schedule and no answer",
)
def retry_delay_ignored(classify: Any, error: Any) -> Any:
    """The wait that the API asks for is not heeded; our own backoff takes its place."""
    classified = classify(error)
    if getattr(classified, "retry_delay_ms", None) is not None:
        classified.retry_delay_ms = None
    return classified


@fault(
    "services.model.retry:classify_google_error",
    origin="a delay doubled before it is used instead of after",
)
def retry_delay_doubled(classify: Any, error: Any) -> Any:
    """The wait that the API asks for is made twice as long."""
    classified = classify(error)
    delay_ms = getattr(classified, "retry_delay_ms", None)
    if delay_ms is not None and classified is not error:
        classified.retry_delay_ms = 2 * delay_ms
    return classified


@fault(
    "services.model.classification:_by_details",
    origin="quota ids that are compared with `Per` only",
)
def daily_quota_retried_each_minute(by_details: Any, error: Any) -> Any:
    """A used-up daily quota is waited for as one that comes back in a minute."""
    found = by_details(error)
    if "daily quota" not in found.message:
        return found
    return RetryableQuotaError(f"{error.message}\nSuggested retry after 60s.", error, 60)


one_attempt_too_many = fault.wrap(
    "services.model.retry:Retry.may_try",
    changed("attempt", lambda attempt: attempt - 1),
    says="A model is tried once more than the limit says.",
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


@held_out(
    "services.model.retry:Retry.back_off", origin="another library's jitter, which adds a share"
)
async def jitter_only_upward(_: Any, self: Any, failure: Any) -> None:
    """Waits between attempts are made longer by chance, and never shorter."""
    await self._wait(failure, self.delay_ms + self.delay_ms * 0.3 * self.rng.random())


@held_out("services.model.retry:classify_google_error", origin="one `min` around both delays")
def asked_wait_cut_at_cap(classify: Any, error: Any) -> Any:
    """A wait that the API asks for is cut at the cap of our own waits."""
    classified = classify(error)
    if isinstance(classified, RetryableQuotaError):
        delay_ms = classified.retry_delay_ms
        classified.retry_delay_ms = None if delay_ms is None else min(delay_ms, _CAP_MS)
    return classified


attempts_kept_over_fallback = held_out.wrap(
    "services.model.retry:Retry.start_over",
    keeps("attempt"),
    says="The model that stands in has only the attempts that the failed one left over.",
    origin="a reset that was split in two; one half was forgotten",
)


backoff_kept_over_fallback = held_out.wrap(
    "services.model.retry:Retry.start_over",
    keeps("delay_ms"),
    says="The first wait for the model that stands in is as long as the failed one's last.",
    origin="a reset that was split in two; one half was forgotten",
)


@held_out(
    "services.model.base_llm_client:_parse",
    origin="trust in a mime type that models do not keep to",
)
def fenced_json_refused(parse: Any, text: str) -> Any:
    """JSON in a Markdown fence is taken for none, and asked for again."""
    if text.startswith("```"):
        raise ValueError("a fence is not JSON")
    return parse(text)

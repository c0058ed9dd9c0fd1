"""Held-out faults of services in what becomes of a failing model: waits, retries, nudges."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import all_of, replaced
from services.history.transforms import (
    NO_RESPONSE_TEXT_NUDGE,
    THINKING_ONLY_NUDGE,
    has_function_response,
)
from services.model.errors import RetryableQuotaError, error_status

__all__ = ["FAULTS"]

_errors = partial(Fault, site=Site.SERVICE, behaviour=Behaviour.ERRORS, held_out=True)

_CAP_MS: Final = 30_000
_SHORT_LIST: Final = frozenset({"ECONNRESET", "ETIMEDOUT", "EPIPE"})


def _jittered_upward(_: Any) -> Any:
    async def broken(self: Any, failure: Any) -> None:
        await self._wait(failure, self.delay_ms + self.delay_ms * 0.3 * self.rng.random())

    return broken


def _capped(classify: Any) -> Any:
    def broken(error: Any) -> Any:
        classified = classify(error)
        if isinstance(classified, RetryableQuotaError):
            delay_ms = classified.retry_delay_ms
            classified.retry_delay_ms = None if delay_ms is None else min(delay_ms, _CAP_MS)
        return classified

    return broken


def _counting_on(_: Any) -> Any:
    def broken(self: Any) -> None:
        self.delay_ms = self.initial_delay_ms

    return broken


def _waiting_on(_: Any) -> Any:
    def broken(self: Any) -> None:
        self.attempt = 0

    return broken


def _without_unreachable(_: Any) -> Any:
    return _SHORT_LIST


def _by_status(label: Any) -> Any:
    def broken(error: Any) -> Any:
        found = label(error)
        return f"HTTP_{error_status(error)}" if found == "SERVER_ERROR" else found

    return broken


def _whole_numbers(_: Any) -> Any:
    return re.compile(r"Please retry in ([0-9]+(?:ms|s))")


def _a_thousandth(limit: float) -> float:
    return limit / 1000


def _first_alone(quota_ids: Any) -> Any:
    def broken(failure: Any) -> Any:
        return quota_ids(failure)[:1]

    return broken


def _none_at_all(_: int) -> int:
    return 0


def _never(_: Any) -> Any:
    return lambda _response: False


def _refusing_fences(parse: Any) -> Any:
    def broken(text: str) -> Any:
        if text.startswith("```"):
            raise ValueError("a fence is not JSON")
        return parse(text)

    return broken


def _at_once(back_off: Any) -> Any:
    async def broken(self: Any, failure: Any) -> None:
        if str(failure) != "Invalid content":
            await back_off(self, failure)

    return broken


def _empty_table(_: Any) -> Any:
    return {}


def _length_alone(blocked: Any) -> Any:
    return {reason: told for reason, told in blocked.items() if reason == "MAX_TOKENS"}


def _as_after_words(validate: Any) -> Any:
    def broken(self: Any, text: str) -> None:
        known, self.after_function_response = self.after_function_response, False
        try:
            validate(self, text)
        finally:
            self.after_function_response = known

    return broken


def _beside_results(apply: Any) -> Any:
    def broken(contents: Sequence[Any], nudge: str) -> Any:
        if not contents or not has_function_response(contents[-1]):
            return apply(contents, nudge)
        *before, last = contents
        return [*before, {**last, "parts": [*last["parts"], {"text": f"\n{nudge}"}]}]

    return broken


def _no_validation(_: Any) -> Any:
    return lambda _error: None


FAULTS: Final = (
    _errors(
        name="jitter-only-upward",
        says="Waits between attempts are made longer by chance, and never shorter.",
        origin="another library's jitter, which adds a share",
        breaks=lambda: replaced("services.model.retry:_Run.back_off", _jittered_upward),
    ),
    _errors(
        name="asked-wait-cut-at-cap",
        says="A wait that the API asks for is cut at the cap of our own waits.",
        origin="one `min` around both delays",
        breaks=lambda: replaced("services.model.retry:classify_google_error", _capped),
    ),
    _errors(
        name="attempts-kept-over-fallback",
        says="The model that stands in has only the attempts that the failed one left over.",
        origin="a reset that was split in two, of which one half was forgotten",
        breaks=lambda: replaced("services.model.retry:_Run.start_over", _counting_on),
    ),
    _errors(
        name="backoff-kept-over-fallback",
        says="The first wait for the model that stands in is as long as the failed one's last.",
        origin="a reset that was split in two, of which one half was forgotten",
        breaks=lambda: replaced("services.model.retry:_Run.start_over", _waiting_on),
    ),
    _errors(
        name="unreachable-hosts-fatal",
        says="A host that is not found or refuses the connection ends the turn at once.",
        origin="a list of transient codes as a client library has it",
        breaks=lambda: replaced(
            "services.model.classification:_NETWORK_CODES", _without_unreachable
        ),
    ),
    _errors(
        name="server-errors-labelled-by-status",
        says="Notices of retries call a server's error by its status instead of by its kind.",
        origin="a label made of the status before the kinds are looked at",
        breaks=lambda: all_of(
            replaced("services.model.base_llm_client:retry_error_type", _by_status),
            replaced("services.tools.web_client:retry_error_type", _by_status),
            replaced("services.chat.attempt:retry_error_type", _by_status),
        ),
    ),
    _errors(
        name="fractional-wait-in-words-unread",
        says="A wait of a fraction of seconds that an error's words ask for is not found in them.",
        origin="a pattern for whole numbers",
        breaks=lambda: replaced("services.model.classification:_RETRY_IN", _whole_numbers),
    ),
    _errors(
        name="waits-compared-in-milliseconds",
        says="A wait of a third of a second counts as longer than anybody would sit through.",
        origin="a limit in milliseconds that became one in seconds, its number divided",
        breaks=lambda: replaced(
            "services.model.classification:_MAX_RETRYABLE_DELAY_S", _a_thousandth
        ),
    ),
    _errors(
        name="first-quota-violation-decides",
        closed_by="errors/429_minute_then_day",
        says="Of the quotas that a request ran into only the first that is named is looked at.",
        origin="`violations[0]` for a loop over them",
        breaks=lambda: replaced("services.model.classification:_quota_ids", _first_alone),
    ),
    _errors(
        name="nested-error-not-unwrapped",
        says="An error inside another error's message is not looked into.",
        origin="a proxy that was gone when the parser was written anew",
        breaks=lambda: replaced("services.model.google_errors:_MAX_NESTING", _none_at_all),
    ),
    _errors(
        name="silent-side-answer-accepted",
        says="An empty answer to a question beside the conversation is not asked for again.",
        origin="an answer checked for being there, not for saying anything",
        breaks=lambda: replaced("services.model.base_llm_client:_is_silent", _never),
    ),
    _errors(
        name="fenced-json-refused",
        says="JSON in a Markdown fence is taken for none, and asked for again.",
        origin="trust in a mime type that models do not keep to",
        breaks=lambda: replaced("services.model.base_llm_client:_parse", _refusing_fences),
    ),
    _errors(
        name="unwanted-answers-asked-for-at-once",
        says="After an answer that is not good enough the next is asked for without a wait.",
        origin="a loop's `continue` before its sleep",
        breaks=lambda: replaced("services.model.retry:_Run.back_off", _at_once),
    ),
    _errors(
        name="malformed-call-accepted",
        says="An answer that ended with a malformed call counts as good if it has any text.",
        origin="finish reasons looked at only where the text is empty",
        breaks=lambda: replaced("services.model.stream:_REFUSED", _empty_table),
    ),
    _errors(
        name="blocked-taken-for-silent",
        says="An empty answer that was blocked is treated as one that merely said nothing.",
        origin="a table of finish reasons with its first row alone",
        breaks=lambda: replaced("services.model.stream:_BLOCKED", _length_alone),
    ),
    _errors(
        name="empty-answer-to-tools-invalid",
        says="An answer to tool results may not be empty, as if it answered the user's words.",
        origin="a flag that is set for the first request of a prompt and not again",
        breaks=lambda: replaced("services.model.stream:StreamAssembler._validate", _as_after_words),
    ),
    _errors(
        name="nudges-swapped",
        says="A model that said nothing is told that it only thought, and the other way round.",
        origin="two texts under each other's names",
        breaks=lambda: all_of(
            replaced("services.model.stream:THINKING_ONLY_NUDGE", lambda _: NO_RESPONSE_TEXT_NUDGE),
            replaced("services.model.stream:NO_RESPONSE_TEXT_NUDGE", lambda _: THINKING_ONLY_NUDGE),
        ),
    ),
    _errors(
        name="nudge-beside-tool-results",
        says="After tool results the nudge stands in their turn instead of in one of its own.",
        origin="text appended to whatever turn is the last",
        breaks=lambda: all_of(
            replaced("services.chat.attempt:apply_retry_nudge", _beside_results),
            replaced("services.hooks.model_call:apply_retry_nudge", _beside_results),
        ),
    ),
    _errors(
        name="verification-told-as-refusal",
        says="An account that is to be verified is told as one that may not ask.",
        origin="403 handled by its number, details unread",
        breaks=lambda: replaced(
            "services.model.classification:_validation_required", _no_validation
        ),
    ),
)

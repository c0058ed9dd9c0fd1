"""Faults of the runtimes in what becomes of a failing model."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final

from harness.faults.altered import Altered, given, remade
from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import all_of, replaced
from services.history.transforms import NO_RESPONSE_TEXT_NUDGE

__all__ = ["FAULTS"]

_legacy = partial(Fault, site=Site.LEGACY, behaviour=Behaviour.ERRORS)
_adk = partial(Fault, site=Site.ADK, behaviour=Behaviour.ERRORS)


def _without_status(model_failure: Any) -> Any:
    def broken(error: Any) -> Any:
        return replace(model_failure(error), status=None)

    return broken


def _nudging_always(nudge: Any) -> Any:
    def broken(error: Any) -> Any:
        return nudge(error) or (None if error is None else NO_RESPONSE_TEXT_NUDGE)

    return broken


def _nudging_never(_: Any) -> Any:
    def broken(error: Any) -> None:
        return None

    return broken


def _one_more(number: Any) -> Any:
    return number + 1


def _forgetting_tool_answers(fail: Any) -> Any:
    def broken(self: Any, request: Any, *, aborted: bool, error: Any) -> None:
        fail(self, replace(request, answers_tools=False), aborted=aborted, error=error)

    return broken


def _as_first_attempt(init: Any) -> Any:
    def broken(self: Any, *args: Any, key: Any, **kwargs: Any) -> None:
        init(self, *args, key=replace(key, is_retry=False), **kwargs)

    return broken


def _emitting_twice(emit: Any) -> Any:
    def broken(stream: Any, error: Any) -> None:
        if getattr(error, "status", None) == 429:
            emit(Altered(stream, end=lambda _: None), error)
        emit(stream, error)

    return broken


def _waiting_evenly(wait: Any) -> Any:
    async def broken(self: Any, attempt: int, most: int, kind: str) -> None:
        await wait(self, 0, most, kind)

    return broken


def _carrying_parts_over() -> Any:
    """The assembler goes on with what the attempt before it had collected."""
    collected: list[Any] = []

    def forgetting(send: Any) -> Any:
        def broken(*args: Any) -> Any:
            collected.clear()
            return send(*args)

        return broken

    def remembering(assembler: Any) -> Any:
        def broken(**kwargs: Any) -> Any:
            made = assembler(**kwargs)
            made._parts[:0] = collected[-1]._parts if collected else ()
            collected.append(made)
            return made

        return broken

    return all_of(
        replaced("runtimes.adk.model_call:ModelParts.send", forgetting),
        replaced("runtimes.adk.model_call:StreamAssembler", remembering),
    )


def _keeping_failed_prompts(fail: Any) -> Any:
    def broken(self: Any, request: Any, *, aborted: bool, error: Any) -> None:
        if aborted:
            fail(self, request, aborted=aborted, error=error)

    return broken


def _as_it_came(model_failure: Any) -> Any:
    def broken(error: Any) -> Any:
        made = model_failure(error)
        return replace(made, message=str(error), status=getattr(error, "status", made.status))

    return broken


def _counting_from_zero(attempt: Any) -> Any:
    def broken(**kwargs: Any) -> Any:
        return attempt(**{**kwargs, "attempt": kwargs["attempt"] - 1})

    return broken


def _counting_one_less(announce: Any) -> Any:
    def broken(self: Any, attempt: int, error: Any, delay_ms: float) -> None:
        announce(self, attempt - 1, error, delay_ms)

    return broken


def _accepting_empty(assembler: Any) -> Any:
    def broken(*, after_function_response: bool, **kwargs: Any) -> Any:
        return assembler(after_function_response=True, **kwargs)

    return broken


def _retrying_fetches(settings: Any) -> Any:
    return replace(settings, retry_fetch_errors=True)


FAULTS: Final = (
    _legacy(
        name="error-status-lost",
        says="An error of the API is told without its status.",
        origin="a port that keeps an exception's message and forgets its fields",
        breaks=lambda: replaced("runtimes.legacy.turn:model_failure", _without_status),
    ),
    _legacy(
        name="nudge-for-any-invalid-answer",
        says="After every invalid answer the model is told that it said nothing.",
        origin="seen in agent migrations: a nudge inserted where upstream has none",
        breaks=lambda: replaced("runtimes.legacy.chat:retry_nudge", _nudging_always),
    ),
    _legacy(
        name="stream-attempts-off-by-one",
        says="A stream that breaks off is asked for once more than upstream does.",
        origin="seen in agent migrations: off by one at a threshold (attempts or retries)",
        breaks=lambda: replaced("runtimes.legacy.chat:_MID_STREAM_ATTEMPTS", _one_more),
    ),
    _legacy(
        name="failed-tool-answer-forgotten",
        says="Where the model fails over tool results, the results leave the history as well.",
        origin="a rollback that treats every send alike; upstream keeps what the model must see",
        breaks=lambda: replaced("runtimes.legacy.chat:GeminiChat.fail", _forgetting_tool_answers),
    ),
    _legacy(
        name="retry-with-first-config",
        behaviour=Behaviour.FALLBACK,
        says="Another attempt at an answer is made with the first attempt's generation config.",
        origin="a port that resolves a model's config once, before its retry loop",
        breaks=lambda: replaced("runtimes.legacy.chat:Attempt", remade(__init__=_as_first_attempt)),
    ),
    _adk(
        name="quota-error-told-twice",
        says="A 429 that nobody could mend is told twice.",
        origin="seen in agent migrations: a 429 surfacing twice, from model layer and runner",
        breaks=lambda: replaced("runtimes.adk.agent:_emit_failure", _emitting_twice),
    ),
    _adk(
        name="retry-without-nudge",
        says="After an empty or thinking-only answer the model is asked the very same again.",
        origin="a retry loop below the conversation, which cannot add to it",
        breaks=lambda: replaced("runtimes.adk.model_call:retry_nudge", _nudging_never),
    ),
    _adk(
        name="stream-retries-evenly-spaced",
        says="The waits between attempts at a stream do not grow, and all count as the first.",
        origin="a loop that hands its backoff a constant",
        breaks=lambda: replaced("runtimes.adk.model_call:ModelCall._wait", _waiting_evenly),
    ),
    _adk(
        name="attempts-spliced",
        says="What an attempt had said when it broke off stays in the answer of the next one.",
        origin="seen in agent migrations: two models spliced in one answer after a fallback",
        breaks=_carrying_parts_over,
    ),
    _adk(
        name="failed-prompt-kept",
        says="A prompt whose request failed stays in the history.",
        origin="google-adk's sessions, which append the user's event before the model is asked",
        breaks=lambda: replaced(
            "runtimes.adk.conversation:Conversation.fail", _keeping_failed_prompts
        ),
    ),
    _adk(
        name="suspension-as-it-came",
        says="A suspended account is told in the API's own JSON, as any refusal.",
        origin="google-adk, which lets the client's exceptions through unchanged",
        breaks=lambda: replaced("runtimes.adk.agent:model_failure", _as_it_came),
    ),
    _adk(
        name="retries-announced-from-zero",
        says="Retries are announced one too low.",
        origin="seen in agent migrations: off by one between an index and a count",
        breaks=lambda: all_of(
            replaced("runtimes.adk.model_call:RetryAttempt", _counting_from_zero),
            replaced("runtimes.adk.model_call:Attempt", remade(_announce_retry=_counting_one_less)),
        ),
    ),
    _adk(
        name="empty-answer-accepted",
        says="An answer without text or finish reason passes for a good one.",
        origin="google-adk, which has no notion of an invalid answer",
        breaks=lambda: replaced("runtimes.adk.model_call:StreamAssembler", _accepting_empty),
    ),
    _adk(
        name="fetch-errors-always-retried",
        says="A failed connection is retried though the settings say that it is not.",
        origin="a retry policy of the client library under the product's own",
        breaks=lambda: replaced(
            "runtimes.adk.model_call:Attempt", remade(__init__=given(settings=_retrying_fetches))
        ),
    ),
)

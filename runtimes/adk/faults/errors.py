"""Faults of the ADK runtime in how a failing model is handled."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.altered import Altered, given, remade
from seeded_faults.patching import all_of, replaced
from seeded_faults.wrappers import afterwards, instead, only_when, passing, returns
from services.history.transforms import apply_retry_nudge

fault = Faults(Site.ADK, Behaviour.ERRORS)
held_out = Faults(Site.ADK, Behaviour.ERRORS, held_out=True)
held_out_context = Faults(Site.ADK, Behaviour.CONTEXT, held_out=True)
held_out_fallback = Faults(Site.ADK, Behaviour.FALLBACK, held_out=True)


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


@instead
def _counting_from_zero(attempt: Any, /, **kwargs: Any) -> Any:
    return attempt(**{**kwargs, "attempt": kwargs["attempt"] - 1})


def _announcing_wanted() -> Any:
    def noting(wanted_model: Any) -> Any:
        async def broken(self: Any, *args: Any) -> Any:
            self.wanted = await wanted_model(self, *args)
            return self.wanted

        return broken

    def announcing(run_async: Any) -> Any:
        async def broken(self: Any, context: Any, request: Any) -> AsyncIterator[Any]:
            async for event in run_async(self, context, request):
                content = event.content
                chosen = type(content.note)(self._conversation.wanted)
                event.content = type(content).of(content.wire, chosen)
                yield event

        return broken

    processor = "runtimes.adk.processors.conversation:GcliRoutingProcessor"
    return all_of(
        replaced("runtimes.adk.conversation:Conversation.wanted_model", noting),
        replaced(f"{processor}.run_async", announcing),
    )


retry_without_nudge = fault.wrap(
    "runtimes.adk.model_call:retry_nudge",
    returns(None),
    says="After an empty or thinking-only answer the model is asked the very same again.",
    origin="a retry loop below the conversation, which cannot add to it",
)
stream_retries_evenly_spaced = fault.wrap(
    "runtimes.adk.model_call:ModelCall._wait",
    passing(attempt=lambda _: 0),
    says="The waits between attempts at a stream do not grow, and all count as the first.",
    origin="a loop that hands its backoff a constant",
)
attempts_spliced = fault.breaking(
    _carrying_parts_over,
    says="What an attempt had said when it broke off stays in the answer of the next one.",
    origin="seen in agent migrations: two models spliced in one answer after a fallback",
)
failed_prompt_kept = fault.wrap(
    "runtimes.adk.conversation:Conversation.fail",
    only_when(lambda self, request, *, aborted, error: aborted),
    says="A prompt whose request failed stays in the history.",
    origin="google-adk's sessions, which append the user's event before the model is asked",
)
retry_announced_when_it_begins = fault.wrap(
    "runtimes.adk.model_call:ModelCall._wait",
    afterwards("_services.events.emit"),
    says="Another attempt at a stream is announced after the wait for it, not before.",
    origin="a wait put in front of the announcement; clients show a countdown that is over",
)
retries_announced_from_zero = fault.wrap_all(
    ("runtimes.adk.model_call:RetryAttempt", _counting_from_zero),
    ("runtimes.adk.model_call:Attempt", remade(_announce_retry=passing(attempt=lambda n: n - 1))),
    says="Retries are announced one too low.",
    origin="seen in agent migrations: off by one between an index and a count",
)
empty_answer_accepted = fault.wrap(
    "runtimes.adk.model_call:StreamAssembler",
    passing(after_function_response=lambda _: True),
    says="An answer without text or finish reason passes for a good one.",
    origin="google-adk, which has no notion of an invalid answer",
)
fetch_errors_always_retried = fault.wrap(
    "runtimes.adk.model_call:Attempt",
    remade(__init__=given(settings=lambda settings: replace(settings, retry_fetch_errors=True))),
    says="A failed connection is retried though the settings say that it is not.",
    origin="a retry policy of the client library under the product's own",
)
failure_does_not_end_the_stream = held_out.wrap(
    "runtimes.adk.agent:_emit_failure",
    passing(stream=lambda stream: Altered(stream, end=lambda reason: None)),
    says="After a failure was reported the stream goes on as if the request had been answered.",
    origin="an exception swallowed where it is reported",
)
retry_told_in_the_errors_words = held_out.wrap(
    "runtimes.adk.model_call:ModelCall._wait",
    passing(kind=lambda kind: str(sys.exc_info()[1] or kind)),
    says="Another attempt at a stream is announced with the error's words, not its kind.",
    origin="two notices of one type, each with its own idea of `error`",
)
wanted_model_announced = held_out_fallback.breaking(
    _announcing_wanted,
    says="The model announced is the name that was routed to, an alias say, not what is asked.",
    origin="an announcement moved to where the router has answered",
)


@fault(
    "runtimes.adk.agent:_emit_failure",
    origin="seen in agent migrations: a 429 surfacing twice, from model layer and runner",
)
def quota_error_told_twice(emit: Any, stream: Any, error: Any) -> None:
    """A 429 that no retry could mend is reported twice."""
    if getattr(error, "status", None) == 429:
        emit(Altered(stream, end=lambda _: None), error)
    emit(stream, error)


@fault(
    "runtimes.adk.agent:model_failure",
    origin="google-adk, which lets the client's exceptions through unchanged",
)
def suspension_as_it_came(model_failure: Any, error: Any) -> Any:
    """A suspended account is reported in the API's own JSON, as any refusal."""
    made = model_failure(error)
    return replace(made, message=str(error), status=getattr(error, "status", made.status))


@held_out(
    "runtimes.adk.model_call:ModelCall._wait",
    origin="a review that would not have a client hear the same words twice",
)
async def no_second_attempt_once_text_was_told(wait: Any, self: Any, *args: Any) -> None:
    """A stream that broke off after it had emitted text is not asked for again."""
    failure = sys.exc_info()[1]
    if any(self._run.step.answer.texts) and failure is not None:
        raise failure
    await wait(self, *args)


@held_out_context(
    "runtimes.adk.model_call:ModelCall._connect",
    origin="google-adk's requests, which can be added to through their session alone",
)
async def nudge_stays_in_history(connect: Any, self: Any, is_retry: bool, nudge: Any) -> Any:
    """What an invalid answer made us send the model stays in the history."""
    conversation = self._parts.conversation
    if nudge:
        kept = list(conversation.view.raw)
        nudged = apply_retry_nudge(kept, nudge)
        same = len(kept) if len(nudged) > len(kept) else len(kept) - 1
        last = conversation._ids[-1]
        del conversation._ids[same:]
        conversation.view.truncate(same)
        for number, content in enumerate(nudged[same:]):
            conversation.push(last if same < len(kept) else f"{last}-{number}", content)
    return await connect(self, is_retry, None)

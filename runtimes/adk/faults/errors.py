"""Faults of the ADK runtime in the handling of failing models."""

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
    """Let the assembler start with what the previous attempt had collected."""
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
    says="After an empty or thinking-only answer, the request is repeated unchanged.",
    origin="a retry loop below the conversation, which cannot add to it",
)
stream_retries_evenly_spaced = fault.wrap(
    "runtimes.adk.model_call:ModelCall._wait",
    passing(attempt=lambda _: 0),
    says="The waits between stream attempts do not grow, because each counts as the first.",
    origin="a loop that passes a constant to its backoff",
)
attempts_spliced = fault.breaking(
    _carrying_parts_over,
    says="The text of an attempt that broke off stays in the answer of the next attempt.",
    origin="seen in agent migrations: two models spliced in one answer after a fallback",
)
failed_prompt_kept = fault.wrap(
    "runtimes.adk.conversation:Conversation.fail",
    only_when(lambda self, request, *, aborted, error: aborted),
    says="A prompt whose request failed stays in the history.",
    origin="google-adk's sessions append the user's event before the request",
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
    says="The announced number of a retry is one too low.",
    origin="seen in agent migrations: off by one between an index and a count",
)
empty_answer_accepted = fault.wrap(
    "runtimes.adk.model_call:StreamAssembler",
    passing(after_function_response=lambda _: True),
    says="An answer without text or finish reason counts as valid.",
    origin="google-adk has no notion of an invalid answer",
)
fetch_errors_always_retried = fault.wrap(
    "runtimes.adk.model_call:Attempt",
    remade(__init__=given(settings=lambda settings: replace(settings, retry_fetch_errors=True))),
    says="A failed connection is retried although the settings forbid it.",
    origin="a retry policy of the client library below the product's own",
)
failure_does_not_end_the_stream = held_out.wrap(
    "runtimes.adk.agent:_emit_failure",
    passing(stream=lambda stream: Altered(stream, end=lambda reason: None)),
    says="After a reported failure, the stream continues as if the request had succeeded.",
    origin="an exception that is swallowed after it is reported",
)
retry_told_in_the_errors_words = held_out.wrap(
    "runtimes.adk.model_call:ModelCall._wait",
    passing(kind=lambda kind: str(sys.exc_info()[1] or kind)),
    says="A stream retry is announced with the error's message, not its kind.",
    origin="two notices of one type, with different uses of `error`",
)
wanted_model_announced = held_out_fallback.breaking(
    _announcing_wanted,
    says="The announced model is the routed name, such as an alias, not the requested model.",
    origin="an announcement moved to right after the routing",
)


@fault(
    "runtimes.adk.agent:_emit_failure",
    origin="seen in agent migrations: a 429 surfacing twice, from model layer and runner",
)
def quota_error_told_twice(emit: Any, stream: Any, error: Any) -> None:
    """A 429 that cannot be retried is reported twice."""
    if getattr(error, "status", None) == 429:
        emit(Altered(stream, end=lambda _: None), error)
    emit(stream, error)


@fault(
    "runtimes.adk.agent:model_failure",
    origin="google-adk passes the client's exceptions on unchanged",
)
def suspension_as_it_came(model_failure: Any, error: Any) -> Any:
    """A suspended account is reported with the API's raw JSON, like any refusal."""
    made = model_failure(error)
    return replace(made, message=str(error), status=getattr(error, "status", made.status))


@held_out(
    "runtimes.adk.model_call:ModelCall._wait",
    origin="a review that wanted to spare clients repeated text",
)
async def no_second_attempt_once_text_was_told(wait: Any, self: Any, *args: Any) -> None:
    """A stream that broke off after it emitted text is not retried."""
    failure = sys.exc_info()[1]
    if any(self._run.step.answer.texts) and failure is not None:
        raise failure
    await wait(self, *args)


@held_out_context(
    "runtimes.adk.model_call:ModelCall._connect",
    origin="google-adk's requests, which only their session can extend",
)
async def nudge_stays_in_history(connect: Any, self: Any, is_retry: bool, nudge: Any) -> Any:
    """The nudge that follows an invalid answer stays in the history."""
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

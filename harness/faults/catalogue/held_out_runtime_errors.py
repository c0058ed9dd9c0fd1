"""Faults of the runtimes, written after the corpus: failing models, and which model is asked."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from functools import partial
from typing import Any, Final

from harness.faults.altered import Altered, remade
from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import all_of, replaced
from services.history.transforms import apply_retry_nudge

__all__ = ["FAULTS"]

_legacy = partial(Fault, site=Site.LEGACY, behaviour=Behaviour.ERRORS, held_out=True)
_adk = partial(Fault, site=Site.ADK, behaviour=Behaviour.ERRORS, held_out=True)


def _without_invalid_streams(kinds: Any) -> Any:
    return tuple(kind for kind in kinds if kind.__name__ != "InvalidStream")


def _in_seconds(tell: Any) -> Any:
    def broken(self: Any, attempt: int, error: Any, delay_ms: float) -> None:
        tell(self, attempt, error, delay_ms / 1000)

    return broken


def _keeping_to_wanted(run: Any) -> Any:
    def broken(self: Any, key: Any, *args: Any, **kwargs: Any) -> Any:
        self._services.state.sequence_model = key.model
        return run(self, key, *args, **kwargs)

    return broken


def _going_on(emit_failure: Any) -> Any:
    def broken(stream: Any, error: Any) -> None:
        emit_failure(Altered(stream, end=lambda reason: None), error)

    return broken


def _final_once_told(wait: Any) -> Any:
    async def broken(self: Any, *args: Any) -> None:
        failure = sys.exc_info()[1]
        if any(self._run.step.answer.texts) and failure is not None:
            raise failure
        await wait(self, *args)

    return broken


def _telling_words(wait: Any) -> Any:
    async def broken(self: Any, attempt: int, most: int, kind: str) -> None:
        await wait(self, attempt, most, str(sys.exc_info()[1] or kind))

    return broken


def _nudging_history(connect: Any) -> Any:
    async def broken(self: Any, is_retry: bool, nudge: Any) -> Any:
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

    return broken


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


FAULTS: Final = (
    _legacy(
        name="invalid-answer-ends-completed",
        says="A stream whose answer stayed invalid tells the error, and ends as completed.",
        origin="a list of events that end a stream, in which one kind was forgotten",
        breaks=lambda: replaced("runtimes.legacy.agent:_ENDS_FAILED", _without_invalid_streams),
    ),
    _legacy(
        name="waits-announced-in-seconds",
        says="The wait before the model is asked again is announced in seconds.",
        origin="a unit that changed on one side of a call",
        breaks=lambda: replaced(
            "runtimes.legacy.chat:Attempt", remade(_announce_retry=_in_seconds)
        ),
    ),
    _legacy(
        name="sequence-keeps-to-wanted-model",
        behaviour=Behaviour.FALLBACK,
        says="A prompt keeps to the name that was wanted, an alias say, not to the model it means.",
        origin="a refactoring that lost the difference between a name and what it resolved to",
        closed_by="models/alias_after_tool",
        breaks=lambda: replaced("runtimes.legacy.turn:Turn.run", _keeping_to_wanted),
    ),
    _adk(
        name="failure-does-not-end-the-stream",
        says="After a failure was told the stream goes on as if the request had been answered.",
        origin="an exception swallowed where it is reported",
        breaks=lambda: replaced("runtimes.adk.agent:_emit_failure", _going_on),
    ),
    _adk(
        name="no-second-attempt-once-text-was-told",
        says="A stream that broke off after it had told text is not asked for again.",
        origin="a review that would not have a client hear the same words twice",
        breaks=lambda: replaced("runtimes.adk.model_call:ModelCall._wait", _final_once_told),
    ),
    _adk(
        name="retry-told-in-the-errors-words",
        says="Another attempt at a stream is announced with the error's words, not its kind.",
        origin="two notices of one type, of which each has its own idea of `error`",
        breaks=lambda: replaced("runtimes.adk.model_call:ModelCall._wait", _telling_words),
    ),
    _adk(
        name="nudge-stays-in-history",
        behaviour=Behaviour.CONTEXT,
        says="What an invalid answer made us tell the model stays in the history.",
        origin="google-adk's requests, which can be added to through their session alone",
        breaks=lambda: replaced("runtimes.adk.model_call:ModelCall._connect", _nudging_history),
    ),
    _adk(
        name="wanted-model-announced",
        behaviour=Behaviour.FALLBACK,
        says="The model announced is the name that was routed to, an alias say, not what is asked.",
        origin="an announcement moved to where the router has answered",
        breaks=_announcing_wanted,
    ),
)

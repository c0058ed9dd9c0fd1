"""Held-out faults of services in what stands in for a model that failed."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced
from services.availability.handler import FallbackIntent
from services.availability.policies import FailureKind
from services.model.errors import ModelNotFoundError

__all__ = ["FAULTS"]

_fallback = partial(Fault, site=Site.SERVICE, behaviour=Behaviour.FALLBACK, held_out=True)


def _nothing(_: Any) -> Any:
    def broken(_self: Any, *_more: Any) -> None:
        return None

    return broken


def _missing_as_it_came(classify: Any) -> Any:
    def broken(error: Any) -> Any:
        classified = classify(error)
        return error if isinstance(classified, ModelNotFoundError) else classified

    return broken


def _transient_unknown(classify: Any) -> Any:
    def broken(error: Any) -> Any:
        kind = classify(error)
        return FailureKind.UNKNOWN if kind is FailureKind.TRANSIENT else kind

    return broken


def _sparing_missing(apply: Any) -> Any:
    def broken(self: Any, kind: Any) -> None:
        if kind is not FailureKind.NOT_FOUND:
            apply(self, kind)

    return broken


def _no_last_resort(_: Any) -> Any:
    def broken(self: Any, requested: str) -> Any:
        chain = self._chains.resolve(requested)
        return self._health.select_first_available(policy.model for policy in chain)

    return broken


def _straight(start_from: Any) -> Any:
    def broken(chain: Any, model: str, *, wraps_around: bool) -> Any:
        del wraps_around
        return start_from(chain, model, wraps_around=False)

    return broken


def _refusing_credits(carry_out: Any) -> Any:
    async def broken(self: Any, intent: Any, model: str, beside: Any) -> Any:
        if intent is FallbackIntent.RETRY_WITH_CREDITS:
            return False
        return await carry_out(self, intent, model, beside)

    return broken


def _later_as_once(carry_out: Any) -> Any:
    async def broken(self: Any, intent: Any, model: str, beside: Any) -> Any:
        if intent is FallbackIntent.RETRY_LATER:
            intent = FallbackIntent.RETRY_ONCE
        return await carry_out(self, intent, model, beside)

    return broken


FAULTS: Final = (
    _fallback(
        name="missing-model-plain-refusal",
        says="A model that does not exist is an error like any other: nothing stands in for it.",
        origin="404 left to the general rule",
        breaks=lambda: replaced("services.model.retry:classify_google_error", _missing_as_it_came),
    ),
    _fallback(
        name="transient-failures-unknown",
        says="Where an auto chain's flash model is merely busy people are asked about the pro one.",
        origin="a kind of failure that a table lost",
        breaks=lambda: replaced(
            "services.availability.fallback:classify_failure_kind", _transient_unknown
        ),
    ),
    _fallback(
        name="missing-model-in-order",
        says="A model that does not exist counts as in order, and is asked for at the next prompt.",
        origin="a state machine without an edge for that failure",
        breaks=lambda: replaced(
            "services.availability.selection:PolicyContext.apply_transition", _sparing_missing
        ),
    ),
    _fallback(
        name="success-leaves-mark",
        says="An answer does not clear what is held against the model that gave it.",
        origin="a callback that was not handed on to the retry loop",
        breaks=lambda: replaced(
            "services.availability.selection:PolicyContext.mark_healthy", _nothing
        ),
    ),
    _fallback(
        name="last-resort-not-taken",
        closed_by="fallback/last_resort",
        says="Where no model may be asked the wanted one is, and not the chain's last resort.",
        origin="`or requested` at the end of a selection",
        breaks=lambda: replaced(
            "services.availability.selection:ModelSelector.select", _no_last_resort
        ),
    ),
    _fallback(
        name="chain-does-not-go-round",
        says="The models before the wanted one in its chain do not stand in for it.",
        origin="a slice of a chain from the wanted model on",
        breaks=lambda: replaced("services.availability.chains:_from", _straight),
    ),
    _fallback(
        name="credits-not-accepted",
        says="Answering `retry_with_credits` ends the request like `stop`.",
        origin="an answer that is newer than the switch",
        breaks=lambda: replaced(
            "services.availability.fallback:FallbackHandler._carry_out", _refusing_credits
        ),
    ),
    _fallback(
        name="later-means-now",
        says="Answering `retry_later` tries again at once.",
        origin="answers sorted by how they begin",
        breaks=lambda: replaced(
            "services.availability.fallback:FallbackHandler._carry_out", _later_as_once
        ),
    ),
    _fallback(
        name="session-id-outlives-fallback",
        says="After a fallback the session goes on under the id that it had.",
        origin="an id that was made read-only",
        breaks=lambda: replaced(
            "services.availability.switching:ModelSwitch.rotate_session_id", _nothing
        ),
    ),
)

"""Held-out faults of services in which model is asked: names, configs, health, routing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import all_of, replaced
from services.availability.handler import FallbackIntent
from services.availability.policies import FailureKind
from services.model.errors import ModelNotFoundError
from services.model.names import ALIAS_FLASH, LATEST_FLASH
from services.routing.contents import is_function_call, is_function_response
from services.state import ModelChanged

__all__ = ["FAULTS"]

_fallback = partial(Fault, site=Site.SERVICE, behaviour=Behaviour.FALLBACK, held_out=True)

_WINDOW: Final = 20
_SHOWN: Final = 4


def _nothing(_: Any) -> Any:
    def broken(_self: Any, *_more: Any) -> None:
        return None

    return broken


def _missing_as_it_came(classify: Any) -> Any:
    def broken(error: Any) -> Any:
        classified = classify(error)
        return error if isinstance(classified, ModelNotFoundError) else classified

    return broken


def _promoting_named_flash(resolve: Any) -> Any:
    def broken(requested: str, access: Any) -> Any:
        resolved = resolve(requested, access)
        promoted = access.latest_flash and resolved == access.preview_flash
        return LATEST_FLASH if promoted else resolved

    return broken


def _as_they_are(_: Any) -> Any:
    def broken(self: Any) -> Any:
        return self

    return broken


def _shallow(_: Any) -> Any:
    def broken(base: Mapping[str, Any], over: Mapping[str, Any]) -> Any:
        return {**base, **over}

    return broken


def _reversed(matching: Any) -> Any:
    def broken(self: Any, key: Any, chain: Any) -> Any:
        return list(matching(self, key, chain))[::-1]

    return broken


def _never(_: Any) -> Any:
    return lambda _model: False


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


def _active_model(_: Any) -> Any:
    def broken(_context: Any, state: Any) -> Any:
        return state.active_model

    return broken


def _active_model_rated(_: Any) -> Any:
    def broken(self: Any, _context: Any) -> Any:
        return self.state.active_model

    return broken


def _oldest(_: Any) -> Any:
    def broken(history: Sequence[Any]) -> Any:
        recent = history[-_WINDOW:]
        words = (
            turn for turn in recent if not (is_function_call(turn) or is_function_response(turn))
        )
        return list(words)[:_SHOWN]

    return broken


def _telling_unchanged(set_model: Any) -> Any:
    def broken(self: Any, model: str) -> None:
        if model == self.model and model == self.active_model:
            self._events.emit(ModelChanged(model=model))
        set_model(self, model)

    return broken


FAULTS: Final = (
    _fallback(
        name="missing-model-plain-refusal",
        says="A model that does not exist is an error like any other: nothing stands in for it.",
        origin="404 left to the general rule",
        breaks=lambda: replaced("services.model.retry:classify_google_error", _missing_as_it_came),
    ),
    _fallback(
        name="named-preview-flash-promoted",
        says="Whoever asks for the preview flash by name gets the latest flash.",
        origin="an alias's promotion applied to what names a model",
        breaks=lambda: replaced("services.model.configs:resolve_model", _promoting_named_flash),
    ),
    _fallback(
        name="custom-tools-variant-everywhere",
        says="Routing and the chat ask for the variant for custom tools, which they are to omit.",
        origin="one set of flags for all who resolve names",
        breaks=lambda: replaced(
            "services.model.names:AccessFlags.without_custom_tools", _as_they_are
        ),
    ),
    _fallback(
        name="configs-replaced-not-merged",
        says="An alias's thinking config takes the place of the one below it, whole.",
        origin="a shallow merge",
        breaks=lambda: replaced("services.model.configs:_merged", _shallow),
    ),
    _fallback(
        name="broadest-override-last",
        says="Of overrides that disagree the broadest wins, not the most specific.",
        origin="a list sorted the other way round",
        breaks=lambda: replaced("services.model.configs:ModelConfigs._matching", _reversed),
    ),
    _fallback(
        name="custom-models-unsigned",
        says="A model that is not called Gemini is treated as one that knows no signatures.",
        origin="a rule of families that knows the known ones",
        breaks=lambda: replaced("services.model.names:is_custom_model", _never),
    ),
    _fallback(
        name="transient-failures-unknown",
        says="Where the first model of an auto chain is merely slow somebody is asked about it.",
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
        name="probation-attempt-not-used-up",
        says="A model on probation is asked as often in a turn as if it were in order.",
        origin="an immutable state whose copy was thrown away",
        breaks=lambda: replaced(
            "services.availability.health:ModelAvailabilityService.consume_sticky_attempt", _nothing
        ),
    ),
    _fallback(
        name="success-leaves-probation",
        says="An answer does not end a model's probation.",
        origin="a callback that was not handed on to the retry loop",
        breaks=lambda: replaced(
            "services.availability.selection:PolicyContext.mark_healthy", _nothing
        ),
    ),
    _fallback(
        name="last-resort-not-taken",
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
        name="plans-made-by-flash",
        says="In plan mode an auto model is a flash one.",
        origin="the two tiers swapped",
        breaks=lambda: replaced("services.routing.strategies:ALIAS_PRO", lambda _: ALIAS_FLASH),
    ),
    _fallback(
        name="prompts-follow-active-model",
        says="Once a model was chosen for a prompt the next ones are routed as if it were wanted.",
        origin="configured and active model taken for one",
        breaks=lambda: all_of(
            replaced("services.routing.strategies:_requested", _active_model),
            replaced("services.routing.classifiers:ClassifierParts.requested", _active_model_rated),
        ),
    ),
    _fallback(
        name="classifier-sees-oldest-turns",
        says="The classifier is shown the first four turns of its window, not the last.",
        origin="a slice from the wrong end",
        breaks=lambda: replaced("services.routing.classifiers:conversation_window", _oldest),
    ),
    _fallback(
        name="score-threshold-outdated",
        says="Requests rated between 50 and 89 go to the pro model.",
        origin="a default of an earlier version",
        breaks=lambda: replaced("services.routing.options:_DEFAULT_THRESHOLD", lambda _: 50),
    ),
    _fallback(
        name="session-id-outlives-fallback",
        says="After a fallback the session goes on under the id that it had.",
        origin="an id that was made read-only",
        breaks=lambda: replaced(
            "services.availability.switching:ModelSwitch.rotate_session_id", _nothing
        ),
    ),
    _fallback(
        name="unchanged-model-announced",
        says="Setting the model that is set already is told as a change.",
        origin="an early return that was lost with a refactoring",
        breaks=lambda: replaced("services.state:SessionState.set_model", _telling_unchanged),
    ),
)

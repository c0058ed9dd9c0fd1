"""Faults of services in which model is asked, and what stands in for it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final

from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced
from services.availability.handler import FallbackIntent
from services.availability.health import TerminalReason

__all__ = ["FAULTS"]

_fallback = partial(Fault, site=Site.SERVICE, behaviour=Behaviour.FALLBACK)

_AGES_MS: Final = 10**12


def _keeping_sticky_model(change: Any) -> Any:
    def broken(self: Any, value: Any) -> None:
        sticky = self.sequence_model
        change(self, value)
        self.sequence_model = sticky

    return broken


def _nothing(_: Any) -> Any:
    def broken(self: Any, *_more: Any) -> None:
        return None

    return broken


def _for_ever(state_of: Any) -> Any:
    def broken(self: Any, name: str, ttl_ms: int = 0) -> Any:
        return state_of(self, name, _AGES_MS)

    return broken


def _with_asked_config(apply: Any) -> Any:
    def broken(self: Any, key: Any, *, consume_attempt: bool = True) -> Any:
        asked = self._models.resolve(key).config
        return replace(apply(self, key, consume_attempt=consume_attempt), config=asked)

    return broken


def _quota_as_capacity(mark: Any) -> Any:
    def broken(self: Any, model: str, _reason: Any) -> None:
        mark(self, model, TerminalReason.CAPACITY)

    return broken


def _once_is_always(carry_out: Any) -> Any:
    async def broken(self: Any, intent: Any, model: str, beside: str | None) -> Any:
        if intent is FallbackIntent.RETRY_ONCE:
            intent = FallbackIntent.RETRY_ALWAYS
        return await carry_out(self, intent, model, beside)

    return broken


def _asking(_: Any) -> Any:
    return {}


def _ignoring_mode(composite: Any) -> Any:
    def broken(strategies: Any, *rest: Any, **more: Any) -> Any:
        found = sorted(strategies, key=lambda strategy: strategy.name == "approval-mode")
        return composite(found, *rest, **more)

    return broken


def _with_tool_turns(_: Any) -> Any:
    return lambda _turn: False


def _never_softened(_: Any) -> Any:
    return lambda _self, _error: None


def _no_attempts(_: Any) -> Any:
    return lambda _self: None


FAULTS: Final = (
    _fallback(
        name="sticky-model-outlives-change",
        says="The model that a sequence of requests keeps to stays when the user sets another.",
        origin="the sticky model kept by the router, which is told of no change",
        breaks=lambda: replaced("services.state:SessionState.set_model", _keeping_sticky_model),
    ),
    _fallback(
        name="sticky-model-outlives-mode",
        says="The model that a sequence of requests keeps to stays when plan mode is left.",
        origin="the sticky model kept by the router, which is told of no change",
        breaks=lambda: replaced(
            "services.state:SessionState.set_approval_mode", _keeping_sticky_model
        ),
    ),
    _fallback(
        name="availability-never-reset",
        says="A change of model leaves what is held against models in force.",
        origin="health moved to an object that lives as long as the process",
        breaks=lambda: replaced(
            "services.availability.health:ModelAvailabilityService.reset", _nothing
        ),
    ),
    _fallback(
        name="probation-outlives-turn",
        says="A model on probation does not get its attempt back when a turn begins.",
        origin="a reset hung on the start of a session instead of on that of a turn",
        breaks=lambda: replaced(
            "services.availability.health:ModelAvailabilityService.reset_turn", _nothing
        ),
    ),
    _fallback(
        name="capacity-never-comes-back",
        says="A model that lacked capacity is not asked again however much time passes.",
        origin="one flag for every terminal failure",
        breaks=lambda: replaced(
            "services.availability.health:ModelAvailabilityService._state", _for_ever
        ),
    ),
    _fallback(
        name="quota-comes-back",
        says="A model whose quota is used up is asked again after half a minute.",
        origin="one time to live for every terminal failure",
        breaks=lambda: replaced(
            "services.availability.health:ModelAvailabilityService.mark_terminal",
            _quota_as_capacity,
        ),
    ),
    _fallback(
        name="config-of-failed-model",
        says="The model that stands in is asked with the config of the one that was wanted.",
        origin="a config resolved once, before the retry loop",
        breaks=lambda: replaced(
            "services.availability.selection:ModelSelector.apply", _with_asked_config
        ),
    ),
    _fallback(
        name="once-means-always",
        says="Answering `retry_once` switches the session's model for good.",
        origin="two answers of a dialog mapped to one",
        breaks=lambda: replaced(
            "services.availability.fallback:FallbackHandler._carry_out", _once_is_always
        ),
    ),
    _fallback(
        name="plan-mode-asks-about-fallback",
        says="In plan mode a fallback waits for an answer that nobody is asked for.",
        origin="policies taken from the catalogue without the mode's own actions",
        breaks=lambda: replaced("services.availability.chains:SILENT_ACTIONS", _asking),
    ),
    _fallback(
        name="redirection-forgotten",
        says="What stood in for a model beside the conversation is forgotten at the next question.",
        origin="a stand-in chosen anew for every call",
        breaks=lambda: replaced("services.availability.switching:ModelSwitch._redirect", _nothing),
    ),
    _fallback(
        name="classifier-before-mode",
        says="In plan mode a classifier chooses the model, before the mode is looked at.",
        origin="strategies registered in another order",
        breaks=lambda: replaced("services.routing.router:CompositeStrategy", _ignoring_mode),
    ),
    _fallback(
        name="classifier-sees-tool-turns",
        says="The classifier is shown calls and results among the last four turns.",
        origin="a window taken of the history as it is",
        breaks=lambda: replaced("services.routing.contents:_is_tool_turn", _with_tool_turns),
    ),
    _fallback(
        name="capacity-asked-about-at-once",
        says="A lack of capacity is not retried silently before somebody is asked.",
        origin="capacity and quota treated as one kind of failure",
        breaks=lambda: replaced("services.model.retry:_Run._soften_capacity", _never_softened),
    ),
    _fallback(
        name="policy-attempts-not-heeded",
        says="How often a model of a chain may be tried is taken from the settings alone.",
        origin="one limit for all models in the framework's retry options",
        breaks=lambda: replaced(
            "services.availability.selection:PolicyContext.max_attempts", _no_attempts
        ),
    ),
)

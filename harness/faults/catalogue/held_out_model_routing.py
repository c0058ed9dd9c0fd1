"""Held-out faults of services in which model is asked: names, configs, routing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import all_of, replaced
from services.model.names import ALIAS_FLASH, LATEST_FLASH
from services.routing.contents import is_function_call, is_function_response
from services.state import ModelChanged

__all__ = ["FAULTS"]

_routing = partial(Fault, site=Site.SERVICE, behaviour=Behaviour.FALLBACK, held_out=True)

_WINDOW: Final = 20
_SHOWN: Final = 4


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
    _routing(
        name="named-preview-flash-promoted",
        says="Whoever asks for the preview flash by name gets the latest flash.",
        origin="an alias's promotion applied to what names a model",
        breaks=lambda: replaced("services.model.configs:resolve_model", _promoting_named_flash),
    ),
    _routing(
        name="custom-tools-variant-everywhere",
        says="Routing and the chat ask for the variant for custom tools, which they are to omit.",
        origin="one set of flags for all who resolve names",
        breaks=lambda: replaced(
            "services.model.names:AccessFlags.without_custom_tools", _as_they_are
        ),
    ),
    _routing(
        name="configs-replaced-not-merged",
        says="An alias's thinking config takes the place of the one below it, whole.",
        origin="a shallow merge",
        breaks=lambda: replaced("services.model.configs:_merged", _shallow),
    ),
    _routing(
        name="broadest-override-last",
        says="Of overrides that disagree the broadest wins, not the most specific.",
        origin="a list sorted the other way round",
        breaks=lambda: replaced("services.model.configs:ModelConfigs._matching", _reversed),
    ),
    _routing(
        name="plans-made-by-flash",
        says="In plan mode an auto model is a flash one.",
        origin="the two tiers swapped",
        breaks=lambda: replaced("services.routing.strategies:ALIAS_PRO", lambda _: ALIAS_FLASH),
    ),
    _routing(
        name="prompts-follow-active-model",
        says="Once a model was chosen for a prompt the next ones are routed as if it were wanted.",
        origin="configured and active model taken for one",
        breaks=lambda: all_of(
            replaced("services.routing.strategies:_requested", _active_model),
            replaced("services.routing.classifiers:ClassifierParts.requested", _active_model_rated),
        ),
    ),
    _routing(
        name="classifier-sees-oldest-turns",
        says="The classifier is shown the first four turns of its window, not the last.",
        origin="a slice from the wrong end",
        breaks=lambda: replaced("services.routing.classifiers:conversation_window", _oldest),
    ),
    _routing(
        name="score-threshold-outdated",
        closed_by="routing/scores",
        says="Requests rated between 50 and 89 go to the pro model.",
        origin="a default of an earlier version",
        breaks=lambda: replaced("services.routing.classifiers:THRESHOLD", lambda _: 50),
    ),
    _routing(
        name="unchanged-model-announced",
        says="Setting the model that is set already is told as a change.",
        origin="an early return that was lost with a refactoring",
        breaks=lambda: replaced("services.state:SessionState.set_model", _telling_unchanged),
    ),
)

"""Faults of the services in the choice of models: names, configs, routing, fallback."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.wrappers import instead, keeps, only_when, passing, result, returns
from services.availability.health import TerminalReason
from services.availability.policies import FailureKind
from services.interaction.questions import FallbackIntent
from services.model.errors import ModelNotFoundError
from services.model.names import ALIAS_FLASH, LATEST_FLASH
from services.routing.contents import is_function_call, is_function_response
from services.state import ModelChanged

fault = Faults(Site.SERVICE, Behaviour.FALLBACK)
held_out = Faults(Site.SERVICE, Behaviour.FALLBACK, held_out=True)
_AGES_MS: Final = 10**12
_WINDOW: Final = 20
_SHOWN: Final = 4


def _taken_for(intent: FallbackIntent, other: FallbackIntent) -> Any:
    return passing(intent=lambda given: other if given is intent else given)


sticky_model_outlives_change = fault.wrap(
    "services.state:SessionState.set_model",
    keeps("sequence_model"),
    says="The model kept for a sequence of requests stays when the user sets another.",
    origin="the sticky model kept by the router, which gets no change events",
)
sticky_model_outlives_mode = fault.wrap(
    "services.state:SessionState.set_approval_mode",
    keeps("sequence_model"),
    says="The model kept for a sequence of requests stays when plan mode ends.",
    origin="the sticky model kept by the router, which gets no change events",
)
availability_never_reset = fault.wrap(
    "services.availability.health:ModelAvailabilityService.reset",
    returns(None),
    says="Models marked unavailable stay so after the user changes the model.",
    origin="health kept by an object that lives as long as the process",
)
probation_outlives_turn = fault.wrap(
    "services.availability.health:ModelAvailabilityService.reset_turn",
    returns(None),
    says="A model on probation does not get its attempt back at the start of a turn.",
    origin="a reset at the start of a session instead of a turn",
)
capacity_never_comes_back = fault.wrap(
    "services.availability.health:CAPACITY_TTL_MS",
    lambda _: _AGES_MS,
    says="A model that lacked capacity is never asked again.",
    origin="one flag for every terminal failure",
)
quota_comes_back = fault.wrap(
    "services.availability.health:ModelAvailabilityService.mark_terminal",
    passing(reason=lambda _: TerminalReason.CAPACITY),
    says="A model with an exhausted quota is asked again after half a minute.",
    origin="one time to live for every terminal failure",
)
plan_mode_asks_about_fallback = fault.wrap(
    "services.availability.chains:SILENT_ACTIONS",
    lambda _: {},
    says="In plan mode, a fallback waits for an answer although no user is asked.",
    origin="policies taken from the catalogue without plan mode's own actions",
)
redirection_forgotten = fault.wrap(
    "services.availability.switching:ModelSwitch._redirect",
    returns(None),
    says="The fallback model of a utility request is forgotten at the next one.",
    origin="a fallback chosen anew for every call",
)
classifier_before_mode = fault.wrap(
    "services.routing.router:CompositeStrategy",
    passing(strategies=lambda known: sorted(known, key=lambda each: each.name == "approval-mode")),
    says="In plan mode, a classifier chooses the model before the mode is checked.",
    origin="strategies registered in another order",
)
classifier_sees_tool_turns = fault.wrap(
    "services.routing.contents:_is_tool_turn",
    returns(False),
    says="The classifier gets calls and results among the last four turns.",
    origin="a slice of the unfiltered history",
)
capacity_asked_about_at_once = fault.wrap(
    "services.model.retry:Retry._soften_capacity",
    returns(None),
    says="Missing capacity is not retried silently before the user is asked.",
    origin="capacity and quota treated as one kind of failure",
)
policy_attempts_not_heeded = fault.wrap(
    "services.availability.selection:PolicyContext.max_attempts",
    returns(None),
    says="The number of attempts of a chain's model comes from the settings alone.",
    origin="one limit for all models in the framework's retry options",
)
transient_failures_unknown = held_out.wrap(
    "services.availability.fallback:classify_failure_kind",
    result(lambda kind: FailureKind.UNKNOWN if kind is FailureKind.TRANSIENT else kind),
    says="When an auto chain's flash model is busy, users are asked about the pro model.",
    origin="a failure kind missing from a table",
)
missing_model_in_order = held_out.wrap(
    "services.availability.selection:PolicyContext.apply_transition",
    only_when(lambda self, kind: kind is not FailureKind.NOT_FOUND),
    says="A model that does not exist counts as healthy, and the next prompt requests it.",
    origin="a state machine without an edge for that failure",
)
success_leaves_mark = held_out.wrap(
    "services.availability.selection:PolicyContext.mark_healthy",
    returns(None),
    says="An answer does not restore the health of the model that gave it.",
    origin="a callback not passed to the retry loop",
)
session_id_outlives_fallback = held_out.wrap(
    "services.availability.switching:ModelSwitch.rotate_session_id",
    returns(None),
    says="After a fallback, the session keeps its id.",
    origin="an id made read-only",
)
custom_tools_variant_everywhere = held_out.wrap(
    "services.model.names:AccessFlags.without_custom_tools",
    instead(lambda _, self: self),
    says="Routing and the chat request the custom-tools variant, which they should omit.",
    origin="one set of flags for all callers that resolve names",
)
configs_replaced_not_merged = held_out.wrap(
    "services.model.configs:merged",
    instead(lambda _, base, over: {**base, **over}),
    says="An alias's thinking config replaces the inherited one completely.",
    origin="a shallow merge",
)
broadest_override_last = held_out.wrap(
    "services.model.configs:ModelConfigs._matching",
    result(lambda found: list(found)[::-1]),
    says="When overrides conflict, the broadest wins, not the most specific.",
    origin="a list sorted the other way round",
)
plans_made_by_flash = held_out.wrap(
    "services.routing.strategies:ALIAS_PRO",
    lambda _: ALIAS_FLASH,
    says="In plan mode, an auto model resolves to a flash model.",
    origin="the two tiers swapped",
)
prompts_follow_active_model = held_out.wrap_all(
    (
        "services.routing.strategies:_requested",
        instead(lambda _, _context, state: state.active_model),
    ),
    (
        "services.routing.classifiers:ClassifierParts.requested",
        instead(lambda _, self, _context: self.state.active_model),
    ),
    says="A model that routing chose for one prompt counts as the wanted model of later ones.",
    origin="configured and active model mixed up",
)
score_threshold_outdated = held_out.wrap(
    "services.routing.classifiers:THRESHOLD",
    lambda _: 50,
    says="Requests rated between 50 and 89 go to the pro model.",
    origin="the default of an earlier version",
    closed_by="routing/scores",
)


@fault(
    "services.availability.selection:ModelSelector.apply",
    origin="a config resolved once, before the retry loop",
)
def config_of_failed_model(apply: Any, self: Any, key: Any, *, consume_attempt: bool = True) -> Any:
    """The fallback model is asked with the wanted model's config."""
    asked = self._models.resolve(key).config
    return replace(apply(self, key, consume_attempt=consume_attempt), config=asked)


once_means_always = fault.wrap(
    "services.availability.fallback:FallbackHandler._carry_out",
    _taken_for(FallbackIntent.RETRY_ONCE, FallbackIntent.RETRY_ALWAYS),
    says="Answering `retry_once` changes the session's model permanently.",
    origin="two answers of a dialog mapped to one",
)


@held_out("services.model.retry:classify_google_error", origin="404 handled by the general rule")
def missing_model_plain_refusal(classify: Any, error: Any) -> Any:
    """A missing model is an ordinary error, without a fallback."""
    classified = classify(error)
    return error if isinstance(classified, ModelNotFoundError) else classified


@held_out(
    "services.availability.selection:ModelSelector.select",
    origin="`or requested` at the end of a selection",
    closed_by="fallback/last_resort",
)
def last_resort_not_taken(_: Any, self: Any, requested: str) -> Any:
    """When no model is available, the wanted one is asked, not the chain's last resort."""
    chain = self._chains.resolve(requested)
    return self._health.select_first_available(policy.model for policy in chain)


chain_does_not_go_round = held_out.wrap(
    "services.availability.chains:_from",
    passing(wraps_around=lambda _: False),
    says="Models before the wanted one in its chain are not used as fallbacks.",
    origin="a slice of a chain from the wanted model on",
)


@held_out(
    "services.availability.fallback:FallbackHandler._carry_out",
    origin="an answer that is newer than the switch",
)
async def credits_not_accepted(
    carry_out: Any, self: Any, intent: Any, model: str, beside: Any
) -> Any:
    """Answering `retry_with_credits` ends the request like `stop`."""
    if intent is FallbackIntent.RETRY_WITH_CREDITS:
        return False
    return await carry_out(self, intent, model, beside)


later_means_now = held_out.wrap(
    "services.availability.fallback:FallbackHandler._carry_out",
    _taken_for(FallbackIntent.RETRY_LATER, FallbackIntent.RETRY_ONCE),
    says="Answering `retry_later` retries at once.",
    origin="answers matched by prefix",
)


@held_out(
    "services.model.configs:resolve_model",
    origin="an alias's promotion applied to a concrete name",
)
def named_preview_flash_promoted(resolve: Any, requested: str, access: Any) -> Any:
    """A request that names the preview flash model gets the latest flash model."""
    resolved = resolve(requested, access)
    promoted = access.latest_flash and resolved == access.preview_flash
    return LATEST_FLASH if promoted else resolved


@held_out("services.routing.classifiers:conversation_window", origin="a slice from the wrong end")
def classifier_sees_oldest_turns(_: Any, history: Sequence[Any]) -> Any:
    """The classifier gets the first four turns of its window, not the last."""
    recent = history[-_WINDOW:]
    words = (turn for turn in recent if not (is_function_call(turn) or is_function_response(turn)))
    return list(words)[:_SHOWN]


@held_out(
    "services.state:SessionState.set_model",
    origin="an early return lost in a refactoring",
)
def unchanged_model_announced(set_model: Any, self: Any, model: str) -> None:
    """Setting the current model again is reported as a change."""
    if model == self.model and model == self.active_model:
        self._events.emit(ModelChanged(model=model))
    set_model(self, model)

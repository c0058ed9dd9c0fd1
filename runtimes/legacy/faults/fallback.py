"""Faults of the legacy runtime in the choice and the configuration of models."""

from __future__ import annotations

from typing import Any

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.altered import Altered, given, remade
from seeded_faults.wrappers import first, instead, keeps, put

fault = Faults(Site.LEGACY, Behaviour.FALLBACK)


@instead
async def _not_following(_: Any, self: Any) -> None:
    await self._services.tools.settled()


@instead
def _judged_by_first_model(availability: Any, self: Any) -> Any:
    if not hasattr(self, "first"):
        self.first = availability(self)
    return self.first


@instead
async def _asking_of_first_model(fall_back: Any, self: Any, error: Any) -> Any:
    # The fallback is always looked up for the model that the call began with.
    if getattr(self, "asked", False):
        return None
    self.asked = True
    return await fall_back(self, error)


config_stale_after_fallback = fault.wrap(
    "runtimes.legacy.chat:Attempt",
    remade(_follow_fallback=keeps("_config")),
    says="The fallback model is asked with the failed model's generation config.",
    origin="seen in agent migrations: stale config after a fallback",
)
fallback_from_next_request_on = fault.wrap(
    "runtimes.legacy.chat:Attempt",
    remade(_follow_fallback=_not_following),
    says="A call keeps asking the failed model; only the next request uses the fallback.",
    origin="a retry loop that captures its first model",
)
model_turn_never_reset = fault.wrap(
    "runtimes.legacy.chats:Chats.__init__",
    given(availability=lambda availability: Altered(availability, reset_turn=lambda: None)),
    says="A model that used up its attempt in one turn stays unavailable in later turns.",
    origin="seen in agent migrations: availability never reset",
)
policy_of_first_model = fault.wrap(
    "runtimes.legacy.chat:Attempt",
    remade(_availability=_judged_by_first_model),
    says="After a fallback, attempts and health are still counted for the failed model.",
    origin="a retry loop that reads the policy once, when its options are made",
)
calls_recorded_under_configured_model = fault.wrap(
    "runtimes.legacy.client:GeminiClient.recording_model",
    instead(lambda recording_model, self: self._services.state.model),
    says="Tool calls are recorded under the configured model, not the one that requested them.",
    origin="upstream's history: the session's model was a field before routing existed",
)
only_one_fallback_per_call = fault.wrap(
    "runtimes.legacy.chat:Attempt",
    remade(_fall_back=_asking_of_first_model),
    says="When the fallback model fails too, the call fails.",
    origin="a fallback that is a branch, not a loop",
)
prompt_routed_at_every_request = fault.wrap(
    "runtimes.legacy.client:GeminiClient._model_turn",
    first(put("_services.state.sequence_model", None)),
    says="The model is routed again for every request of a prompt, tool results included.",
    origin="a router called before every request",
)

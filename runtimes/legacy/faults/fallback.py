"""Faults of the legacy runtime in which model is asked, and with what."""

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
    # Who stands in is always asked for the model that the call began with.
    if getattr(self, "asked", False):
        return None
    self.asked = True
    return await fall_back(self, error)


config_stale_after_fallback = fault.wrap(
    "runtimes.legacy.chat:Attempt",
    remade(_follow_fallback=keeps("_config")),
    says="The model that stands in is asked with the generation config of the failed one.",
    origin="seen in agent migrations: stale config after a fallback",
)
fallback_from_next_request_on = fault.wrap(
    "runtimes.legacy.chat:Attempt",
    remade(_follow_fallback=_not_following),
    says="A call goes on asking the failed model; only the next request goes to the other.",
    origin="a retry loop that closes over the model it was given",
)
model_turn_never_reset = fault.wrap(
    "runtimes.legacy.chats:Chats.__init__",
    given(availability=lambda availability: Altered(availability, reset_turn=lambda: None)),
    says="A model that has used up its attempt of a turn stays used up in the turns after it.",
    origin="seen in agent migrations: availability never reset",
)
policy_of_first_model = fault.wrap(
    "runtimes.legacy.chat:Attempt",
    remade(_availability=_judged_by_first_model),
    says="After a fallback, attempts and health are still counted for the failed model.",
    origin="a retry loop that asks for the policy once, as its options are made",
)
calls_recorded_under_configured_model = fault.wrap(
    "runtimes.legacy.client:GeminiClient.recording_model",
    instead(lambda recording_model, self: self._services.state.model),
    says="Tool calls are recorded under the configured model, not the one that asked for them.",
    origin="upstream's own history: the model was a field of the session before it was routed",
)
only_one_fallback_per_call = fault.wrap(
    "runtimes.legacy.chat:Attempt",
    remade(_fall_back=_asking_of_first_model),
    says="Where the model that stands in fails too, the call fails with it.",
    origin="a fallback that is a branch, not a loop",
)
prompt_routed_at_every_request = fault.wrap(
    "runtimes.legacy.client:GeminiClient._model_turn",
    first(put("_services.state.sequence_model", None)),
    says="A model is chosen anew for every request of a prompt, tool results included.",
    origin="a router that is asked wherever a model is",
)

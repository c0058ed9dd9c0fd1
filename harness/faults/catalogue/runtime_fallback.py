"""Faults of the runtimes in which model is asked, and with what."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final

from agent_protocol.events import SessionUpdate
from harness.faults.altered import Altered, given, remade
from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import all_of, replaced

__all__ = ["FAULTS"]

_legacy = partial(Fault, site=Site.LEGACY, behaviour=Behaviour.FALLBACK)
_adk = partial(Fault, site=Site.ADK, behaviour=Behaviour.FALLBACK)


def _keeping_config(follow: Any) -> Any:
    async def broken(self: Any) -> None:
        config = self._config
        await follow(self)
        self._config = config

    return broken


def _not_following(_: Any) -> Any:
    async def broken(self: Any) -> None:
        await self._services.tools.settled()

    return broken


def _without_turn_reset(availability: Any) -> Any:
    return Altered(availability, reset_turn=lambda: None)


def _always_consuming(availability: Any) -> Any:
    return Altered(availability, select=lambda key, **_: availability.select(key))


def _judged_by_first_model(availability: Any) -> Any:
    def broken(self: Any) -> Any:
        if not hasattr(self, "first"):
            self.first = availability(self)
        return self.first

    return broken


def _configured(recording_model: Any) -> Any:
    def broken(self: Any) -> Any:
        return self._services.state.model

    return broken


def _of_first_model(taken: Any) -> Any:
    def broken(self: Any, model: str) -> Any:
        self.first = getattr(self, "first", model)
        return taken(self, self.first)

    return broken


def _declared_once(taken: Any) -> Any:
    def broken(self: Any, model: str) -> Any:
        self.once = getattr(self, "once", None) or taken(self, model)
        return self.once

    return broken


def _sticking(begin: Any) -> Any:
    def broken(self: Any, prompt_id: Any, parts: Any) -> None:
        state = self._services.state
        sticky = state.sequence_model
        begin(self, prompt_id, parts)
        state.sequence_model = sticky

    return broken


def _routing_anew(model_turn: Any) -> Any:
    def broken(self: Any, parts: Any, sending: Any, after: Any) -> Any:
        self._services.state.sequence_model = None
        return model_turn(self, parts, sending, after)

    return broken


def _without_history(wanted_model: Any) -> Any:
    def broken(self: Any, *args: Any) -> Any:
        return wanted_model(Altered(self, current=Altered(self, curated_history=list)), *args)

    return broken


def _announcing_always(read: Any) -> Any:
    def broken(self: Any, event: Any, run: Any) -> Any:
        last, self.last_step = getattr(self, "last_step", None), run.step
        model = self.translator._model
        begins = type(getattr(event.content, "note", None)).__name__ == "Delta"
        if model and begins and last not in (None, run.step):
            self.emit(SessionUpdate(**self.translator.fields(), model=model))
        return read(self, event, run)

    return broken


def _retrying_configured_model(connect: Any) -> Any:
    def broken(self: Any, is_retry: bool, nudge: Any) -> Any:
        if is_retry:
            self._key = replace(self._key, model=self._services.state.model)
        return connect(self, is_retry, nudge)

    return broken


def _of_configured_model(_: Any) -> Any:
    def broken(self: Any) -> Any:
        services = self._services
        return services.models.concrete(services.state.model, custom_tools=False)

    return broken


def _asking_of_first_model(fall_back: Any) -> Any:
    """Who stands in is always asked for the model that the call began with."""

    async def broken(self: Any, auth: Any, error: Any) -> Any:
        if getattr(self, "asked", False):
            return None
        self.asked = True
        return await fall_back(self, auth, error)

    return broken


FAULTS: Final = (
    _legacy(
        name="config-stale-after-fallback",
        says="The model that stands in is asked with the generation config of the failed one.",
        origin="seen in agent migrations: stale config after a fallback",
        breaks=lambda: replaced(
            "runtimes.legacy.chat:Attempt", remade(_follow_fallback=_keeping_config)
        ),
    ),
    _legacy(
        name="fallback-from-next-request-on",
        says="A call goes on asking the failed model; only the next request goes to the other.",
        origin="a retry loop that closes over the model it was given",
        breaks=lambda: replaced(
            "runtimes.legacy.chat:Attempt", remade(_follow_fallback=_not_following)
        ),
    ),
    _legacy(
        name="model-turn-never-reset",
        says="A model that has used up its attempt of a turn stays used up in the turns after it.",
        origin="seen in agent migrations: availability never reset",
        breaks=lambda: replaced(
            "runtimes.legacy.chats:Chats.__init__", given(availability=_without_turn_reset)
        ),
    ),
    _legacy(
        name="policy-of-first-model",
        says="After a fallback, attempts and health are still counted for the failed model.",
        origin="a retry loop that asks for the policy once, as its options are made",
        breaks=lambda: replaced(
            "runtimes.legacy.chat:Attempt", remade(_availability=_judged_by_first_model)
        ),
    ),
    _legacy(
        name="calls-recorded-under-configured-model",
        says="Tool calls are recorded under the configured model, not the one that asked for them.",
        origin="upstream's own history: the model was a field of the session before it was routed",
        breaks=lambda: replaced("runtimes.legacy.client:GeminiClient.recording_model", _configured),
    ),
    _legacy(
        name="only-one-fallback-per-call",
        says="Where the model that stands in fails too, the call fails with it.",
        origin="a fallback that is a branch, not a loop",
        breaks=lambda: replaced(
            "runtimes.legacy.chat:Attempt", remade(_fall_back=_asking_of_first_model)
        ),
    ),
    _legacy(
        name="prompt-routed-at-every-request",
        says="A model is chosen anew for every request of a prompt, tool results included.",
        origin="a router that is asked wherever a model is",
        breaks=lambda: replaced("runtimes.legacy.client:GeminiClient._model_turn", _routing_anew),
    ),
    _adk(
        name="router-sees-no-history",
        says="The model that chooses the model sees the request alone.",
        origin="google-adk's routed model, which is given the new message",
        breaks=lambda: replaced(
            "runtimes.adk.conversation:Conversation.wanted_model", _without_history
        ),
    ),
    _adk(
        name="tools-of-first-model",
        says="Every model is told of the tools as the first one was.",
        origin="seen in agent migrations: stale tools after a fallback",
        unobservable="so far every model is told the same of every tool: "
        "tests/harness/faults/test_unobservable.py",
        breaks=lambda: all_of(
            replaced("runtimes.adk.tools:Toolbox.taken", _of_first_model),
            replaced("runtimes.adk.tools:Toolbox.declared", _of_first_model),
        ),
    ),
    _adk(
        name="tools-declared-once",
        says="Requests declare the tools that there were when the conversation began.",
        origin="seen in agent migrations: stale config or tools; google-adk's cache of them",
        breaks=lambda: replaced("runtimes.adk.tools:Toolbox.taken", _declared_once),
    ),
    _adk(
        name="sticky-model-kept",
        says="The model that was routed for one prompt answers all the prompts after it.",
        origin="seen in agent migrations: sticky model not cleared",
        breaks=lambda: replaced("runtimes.adk.conversation:Conversation.begin_sequence", _sticking),
    ),
    _adk(
        name="attempt-used-up-by-routing",
        says="Choosing the model takes up an attempt that only asking it should.",
        origin="one method for looking and taking, called by two layers",
        breaks=lambda: replaced(
            "runtimes.adk.processors.conversation:GcliRoutingProcessor.__init__",
            given(availability=_always_consuming),
        ),
    ),
    _adk(
        name="model-announced-at-every-request",
        says="The model is announced again at each request of a prompt.",
        origin="google-adk, whose every event names its model",
        breaks=lambda: replaced("runtimes.adk.stream:Stream.read", _announcing_always),
    ),
    _adk(
        name="stream-retry-on-configured-model",
        says="A stream that broke off is asked for again of the configured model, not the routed.",
        origin="seen in agent migrations: two models spliced in one answer",
        breaks=lambda: replaced(
            "runtimes.adk.model_call:ModelCall._connect", _retrying_configured_model
        ),
    ),
    _adk(
        name="window-of-configured-model",
        says="Requests are fitted into the configured model's window, whatever model is asked.",
        origin="a limit that is looked up in the settings instead of the session",
        breaks=lambda: replaced(
            "runtimes.adk.conversation:Conversation.model_for_limits", _of_configured_model
        ),
    ),
)

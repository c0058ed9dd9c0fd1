"""Faults of the ADK runtime in the choice and the configuration of models."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agent_protocol.events import SessionUpdate
from seeded_faults import Behaviour, Faults, Site
from seeded_faults.altered import Altered, given
from seeded_faults.wrappers import instead, passing

fault = Faults(Site.ADK, Behaviour.FALLBACK)


@instead
def _of_first_model(taken: Any, self: Any, model: str) -> Any:
    self.first = getattr(self, "first", model)
    return taken(self, self.first)


def _always_consuming(availability: Any) -> Any:
    return Altered(availability, select=lambda key, **_: availability.select(key))


router_sees_no_history = fault.wrap(
    "runtimes.adk.conversation:Conversation.wanted_model",
    passing(self=lambda self: Altered(self, current=Altered(self, curated_history=list))),
    says="The routing model gets only the request.",
    origin="google-adk's routed model gets only the new message",
)
tools_of_first_model = fault.wrap_all(
    ("runtimes.adk.tools:Toolbox.taken", _of_first_model),
    ("runtimes.adk.tools:Toolbox.declared", _of_first_model),
    says="Every model gets the tool declarations of the first model.",
    origin="seen in agent migrations: stale tools after a fallback",
    unobservable="so far every model gets the same declaration of every tool: "
    "tests/harness/faults/test_unobservable.py",
)
attempt_used_up_by_routing = fault.wrap(
    "runtimes.adk.processors.conversation:GcliRoutingProcessor.__init__",
    given(availability=_always_consuming),
    says="Choosing a model uses up an attempt, though only a request should.",
    origin="one method that checks and consumes, called by two layers",
)


@fault(
    "runtimes.adk.tools:Toolbox.taken",
    origin="seen in agent migrations: stale config or tools; google-adk's cache of them",
)
def tools_declared_once(taken: Any, self: Any, model: str) -> Any:
    """Requests declare the tools that existed when the conversation began."""
    self.once = getattr(self, "once", None) or taken(self, model)
    return self.once


@fault(
    "runtimes.adk.conversation:Conversation.begin_sequence",
    origin="seen in agent migrations: sticky model not cleared",
)
def sticky_model_kept(begin: Any, self: Any, prompt_id: Any, parts: Any) -> None:
    """The model routed for one prompt answers all later prompts."""
    state = self._services.state
    sticky = state.sequence_model
    begin(self, prompt_id, parts)
    state.sequence_model = sticky


@fault("runtimes.adk.stream:Stream.read", origin="google-adk names the model in every event")
def model_announced_at_every_request(read: Any, self: Any, event: Any, run: Any) -> Any:
    """The model is announced again at each request of a prompt."""
    last, self.last_step = getattr(self, "last_step", None), run.step
    model = self.translator._model
    begins = type(getattr(event.content, "note", None)).__name__ == "Delta"
    if model and begins and last not in (None, run.step):
        self.emit(SessionUpdate(**self.translator.fields(), model=model))
    return read(self, event, run)


@fault(
    "runtimes.adk.model_call:ModelCall._connect",
    origin="seen in agent migrations: two models spliced in one answer",
)
def stream_retry_on_configured_model(connect: Any, self: Any, is_retry: bool, nudge: Any) -> Any:
    """A stream that broke off is retried with the configured model, not the routed one."""
    if is_retry:
        self._key = replace(self._key, model=self._services.state.model)
    return connect(self, is_retry, nudge)


@fault(
    "runtimes.adk.conversation:Conversation.model_for_limits",
    origin="a limit that is looked up in the settings instead of the session",
)
def window_of_configured_model(_: Any, self: Any) -> Any:
    """Requests are fitted to the configured model's window, whichever model gets them."""
    services = self._services
    return services.models.concrete(services.state.model, custom_tools=False)

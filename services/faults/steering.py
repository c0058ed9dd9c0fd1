"""Faults of the main loop's hints, which both runtimes have."""

from __future__ import annotations

from typing import Any

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.wrappers import first, instead, returns
from services.steering import InjectionSource

fault = Faults(Site.SERVICE, Behaviour.INTERACTIVE)
held_out = Faults(Site.SERVICE, Behaviour.INTERACTIVE, held_out=True)


def _behind(before_answers: Any, self: Any, answers: Any) -> Any:
    parts = before_answers(self, answers)
    injected = len(parts) - len(answers)
    return [*parts[injected:], *parts[:injected]]


def _last_alone(before_answers: Any, self: Any, answers: Any) -> Any:
    del self._waiting[:-1]
    return before_answers(self, answers)


def _always(take_prompt: Any, self: Any) -> Any:
    self._steering = True
    return take_prompt(self)


def _only_hints(add: Any, self: Any, text: str, source: InjectionSource) -> None:
    if self._steering or source is InjectionSource.USER_STEERING:
        add(self, text, source)


hints_behind_results = fault.wrap(
    "services.steering:MainInbox.before_answers",
    instead(_behind),
    says="Hints for the main loop come after the results of tools.",
    origin="an injected message appended to the pending ones",
)
hints_replaced_by_the_last = held_out.wrap(
    "services.steering:MainInbox.before_answers",
    instead(_last_alone),
    says="Of several hints between two requests, only the last reaches the main loop.",
    origin="one slot for a pending message",
)
hints_sent_again = fault.wrap(
    "services.steering:MainInbox.request_sent",
    returns(None),
    says="A hint for the main loop is sent with every batch of results.",
    origin="a queue that is read and never emptied",
)
hints_forgotten_at_the_end = fault.wrap(
    "services.steering:MainInbox.stream_ended",
    first(lambda self: self._waiting.clear()),
    says="A hint that no request of a stream took is forgotten.",
    origin="a queue that belongs to the stream",
)
hints_kept_unreported = held_out.wrap(
    "services.steering:MainInbox.stream_ended",
    returns(None),
    says="Clients do not learn that a hint waits for the next stream.",
    origin="a queue without a notice",
)
idle_prompt_without_steering = fault.wrap(
    "services.steering:MainInbox.take_prompt",
    instead(_always),
    says="The end of a background command starts a prompt of its own although hints are off.",
    origin="a flag that is checked only where hints come in",
)
completions_need_steering = fault.wrap(
    "services.steering:InjectionService.add",
    instead(_only_hints),
    says="Without hints, the end of a background command reaches no model.",
    origin="one flag for both sources",
)
hints_unframed = fault.wrap(
    "services.steering:steering_update",
    instead(lambda _, text: text),
    says="Hints reach the main loop as bare text.",
    origin="a helper for prompts that only children use",
)

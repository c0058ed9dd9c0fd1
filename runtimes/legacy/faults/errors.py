"""Faults of the legacy runtime in the handling of failing models."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.altered import remade
from seeded_faults.wrappers import afterwards, instead, passing, result
from services.history.transforms import NO_RESPONSE_TEXT_NUDGE

fault = Faults(Site.LEGACY, Behaviour.ERRORS)
fault_fallback = Faults(Site.LEGACY, Behaviour.FALLBACK)
held_out = Faults(Site.LEGACY, Behaviour.ERRORS, held_out=True)
held_out_fallback = Faults(Site.LEGACY, Behaviour.FALLBACK, held_out=True)


@instead
def _as_first_attempt(init: Any, /, self: Any, *args: Any, key: Any, **kwargs: Any) -> None:
    init(self, *args, key=replace(key, is_retry=False), **kwargs)


retry_announced_after_wait = fault.wrap(
    "runtimes.legacy.chat:GeminiChat._wait",
    afterwards("_services.events.emit"),
    says="Another attempt at a stream is announced after the wait for it, not before.",
    origin="a wait put in front of the announcement; clients show a countdown that is over",
)
error_status_lost = fault.wrap(
    "runtimes.legacy.turn:model_failure",
    result(lambda found: replace(found, status=None)),
    says="An API error is reported without its status.",
    origin="a port that keeps an exception's message but not its fields",
)
nudge_for_any_invalid_answer = fault.wrap(
    "runtimes.legacy.chat:retry_nudge",
    instead(
        lambda nudge, error: nudge(error) or (None if error is None else NO_RESPONSE_TEXT_NUDGE)
    ),
    says="The model is nudged after every invalid answer.",
    origin="seen in agent migrations: a nudge inserted where upstream has none",
)
stream_attempts_off_by_one = fault.wrap(
    "runtimes.legacy.chat:_MID_STREAM_ATTEMPTS",
    lambda number: number + 1,
    says="A broken stream is retried once more than upstream does.",
    origin="seen in agent migrations: off by one at a threshold (attempts or retries)",
)
failed_tool_answer_forgotten = fault.wrap(
    "runtimes.legacy.chat:GeminiChat.fail",
    passing(request=lambda request: replace(request, answers_tools=False)),
    says="When the model fails on tool results, they are removed from the history too.",
    origin="a rollback that treats every send alike; upstream keeps what the model must see",
)
retry_with_first_config = fault_fallback.wrap(
    "runtimes.legacy.chat:Attempt",
    remade(__init__=_as_first_attempt),
    says="A retried answer uses the first attempt's generation config.",
    origin="a port that resolves a model's config once, before its retry loop",
)
invalid_answer_ends_completed = held_out.wrap(
    "runtimes.legacy.agent:_ENDS_FAILED",
    lambda kinds: tuple(kind for kind in kinds if kind.__name__ != "InvalidStream"),
    says="When an answer stays invalid, the error is emitted but the stream ends as completed.",
    origin="a list of events that end a stream, with one missing",
)
waits_announced_in_seconds = held_out.wrap(
    "runtimes.legacy.chat:Attempt",
    remade(_announce_retry=passing(delay_ms=lambda delay_ms: delay_ms / 1000)),
    says="The wait before a retry is announced in seconds.",
    origin="a unit that changed on one side of a call",
)


@held_out_fallback(
    "runtimes.legacy.turn:Turn.run",
    origin="a refactoring that merged a name with what it resolves to",
    closed_by="models/alias_after_tool",
)
def sequence_keeps_to_wanted_model(
    run: Any, /, self: Any, key: Any, *args: Any, **kwargs: Any
) -> Any:
    """A prompt keeps the wanted name, such as an alias, instead of the resolved model."""
    self._services.state.sequence_model = key.model
    return run(self, key, *args, **kwargs)

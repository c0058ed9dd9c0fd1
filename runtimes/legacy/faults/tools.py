"""Faults of the legacy runtime in tool calls: arguments, batches, results."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.wrappers import first, passing, put, result

fault = Faults(Site.LEGACY, Behaviour.TOOLS)

call_display_lost = fault.wrap(
    "runtimes.legacy.turn:Turn._request",
    result(lambda found: replace(found, display=None)),
    says="A requested call is emitted without its display.",
    origin="a translator that keeps only the fields that the model knows",
)
failed_call_told_as_success = fault.wrap(
    "runtimes.legacy.translate:StreamTranslator.tool_response",
    passing(call=lambda call: replace(call, response=replace(call.response, error=None))),
    says="A failed call is reported as a success with the model's response.",
    origin="a mapping of responses without a field for the error",
)


@fault(
    "runtimes.legacy.agent:_TurnOutcome.take",
    origin="a check for duplicates by name and arguments instead of ids",
)
def same_calls_run_once(take: Any, self: Any, event: Any) -> None:
    """Of two identical calls in one answer, only the first is run and answered."""
    request = getattr(event, "request", None)
    if request is None or all(
        (known.name, known.args) != (request.name, request.args) for known in self.requests
    ):
        take(self, event)


call_ids_counted_per_chunk = fault.wrap(
    "runtimes.legacy.turn:Turn._read",
    first(put("_call_ids._count", 0)),
    says="Calls without ids in different chunks get the same id.",
    origin="a counter kept per chunk instead of per turn",
)


@fault(
    "runtimes.legacy.agent:_TurnOutcome.take",
    origin="seen in agent migrations: a nudge inserted where upstream has none",
)
def nudge_after_trailing_blank(take: Any, self: Any, event: Any) -> None:
    """An answer whose last fragment is blank counts as empty, and the model is nudged."""
    if type(event).__name__ == "ContentText":
        self.visible_text = False
    take(self, event)


@fault(
    "runtimes.legacy.chat:GeminiChat._take_tool_response",
    origin="a port without upstream's separate turn for binary data",
)
def binary_kept_in_response(_: Any, self: Any, content: Any) -> None:
    """Images and files that a tool read stay inside its response."""
    self.push(self.recording.record_synthetic_message("user", content["parts"]), content)

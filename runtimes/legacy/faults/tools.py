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
    says="A requested call comes without what users are shown of it.",
    origin="a translator that keeps the fields the model knows",
)
failed_call_told_as_success = fault.wrap(
    "runtimes.legacy.translate:StreamTranslator.tool_response",
    passing(call=lambda call: replace(call, response=replace(call.response, error=None))),
    says="A call that failed is reported as a success that says what the model got.",
    origin="a mapping of responses that has no place for the error",
)


@fault(
    "runtimes.legacy.agent:_TurnOutcome.take",
    origin="a guard against duplicates that goes by name and arguments instead of ids",
)
def same_calls_run_once(take: Any, self: Any, event: Any) -> None:
    """Of two calls of one answer that are the same only the first is run and answered."""
    request = getattr(event, "request", None)
    if request is None or all(
        (known.name, known.args) != (request.name, request.args) for known in self.requests
    ):
        take(self, event)


call_ids_counted_per_chunk = fault.wrap(
    "runtimes.legacy.turn:Turn._read",
    first(put("_call_ids._count", 0)),
    says="Calls without ids that come in different chunks get one and the same id.",
    origin="a counter that lives as long as a chunk instead of as long as the turn",
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
    origin="a port that leaves out upstream's turn of its own for binary data",
)
def binary_kept_in_response(_: Any, self: Any, content: Any) -> None:
    """Images and files that a tool read stay inside its response."""
    self.push(self.recording.record_synthetic_message("user", content["parts"]), content)

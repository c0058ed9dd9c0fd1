"""Faults of live progress: what a session shows while it works."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.wrappers import instead, result, returns

fault = Faults(Site.SERVICE, Behaviour.INTERACTIVE)
held_out = Faults(Site.SERVICE, Behaviour.INTERACTIVE, held_out=True)
_LIVE: Final = "services.tools.live_output:LiveOutput"
_TRAIL: Final = "services.subagents.progress:ActivityTrail"
_SHOWN: Final = "services.subagents.child_run:_Shown"

output_not_shown_live = fault.wrap(
    f"{_LIVE}.flush",
    returns(None),
    says="A running command shows no output.",
    origin="a callback that the tool's adapter does not pass on",
)


@held_out(f"{_LIVE}.add", origin="a buffer that is flushed when it is closed")
def output_shown_at_the_end(_: Any, self: Any, text: str) -> None:
    """A running command shows its output only when it has ended."""
    self.text += text
    self._pending = True


@fault(f"{_LIVE}.add", origin="an update that is taken for an increment")
def output_shown_by_pieces(add: Any, self: Any, text: str) -> None:
    """Each update of a command's output has the new piece alone."""
    if self._shown_at is not None and not self._pending:
        self.text = ""
    add(self, text)


@fault(f"{_LIVE}.flush", origin="a debounce without a trailing call")
def last_output_not_shown(flush: Any, self: Any) -> None:
    """A running command shows its first output and nothing after it."""
    if self._shown_at is None:
        flush(self)


@fault("services.scheduler.states:CallStore.patch", origin="an id for the model alone")
def process_not_shown(patch: Any, self: Any, call_id: str, change: Any) -> None:
    """A running command does not show its process."""
    if change.process_id is None:
        patch(self, call_id, change)


reports_of_servers_dropped = fault.wrap(
    "services.scheduler.scheduler:ToolScheduler.note_progress",
    returns(None),
    says="The progress that a server reports is not shown.",
    origin="a notification handler that no code registers",
)
report_as_a_fraction = held_out.wrap(
    "services.scheduler.scheduler:CallProgress",
    result(
        lambda made: replace(made, percent=None if made.percent is None else made.percent / 100)
    ),
    says="The progress of a server's call is a fraction and not a percentage.",
    origin="a share from 0 to 1 under the name of a percentage",
)
report_forgets_what_it_leaves_out = fault.wrap(
    "services.scheduler.states:_further",
    instead(lambda _, before, now: now or before),
    says="A server's report without a message removes the message before it.",
    origin="a state that is replaced and not merged",
)
unknown_total_shown_as_done = held_out.wrap(
    "services.scheduler.scheduler:CallProgress",
    result(lambda made: made if made.total is not None else replace(made, percent=100)),
    says="A server's report without a total is shown as complete.",
    origin="a division by nothing that was given the value of an end",
)
questions_without_details = fault.wrap(
    "services.scheduler.confirmation:Approval",
    result(lambda made: replace(made, details=replace(made.details, fields={}))),
    says="A call that waits for the user shows the title of its question alone.",
    origin="a question that an adapter reduces to the fields that it knows",
)


@held_out("services.scheduler.confirmation:Approval", origin="a question that names its tool")
def question_with_another_title(make: Any, details: Any, correlation_id: str) -> Any:
    """A call that waits for the user shows the kind of its question as the title."""
    return make(replace(details, title=details.type), correlation_id)


agents_calls_never_end = fault.wrap(
    f"{_TRAIL}._close",
    returns(None),
    says="The calls in a subagent's progress stay running.",
    origin="an end that is looked up under another id than its start",
)


@fault(f"{_TRAIL}._thought", origin="a list that is only ever extended")
def agents_thoughts_pile_up(thought: Any, self: Any, text: str) -> None:
    """Each thought in a subagent's progress is a new item."""
    last = self.items[-1] if self.items else None
    if last is not None and last["type"] == "thought":
        last["status"] = "completed"
    thought(self, text)


@fault(f"{_TRAIL}._ended", origin="an end taken for a success")
def agents_failed_calls_shown_as_completed(ended: Any, self: Any, data: Any) -> Any:
    """A failed call in a subagent's progress is shown as completed."""
    return ended(self, {key: value for key, value in data.items() if key != "data"})


@held_out(
    f"{_TRAIL}.settle",
    origin="an abort handled by the parent alone",
    closed_by="progress/agent_thought_aborted",
)
def agents_activities_left_running(settle: Any, self: Any, reason: str | None) -> None:
    """After an abort, the activities in a subagent's progress stay running."""
    if reason is not None:
        settle(self, reason)


@fault(f"{_SHOWN}.finish", origin="a result that is shown by the call and not by its progress")
def agents_end_not_shown(finish: Any, self: Any, output: Any) -> Any:
    """The last progress of a subagent says neither that it ended nor how."""
    show, self._output = self._output, None
    try:
        return finish(self, output)
    finally:
        self._output = show


arguments_of_agents_calls_missing = held_out.wrap(
    "services.subagents.progress:sanitise_arguments",
    returns({}),
    says="The calls in a subagent's progress have no arguments.",
    origin="arguments hidden as a whole instead of their secrets",
)

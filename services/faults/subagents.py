"""Faults of the services in subagents, which both runtimes have."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.altered import Altered
from seeded_faults.wrappers import (
    changed,
    during,
    first,
    instead,
    keeps,
    passing,
    put,
    result,
    returns,
    twice,
)

fault = Faults(Site.SERVICE, Behaviour.SUBAGENTS)
held_out = Faults(Site.SERVICE, Behaviour.SUBAGENTS, held_out=True)


subagent_may_call_agents = fault.wrap(
    "services.subagents.toolset:_may_be_lent",
    returns(True),
    says="A subagent is offered the tool that starts subagents.",
    origin="a filter by name, lost in a rename",
)
subagent_output_unchecked = fault.wrap(
    "services.subagents.complete_task:CompleteTaskTool._is_blank",
    returns(False),
    says="A blank result completes a subagent's task.",
    origin="validation left to the schema",
)
subagent_last_result_wins = fault.wrap(
    "services.children.calls:_Batch._take_success",
    first(put("task_completed", False)),
    says="Of two results in one answer, the last counts.",
    origin="a loop that keeps assigning",
)
subagent_refusal_untold = fault.wrap(
    "services.children.calls:_Batch._refuse",
    during("child", Altered(None, report=lambda *_: None)),
    says="A refused call is not reported as activity.",
    origin="immediate answers that bypass the events",
)
subagent_calls_parents_tools = fault.wrap(
    "services.subagents.toolset:Toolset.allowed_names",
    instead(lambda allowed, self: allowed(self) | {tool.name for tool in self._parent.active()}),
    says="A subagent may call its parent's tools.",
    origin="one registry for parent and child",
)
subagent_without_memory = fault.wrap(
    "services.subagents.prompt:ChildPrompt.first_parts",
    result(lambda found: found[-1:]),
    says="A subagent's prompt lacks the project memory.",
    origin="memory kept with the parent's prompt",
)
subagent_failure_is_abort = fault.wrap(
    "services.subagents.child_run:_is_abort",
    returns(True),
    says="A failed subagent counts as aborted.",
    origin="any exception of a task group taken for its cancellation",
)
subagent_output_as_repr = fault.wrap(
    "services.subagents.complete_task:CompleteTaskTool.result",
    instead(lambda result, self, params: str(next(iter(params.values()), ""))),
    says="An output with a schema is returned in Python notation.",
    origin="str() where JSON is meant",
)
subagent_routed_twice = fault.wrap(
    "services.children.child_services:ChildServices._routed",
    twice,
    says="The router is called twice for a subagent.",
    origin="a cache filled after the second call",
)
subagent_time_not_held = fault.wrap(
    "services.subagents.deadline:DeadlineTimer.pause",
    returns(None),
    says="A subagent's time limit runs while the user is asked.",
    origin="a limit on a whole run, set once",
)
subagent_time_anew = fault.wrap(
    "services.subagents.deadline:DeadlineTimer.pause",
    keeps("_left_ms"),
    says="A question to the user restarts a subagent's whole time limit.",
    origin="a timer that is restarted, not resumed",
)
subagent_time_stays_held = fault.wrap(
    "services.subagents.deadline:DeadlineTimer.resume",
    returns(None),
    says="After a question to the user, a subagent has no time limit.",
    origin="a pause without its end",
)
subagent_answers_reversed = held_out.wrap(
    "services.children.calls:_Batch.answers",
    result(lambda found: iter(list(found)[::-1])),
    says="The results of a subagent's calls come in another order than the calls.",
    origin="results gathered as they finish",
)
subagent_wildcards_unknown = held_out.wrap(
    "services.subagents.toolset:Toolset._named",
    instead(
        lambda named, self, name: () if name.endswith("*") and name != "*" else named(self, name)
    ),
    says="Server wildcards match nothing.",
    origin="a list of tools matched by equality",
)
subagent_scope_lost = held_out.wrap(
    "services.children.child_services:ChildServices.model_key",
    result(lambda key: type(key)(model=key.model)),
    says="Model settings for one subagent do not apply to it.",
    origin="a model chosen by name without its scope",
)
subagent_last_definition_wins = held_out.wrap(
    "services.subagents.registry:AgentRegistry._register_all",
    passing(agents=lambda agents: list(agents)[::-1]),
    says="Of two definitions with one name in a folder, the last counts.",
    origin="a mapping filled in order",
    closed_by="subagent_definitions/duplicates",
)
subagent_all_activity_shown = held_out.wrap(
    "services.subagents.child_run:LocalSessionInvocation.newest",
    lambda newest: None,
    says="A subagent that runs as a session also shows all of its activity.",
    origin="one activity log for both ways of running",
    closed_by="subagent/as_session",
)


subagent_empty_list_is_all = fault.wrap(
    "services.subagents.toolset:Toolset._tools",
    changed("_definition", lambda found: replace(found, tools=found.tools or None)),
    says="An empty list of tools means all tools.",
    origin="a test for truth where one for absence was meant",
)


@fault("services.children.calls:_Batch.take", origin="one state for cancelled and refused")
def subagent_no_is_abort(take: Any, self: Any, call: Any) -> None:
    """A user's refusal of a subagent's call ends the subagent."""
    take(self, call)
    if str(call.outcome) == "cancel":
        self.aborted = True


@fault(
    "services.children.child_services:_ScopedIds.uuid",
    origin="an id made when a definition is loaded",
)
def subagent_id_reused(uuid: Any, self: Any, scope: str) -> str:
    """Every subagent has the same id, and so the same file."""
    if scope == "agent":
        return "00000000-0000-4000-8000-000000000000"
    made: str = uuid(self, scope)
    return made


@fault(
    "services.children.child_services:ChildServices.open_recording",
    origin="a recorder created the usual way",
)
def subagent_recorded_as_main(opened: Any, self: Any) -> Any:
    """A subagent's recording claims to be a main session, without a parent."""
    recording = self.services.new_recording()
    recording.initialize("main")
    return recording


subagent_reason_left_out = fault.wrap(
    "services.subagents.child_run:_finished",
    result(lambda text: "\n".join(line for i, line in enumerate(text.split("\n")) if i != 1)),
    says="A parent's model does not learn why its subagent ended.",
    origin="a result without its envelope",
)

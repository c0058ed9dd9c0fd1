"""Faults of the services in the agents that a call starts; both runtimes have them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final

from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced

__all__ = ["FAULTS"]

_service = partial(Fault, site=Site.SERVICE, behaviour=Behaviour.SUBAGENTS)


def _everything_lent(may_be_lent: Any) -> Any:
    def broken(tool: Any) -> bool:
        return True

    return broken


def _empty_is_all(tools: Any) -> Any:
    def broken(self: Any) -> Any:
        if self._definition.tools is None or self._definition.tools:
            return tools(self)
        asked = self._definition
        self._definition = replace(asked, tools=None)
        try:
            return tools(self)
        finally:
            self._definition = asked

    return broken


def _any_value(fault: Any) -> Any:
    def broken(self: Any, params: Any) -> None:
        return None

    return broken


def _last_wins(take: Any) -> Any:
    def broken(self: Any, call: Any) -> None:
        self.task_completed = False
        take(self, call)

    return broken


def _no_is_abort(take: Any) -> Any:
    def broken(self: Any, call: Any) -> None:
        take(self, call)
        if str(call.outcome) == "cancel":
            self.aborted = True

    return broken


def _refused_untold(refuse: Any) -> Any:
    def broken(self: Any, call_id: str, call: Any, context: str, error: str) -> None:
        told = self.child
        self.child = _Silent()
        try:
            refuse(self, call_id, call, context, error)
        finally:
            self.child = told

    return broken


class _Silent:
    """A child that tells nothing."""

    def tell(self, *args: Any) -> None:
        """Nothing."""


def _all_allowed(allowed: Any) -> Any:
    def broken(self: Any) -> Any:
        return allowed(self) | {tool.name for tool in self._parent.active()}

    return broken


def _one_id(uuid: Any) -> Any:
    def broken(self: Any, scope: str) -> str:
        if scope == "agent":
            return "00000000-0000-4000-8000-000000000000"
        made: str = uuid(self, scope)
        return made

    return broken


def _kind_main(opened: Any) -> Any:
    def broken(self: Any) -> Any:
        recording = self.services.new_recording()
        recording.initialize("main")
        return recording

    return broken


def _no_memory(first_parts: Any) -> Any:
    def broken(self: Any, query: str) -> Any:
        return first_parts(self, query)[-1:]

    return broken


def _reason_left_out(finished: Any) -> Any:
    def broken(agent: str, output: Any) -> str:
        lines = str(finished(agent, output)).split("\n")
        return "\n".join([lines[0], *lines[2:]])

    return broken


def _errors_raised(own: Any) -> Any:
    def broken(error: Any, message: str) -> bool:
        return True

    return broken


def _text_of_values(result: Any) -> Any:
    def broken(self: Any, params: Any) -> str:
        return str(next(iter(params.values()), ""))

    return broken


def _router_asked_first(routed: Any) -> Any:
    async def broken(self: Any, context: Any) -> str:
        await routed(self, context)
        model: str = await routed(self, context)
        return model

    return broken


def _not_held(pause: Any) -> Any:
    def broken(self: Any) -> None:
        return None

    return broken


def _whole_again(pause: Any) -> Any:
    def broken(self: Any) -> None:
        left_ms = self._left_ms
        pause(self)
        self._left_ms = left_ms

    return broken


def _not_gone_on_with(resume: Any) -> Any:
    def broken(self: Any) -> None:
        return None

    return broken


FAULTS: Final = (
    _service(
        name="subagent-may-call-agents",
        says="An agent is given the tool that starts agents.",
        origin="a filter by name that was lost with a rename",
        breaks=lambda: replaced("services.subagents.toolset:_may_be_lent", _everything_lent),
    ),
    _service(
        name="subagent-empty-list-is-all",
        says="An empty list of tools stands for all of them.",
        origin="a test for truth where one for absence was meant",
        breaks=lambda: replaced("services.subagents.toolset:Toolset._tools", _empty_is_all),
    ),
    _service(
        name="subagent-output-unchecked",
        says="A blank result completes an agent's task.",
        origin="validation left to the schema",
        breaks=lambda: replaced(
            "services.subagents.complete_task:CompleteTaskTool._value_fault", _any_value
        ),
    ),
    _service(
        name="subagent-last-result-wins",
        says="Of two results in one answer the last counts.",
        origin="a loop that keeps assigning",
        breaks=lambda: replaced("services.children.calls:_Batch._take_success", _last_wins),
    ),
    _service(
        name="subagent-no-is-abort",
        says="A person's no to one of an agent's calls ends the agent.",
        origin="one state for cancelled and refused",
        breaks=lambda: replaced("services.children.calls:_Batch.take", _no_is_abort),
    ),
    _service(
        name="subagent-refusal-untold",
        says="A refused call is no activity.",
        origin="answers at once that pass by the events",
        breaks=lambda: replaced("services.children.calls:_Batch._refuse", _refused_untold),
    ),
    _service(
        name="subagent-calls-parents-tools",
        says="An agent may call what its parent may.",
        origin="one registry for parent and child",
        breaks=lambda: replaced("services.subagents.toolset:Toolset.allowed_names", _all_allowed),
    ),
    _service(
        name="subagent-id-reused",
        says="Every agent has the same id, and so the same file.",
        origin="an id made where a definition is loaded",
        breaks=lambda: replaced("services.children.child_services:_ScopedIds.uuid", _one_id),
    ),
    _service(
        name="subagent-recorded-as-main",
        says="An agent's recording says that it is a session of its own, without a parent.",
        origin="a recorder made the usual way",
        breaks=lambda: replaced(
            "services.children.child_services:ChildServices.open_recording", _kind_main
        ),
    ),
    _service(
        name="subagent-without-memory",
        says="An agent is not told the project's memory.",
        origin="memory taken for a part of the parent's prompt",
        breaks=lambda: replaced("services.subagents.prompt:ChildPrompt.first_parts", _no_memory),
    ),
    _service(
        name="subagent-reason-left-out",
        says="A parent's model is not told why its agent ended.",
        origin="a result without its envelope",
        breaks=lambda: replaced("services.subagents.child_run:_finished", _reason_left_out),
    ),
    _service(
        name="subagent-failure-is-abort",
        says="An agent that fails counts as one that was aborted.",
        origin="any exception of a task group taken for its cancellation",
        breaks=lambda: replaced("services.subagents.child_run:_is_abort", _errors_raised),
    ),
    _service(
        name="subagent-output-as-repr",
        says="An output with a schema comes back in Python's notation.",
        origin="str() where JSON is meant",
        breaks=lambda: replaced(
            "services.subagents.complete_task:CompleteTaskTool.result", _text_of_values
        ),
    ),
    _service(
        name="subagent-routed-twice",
        says="The router is asked twice for an agent.",
        origin="a memory that is filled after the second question",
        breaks=lambda: replaced(
            "services.children.child_services:ChildServices._routed", _router_asked_first
        ),
    ),
    _service(
        name="subagent-time-not-held",
        says="The deadline goes on while a person is asked.",
        origin="a limit on a whole run, set once",
        breaks=lambda: replaced("services.subagents.deadline:DeadlineTimer.pause", _not_held),
    ),
    _service(
        name="subagent-time-anew",
        says="A person who is asked gives an agent all of its time anew.",
        origin="a timer that is set again, not gone on with",
        breaks=lambda: replaced("services.subagents.deadline:DeadlineTimer.pause", _whole_again),
    ),
    _service(
        name="subagent-time-stays-held",
        says="Once a person was asked an agent has all the time there is.",
        origin="a pause without its end",
        breaks=lambda: replaced(
            "services.subagents.deadline:DeadlineTimer.resume", _not_gone_on_with
        ),
    ),
)

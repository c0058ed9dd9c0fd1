"""Private methods and functions of google-adk that `runtimes/adk` overrides or calls.

The contracts of the session, the Runner and the tools; `adk_contract` has those of the flow and of
the root agent.
"""

from __future__ import annotations

import importlib
import inspect
from functools import partial
from types import SimpleNamespace
from typing import Any, Final, cast
from unittest.mock import patch

from google.adk.tools.base_tool import BaseTool
from google.adk.tools.base_toolset import BaseToolset

from runtimes.adk.root import GeminiCliAgent
from runtimes.adk.runner import GcliInvocation, GcliRunner
from tests.runtimes.adk.adk_contract import Contract, Hosted, Scripted, run, said

__all__ = ["FUNCTIONS", "PRIVATE_NAMES", "SCANS"]

SCANS: Final = {
    (GcliRunner, "_create_invocation_context"): "kwargs",
    (GcliRunner, "_find_agent_to_run"): "session root_agent",
    (GcliRunner, "_restore_branch_from_history"): "invocation_context node root invocation_id",
    (GcliRunner, "_find_user_message_for_invocation"): "events invocation_id",
    (GcliRunner, "_build_and_append_user_event"): "ic session content state_delta",
    (GcliInvocation, "_get_events"): "current_invocation current_branch",
}
"""The methods that runtimes/adk/runner.py overrides, with their parameters.

`test_runner` shows that each of them reads settled events where it is not overridden.
"""
FUNCTIONS: Final = {
    "google.adk.sessions._rewind_utils.compute_state_delta_for_rewind": (
        "session rewind_event_index",
        "GcliSessionService.rewound",
        "See how Runner.rewind_async computes its deltas, and do the same.",
    ),
    "google.adk.sessions._rewind_utils.compute_artifact_delta_for_rewind": (
        "session rewind_event_index artifact_service app_name",
        "GcliSessionService.rewound",
        "See how Runner.rewind_async computes its deltas, and do the same.",
    ),
    "google.adk.utils._callback_pipeline._run_callbacks": (
        "callbacks _stop_condition args kwargs",
        "ToolRound in runtimes/adk/tool_round.py",
        "Call an agent's tool callbacks as ADK's tool caller does now.",
    ),
    "google.adk.utils._callback_pipeline._stop_on_non_none": (
        "result",
        "ToolRound in runtimes/adk/tool_round.py",
        "Call an agent's tool callbacks as ADK's tool caller does now.",
    ),
    "google.adk.flows.llm_flows.tools._agent_tools.process_agent_tools": (
        "invocation_context llm_request",
        "ToolsProcessor in runtimes/adk/processors/conversation.py",
        "Resolve the tools of an agent as ADK's `agent_tools` processor does now.",
    ),
    "google.adk.flows.llm_flows.functions._extract_multimodal_parts": (
        "function_result depth",
        "_response_content in runtimes/adk/tool_round.py",
        "Part a tool's result from its media as ADK's tool caller does now.",
    ),
}
"""The functions that are called: their parameters, who calls them, and what to do."""


async def function(parameters: str, contract: Contract) -> None:
    """Check a function that is called."""
    home, _, name = contract.name.rpartition(".")
    try:
        found = getattr(importlib.import_module(home), name, None)
    except ImportError:
        found = None
    contract.holds(found is not None, "it is gone")
    _same_parameters(contract, found, parameters)


async def scan(ours: type, parameters: str, contract: Contract) -> None:
    """Check a method of the Runner, or of an invocation, that `ours` overrides."""
    name = contract.name.rpartition(".")[2]
    method = getattr(ours.__mro__[1], name, None)
    contract.holds(method is not None, "it is gone")
    assert method is not None
    _same_parameters(contract, method, parameters)
    called: list[str] = []

    def noted(*args: Any, **kwargs: Any) -> Any:
        called.append(name)
        return override(*args, **kwargs)

    override = getattr(ours, name)
    hosted = Hosted.made(Scripted.of([said("x")]))
    with patch.object(ours, name, noted):
        await run(
            GeminiCliAgent.around(hosted),
            make=lambda app, sessions: GcliRunner(hosted, app, sessions),
        )
    contract.holds(called, "an invocation does not call it")


async def children(contract: Contract) -> None:
    """Check that the Runner finds the toolsets of an agent that is no sub-agent."""
    closed: list[str] = []

    class Toolset(BaseToolset):
        async def get_tools(self, readonly_context: Any = None) -> list[BaseTool]:
            return []

        async def close(self) -> None:
            closed.append("closed")

    hosted = Hosted.made(Scripted.of([said("x")]), tools=[Toolset()])
    await run(GeminiCliAgent.around(hosted))
    contract.holds(closed, "closing the Runner leaves the toolsets of the children open")


async def tools_of_each_step(contract: Contract) -> None:
    """Check that a toolset without ADK's cache is asked before each request of an invocation."""
    asked: list[str] = []

    class Toolset(BaseToolset):
        def __init__(self) -> None:
            super().__init__()
            self._use_invocation_cache = False

        async def get_tools(self, readonly_context: Any = None) -> list[BaseTool]:
            asked.append("tools")
            return []

    toolset, context = Toolset(), cast("Any", SimpleNamespace(invocation_id="i"))
    for _ in range(2):
        await toolset.get_tools_with_prefix(context)
    contract.holds(len(asked) == 2, f"it is asked {len(asked)} times for two steps")


def _same_parameters(contract: Contract, found: Any, wanted: str) -> None:
    taken = " ".join(inspect.signature(found).parameters).removeprefix("self ")
    contract.holds(taken == wanted, f"it takes `{taken}` instead of `{wanted}`")


def _scan(ours: type, name: str, parameters: str) -> Contract:
    mend = (
        "Find out what looks through session.events there now, and override it, so that no "
        "settled event is made."
    )
    where = "runtimes/adk/runner.py"
    return Contract(
        f"{ours.__mro__[1].__name__}.{name}", where, mend, partial(scan, ours, parameters)
    )


def _function(name: str, parameters: str, where: str, mend: str) -> Contract:
    return Contract(name, where, mend, partial(function, parameters))


PRIVATE_NAMES: Final = (
    *(_scan(*method, parameters) for method, parameters in SCANS.items()),
    *(_function(name, *fields) for name, fields in FUNCTIONS.items()),
    Contract(
        "BaseToolset._use_invocation_cache",
        "SessionToolset in runtimes/adk/toolset.py",
        "Have ADK ask for the tools before each request in another way.",
        tools_of_each_step,
    ),
    Contract(
        "BaseAgent._iter_static_children",
        "GeminiCliAgent in runtimes/adk/root.py",
        "Offer the hosted agent where the Runner looks for what it closes now.",
        children,
    ),
)

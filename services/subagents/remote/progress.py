"""The progress of a remote agent for display: the wire's progress object.

Source: core `agents/types.ts` (`SubagentProgress`).
"""

from __future__ import annotations

from collections.abc import Sequence

from services.subagents.remote.results import WORKING, ResultReassembler
from services.wire import JsonObject

__all__ = ["beginning", "progress", "progress_of", "stopped"]


def progress(
    agent: str, state: str, activity: Sequence[JsonObject], result: str | None = None
) -> JsonObject:
    """Return a progress object; `state` is `running`, `completed`, `error` or `cancelled`.

    The keys are in upstream's order, which a result shown as JSON reveals: the activity comes
    before the result while the agent runs, and after it later.
    """
    shown: JsonObject = {"isSubagentProgress": True, "agentName": agent, "state": state}
    if state == "running":
        shown["recentActivity"] = list(activity)
    if result is not None:
        shown["result"] = result
    shown["recentActivity"] = list(activity)
    return shown


def beginning(agent: str) -> JsonObject:
    """Return the progress before the first chunk."""
    return progress(agent, "running", [dict(WORKING)])


def progress_of(agent: str, state: str, found: ResultReassembler) -> JsonObject:
    """Return the progress with the chunks so far."""
    return progress(agent, state, found.activity(), found.text())


def stopped(activity: Sequence[JsonObject], state: str) -> list[JsonObject]:
    """Return `activity` with `state` for all running items."""
    return [
        {**item, "status": state} if item.get("status") == "running" else item for item in activity
    ]

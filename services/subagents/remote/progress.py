"""What is shown of a remote agent while it works: the wire's progress object.

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
    """A progress object; `state` is `running`, `completed`, `error` or `cancelled`.

    Keys stand in upstream's order, which can be read in a result that is shown as JSON: while an
    agent runs, what it does comes first; afterwards, what came of it.
    """
    shown: JsonObject = {"isSubagentProgress": True, "agentName": agent, "state": state}
    if state == "running":
        shown["recentActivity"] = list(activity)
    if result is not None:
        shown["result"] = result
    shown["recentActivity"] = list(activity)
    return shown


def beginning(agent: str) -> JsonObject:
    """What is shown before anything has come."""
    return progress(agent, "running", [dict(WORKING)])


def progress_of(agent: str, state: str, found: ResultReassembler) -> JsonObject:
    """What is shown of what has come so far."""
    return progress(agent, state, found.activity(), found.text())


def stopped(activity: Sequence[JsonObject], state: str) -> list[JsonObject]:
    """`activity` with nothing running any more."""
    return [
        {**item, "status": state} if item.get("status") == "running" else item for item in activity
    ]

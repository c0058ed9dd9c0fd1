"""The progress of a running agent for display: its latest thoughts and calls, as JSON.

Both kinds of invocation list the same activities; they differ in the list's length and in
whether they trim texts. Source: core `agents/local-invocation.ts`,
`agents/local-session-invocation.ts`, `agents/types.ts` (`SubagentProgress`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from services.subagents.activity import (
    CANCELLED_MESSAGE,
    REJECTED_PREFIX,
    ActivityErrorType,
    ActivityType,
    SubagentActivity,
)
from services.subagents.definition import AgentOutput
from services.subagents.sanitising import sanitise_arguments, sanitise_text
from services.wire import JsonObject, js_json, js_trim

__all__ = ["ActivityTrail", "Progress", "SubagentState", "finished_progress", "progress"]

Progress = JsonObject
"""`{isSubagentProgress, agentName, recentActivity, state?, result?, terminateReason?}`."""


class SubagentState(StrEnum):
    """The state of a run, or of one activity in the list."""

    RUNNING = "running"
    COMPLETED = "completed"
    ERROR = "error"
    CANCELLED = "cancelled"


def progress(agent: str, items: Sequence[JsonObject], state: SubagentState) -> Progress:
    """Return the progress of `agent`, with copies of the items, which change later."""
    return {
        "isSubagentProgress": True,
        "agentName": agent,
        "recentActivity": [dict(item) for item in items],
        "state": str(state),
    }


def finished_progress(agent: str, items: Sequence[JsonObject], output: AgentOutput) -> Progress:
    """Return the progress of an agent that ended by itself."""
    return {
        **progress(agent, items, SubagentState.COMPLETED),
        "result": output.result,
        "terminateReason": str(output.terminate_reason),
    }


@dataclass(slots=True, kw_only=True)
class ActivityTrail:
    """The list of activities `{id, type, content, …, status}`, oldest first."""

    new_id: Callable[[], str]
    """Makes the ids of thoughts, and of calls without one."""
    publish: Callable[[JsonObject], None]
    """Receives each new or changed item, except thoughts about errors."""
    newest: int | None = None
    """The limit on items; `None`: no limit."""
    typed: bool = False
    """Whether text is trimmed, and a missing name is empty; else it is `undefined`."""
    items: list[JsonObject] = field(default_factory=list)

    def take(self, activity: SubagentActivity) -> bool:
        """Add `activity`; return whether the list changed."""
        changed = True
        match activity.type:
            case ActivityType.THOUGHT_CHUNK:
                self._thought(activity.data["text"])
            case ActivityType.TOOL_CALL_START:
                self._started(activity.data)
            case ActivityType.TOOL_CALL_END:
                changed = self._ended(activity.data)
            case ActivityType.ERROR:
                self._error(activity.data)
        self._shorten()
        return changed

    def settle(self, fault: str | None) -> None:
        """Add the failure of the run, or without `fault` its cancellation."""
        left = SubagentState.CANCELLED if fault is None else SubagentState.ERROR
        for item in self.items:
            if item["status"] == SubagentState.RUNNING:
                item["status"] = str(left)
        if fault is None or (self.items and self.items[-1]["status"] == SubagentState.ERROR):
            return
        self._add_thought(f"Error: {fault}", SubagentState.ERROR)
        self._shorten()

    def _thought(self, text: str) -> None:
        last = self.items[-1] if self.items else None
        if last and last["type"] == "thought" and last["status"] == SubagentState.RUNNING:
            last["content"] = sanitise_text(text)
        else:
            self._add_thought(sanitise_text(text), SubagentState.RUNNING)
        self._publish(self.items[-1])

    def _started(self, data: JsonObject) -> None:
        item: JsonObject = {
            "id": data["callId"] or self.new_id(),
            "type": "tool_call",
            "content": self._shown(data.get("name", "" if self.typed else "undefined")),
        }
        if data.get("displayName"):
            item["displayName"] = sanitise_text(self._shown(data["displayName"]))
        if data.get("description"):
            item["description"] = sanitise_text(data["description"])
        item["args"] = js_json(sanitise_arguments(data["args"]))
        item["status"] = str(SubagentState.RUNNING)
        self.items.append(item)
        self._publish(item)

    def _ended(self, data: JsonObject) -> bool:
        result = data.get("data")
        failed = isinstance(result, dict) and result.get("isError") is True
        state = SubagentState.ERROR if failed else SubagentState.COMPLETED
        item = self._close(data["id"], state)
        if item is None:
            return False
        self._publish(item)
        return True

    def _error(self, data: JsonObject) -> None:
        error, kind = self._shown(data["error"]), data["errorType"]
        soft = (
            kind in (ActivityErrorType.CANCELLED, ActivityErrorType.REJECTED)
            or error == CANCELLED_MESSAGE
            or error.startswith(REJECTED_PREFIX)
        )
        state = SubagentState.CANCELLED if soft else SubagentState.ERROR
        self._close(data.get("callId"), state)
        shown = sanitise_text(error)
        self._add_thought(shown if soft else f"Error: {shown}", state)

    def _close(self, call_id: str | None, state: SubagentState) -> JsonObject | None:
        """Set the final state of the latest running call with that id."""
        for item in reversed(self.items):
            is_call = item["type"] == "tool_call" and item["id"] == call_id
            if is_call and item["status"] == SubagentState.RUNNING:
                item["status"] = str(state)
                return item
        return None

    def _add_thought(self, content: str, status: SubagentState) -> None:
        self.items.append(
            {"id": self.new_id(), "type": "thought", "content": content, "status": str(status)}
        )

    def _shown(self, text: str) -> str:
        return js_trim(text) if self.typed else text

    def _shorten(self) -> None:
        if self.newest is not None:
            del self.items[: -self.newest]

    def _publish(self, item: JsonObject) -> None:
        self.publish(dict(item))

"""`AgentsBox`: the subagents that run side by side, a line each, or all that they have done.

Source: `packages/cli` `ui/components/messages/SubagentGroupDisplay.tsx`,
`SubagentProgressDisplay.tsx`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from rich.text import Text

from services.progress import AgentActivity
from services.wire import JsonObject
from surfaces.terminal.blocks import Block, Pen, Row, framed
from surfaces.terminal.call_words import CallShown
from surfaces.terminal.inert import inert, inert_line

__all__ = ["AGENT_TOOL", "AgentsBox"]

AGENT_TOOL: Final = "invoke_agent"
_GOAL: Final = "GOAL"
_ICONS: Final[Mapping[str, str]] = {
    "running": "!",
    "completed": "✓",
    "cancelled": "\u2139",
    "error": "✗",
}
_HEADINGS: Final[Mapping[str, str]] = {
    "running": "Running Agent...",
    "completed": "Agent Completed",
    "cancelled": "Agent Cancelled",
    "error": "Agent Error",
}
_ENDED: Final[Mapping[str, str]] = {
    "success": "completed",
    "error": "error",
    "cancelled": "cancelled",
}
_MARKS: Final[Mapping[str, str]] = {"completed": "✓", "cancelled": "-", "running": "⊶"}
_ARGUMENTS: Final = (
    "description",
    "command",
    "file_path",
    "dir_path",
    "query",
    "url",
    "target",
)
_MOST_ARGUMENTS: Final = 60


class AgentsBox(Block):
    """The calls of one round that run subagents."""

    __slots__ = ("calls",)

    announced = True

    def __init__(self, call: CallShown) -> None:
        super().__init__()
        self.calls = [call]

    @property
    def finished(self) -> bool:  # type: ignore[override]  # here it follows from the calls
        """Whether every call has ended."""
        return all(call.settled for call in self.calls)

    def rows(self, pen: Pen) -> list[Row]:
        """A line for each subagent, or everything; nothing while a question shows the call."""
        shown = [call for call in self.calls if not call.hidden]
        if not shown:
            return []
        hint = f"(ctrl+o to {'collapse' if pen.expanded else 'expand'})"
        heading = Text.assemble("≡ ", (_heading(shown), "bold"), (f" {hint}", "dim"))
        lines = [heading]
        for call in shown:
            lines += _whole(call) if pen.expanded else [_line(call)]
        return pen.rows(framed(Text("\n").join(lines), pen))

    @property
    def words(self) -> str:
        """What every subagent has done."""
        shown = [call for call in self.calls if not call.hidden]
        return "\n".join(line.plain for call in shown for line in _whole(call)).strip()


def _state(call: CallShown) -> str:
    activity = call.activity
    if call.status in _ENDED and (activity is None or activity.state == "running"):
        return _ENDED[call.status]
    return activity.state if activity is not None else "running"


def _heading(calls: list[CallShown]) -> str:
    states = [_state(call) for call in calls]
    if len(states) == 1:
        return _HEADINGS.get(states[0], _HEADINGS["running"])
    count, completed = len(states), states.count("completed")
    if completed == count:
        return f"{count} Agents Completed"
    if completed:
        running = states.count("running")
        return f"{count} Agents ({running} running, {completed} completed)..."
    return f"Running {count} Agents..."


def _name(call: CallShown) -> str:
    if call.activity is not None:
        return inert_line(call.activity.agent)
    return inert_line((call.display and call.display.name) or call.name)


def _line(call: CallShown) -> Text:
    """The present activity of a subagent."""
    activity, state = call.activity, _state(call)
    latest = activity.activities[-1] if activity is not None and activity.activities else None
    if state == "completed":
        content = "Completed successfully"
        reason = activity.terminate_reason if activity is not None else None
        if isinstance(reason, str) and reason != _GOAL:
            content = f"Finished Early ({inert_line(reason)})"
    elif latest is None:
        content = "Starting..."
    else:
        content = f"{_title(latest)} {_detail(latest)}".rstrip()
        if latest.get("type") == "thought":
            content = f"💭 {content}"
    line = Text(f"{_ICONS.get(state, '!')} ", no_wrap=True, overflow="ellipsis")
    return line.append(_name(call), "bold").append(f" · {content}", "dim")


def _whole(call: CallShown) -> Iterator[Text]:
    """Everything that a subagent has done, and its result."""
    name, activity = _name(call), call.activity
    words = {
        "cancelled": f"Subagent {name} was cancelled.",
        "error": f"Subagent {name} failed.",
        "completed": f"Subagent {name} completed.",
    }
    yield Text(words.get(_state(call), f"Running subagent {name}..."), style="italic")
    if activity is None:
        return
    for item in activity.activities:
        if item.get("type") == "thought":
            yield Text(f"💭 {_title(item)}", style="dim")
        else:
            mark = _MARKS.get(str(item.get("status")), "x")
            yield Text.assemble(f"{mark} ", (_title(item), "bold"), f" {_detail(item)}")
    yield from _result(activity)


def _result(activity: AgentActivity) -> Iterator[Text]:
    if not activity.result:
        return
    reason = activity.terminate_reason
    if isinstance(reason, str) and reason != _GOAL:
        yield Text(f"Agent Finished Early ({inert_line(reason)})", style="bold")
    result = activity.result
    text = result if isinstance(result, str) else json.dumps(result, indent=2, ensure_ascii=False)
    yield Text(inert(text))


def _title(item: JsonObject) -> str:
    return inert_line(str(item.get("displayName") or item.get("content") or ""))


def _detail(item: JsonObject) -> str:
    """What a call of a subagent works on, shortened."""
    text = inert_line(str(item.get("description") or "") or _arguments(item.get("args")))
    return text if len(text) <= _MOST_ARGUMENTS else f"{text[:_MOST_ARGUMENTS]}..."


def _arguments(args: object) -> str:
    if not isinstance(args, str):
        return ""
    try:
        found: Any = json.loads(args)
    except ValueError:
        return args
    if not isinstance(found, dict):
        return args
    texts = (found.get(name) for name in _ARGUMENTS)
    return next((text for text in texts if isinstance(text, str) and text), args)

"""`SeenProgress`: what the calls of a run moved through and showed, read from a `ProgressFeed`.

Each notice is one JSON object with one key:

    {"question": {"type", "title", …}}                 the call waits for the user
    {"process": 4242}                                  it runs a process
    {"reported": {"done", "total"?, "percent"?, "message"?}}    its server reports progress
    {"output": …}                                      its whole output so far
    {"agent": {"name", "state", "listed", "changed"}}  the activities of its subagent

An agent shows all its activities again at each change. Recorded are their number and those that
were not shown just like that before, so that a record stays linear in the work of the agent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Final

from services.progress import (
    AgentActivity,
    CallKey,
    CallMoved,
    CallOutput,
    CallProcess,
    CallQuestion,
    CallReport,
    Notice,
)
from services.tools.contract import ConfirmationDetails
from services.tools.live_output import KEPT_OUTPUT
from services.wire import JsonObject, js_length

__all__ = ["OUTPUT", "SeenProgress", "settled_output"]

OUTPUT: Final = "output"


@dataclass(slots=True)
class _Row:
    """One call."""

    name: str = ""
    states: list[str] = field(default_factory=list)
    shown: list[JsonObject] = field(default_factory=list)
    activities: dict[str, JsonObject] = field(default_factory=dict)
    """Id → activity of its subagent, as last shown."""


class SeenProgress:
    """The calls of one run, by first appearance."""

    def __init__(self, moved: Callable[[str], None], shown: Callable[[str], None]) -> None:
        """Start without calls.

        Args:
            moved: Receives the id of each call that reaches a state.
            shown: Receives the name of each tool whose running call shows something.
        """
        self._moved = moved
        self._showed = shown
        self._rows: dict[CallKey, _Row] = {}

    def take(self, notice: Notice) -> None:
        """Record a notice about a call; ignore others."""
        match notice:
            case CallMoved(call=call, name=name, status=status):
                row = self._rows.setdefault(call, _Row())
                row.name = name
                row.states.append(status)
                self._moved(call.call_id)
            case CallQuestion(call=call, details=details):
                asked = None if details is None else _question(details)
                self._rows[call].shown.append({"question": asked})
            case CallProcess(call=call, process_id=process_id):
                self._rows[call].shown.append({"process": process_id})
            case CallReport(call=call, progress=progress):
                reported = {k: v for k, v in asdict(progress).items() if v is not None}
                self._working(call, {"reported": reported})
            case CallOutput(call=call, output=output):
                self._working(call, {OUTPUT: output})
            case AgentActivity(call=call):
                self._working(call, {"agent": _agent(self._rows[call], notice)})
            case _:
                pass  # Retries and thoughts have channels of their own.

    def _working(self, call: CallKey, shown: JsonObject) -> None:
        row = self._rows[call]
        row.shown.append(shown)
        self._showed(row.name)

    @property
    def states(self) -> dict[str, list[str]]:
        """Call id → its states in order; several calls of one id follow each other."""
        found: dict[str, list[str]] = {}
        for call, row in self._real():
            found.setdefault(call.call_id, []).extend(row.states)
        return found

    @property
    def shown(self) -> dict[str, list[JsonObject]]:
        """Call id → what it showed, settled, in order, without calls that showed nothing."""
        found: dict[str, list[JsonObject]] = {}
        for call, row in self._real():
            if row.shown:
                found.setdefault(call.call_id, []).extend(settled_output(row.shown))
        return found

    def _real(self) -> list[tuple[CallKey, _Row]]:
        # If two calls in one wave have one id, the later replaces the earlier, which never ran.
        return [
            (call, row)
            for call, row in self._rows.items()
            if not call.nth or row.states != ["validating"]
        ]


def settled_output(shown: Sequence[JsonObject]) -> list[JsonObject]:
    """Replace each stretch of texts that an executing call showed by the last text.

    This projects away what is timing: the pieces in which a process's output arrives, and so the
    moments at which they are shown, differ from run to run. Each text replaces the one before on
    the screen, and the last one is complete. `rewritten` is added if a text did not continue the
    one before it, unless it is at its limit, where it loses its beginning.

    Which user-visible difference could hide here? Output that is shown late, or only when the
    process has ended: the last text is the same. Cassettes that act at the first output
    (`when: {output: NAME}`) find that one: their action then comes too late, and the run takes
    another course (`progress/shell_aborted`). A missing intermediate text stays hidden.
    """
    found: list[JsonObject] = []
    for one in shown:
        text, before = one.get(OUTPUT), found[-1].get(OUTPUT) if found else None
        if not (isinstance(text, str) and isinstance(before, str)):
            found.append(one)
            continue
        rewritten = "rewritten" in found[-1] or not _continues(before, text)
        found[-1] = {**one, "rewritten": True} if rewritten else one
    return found


def _continues(before: str, text: str) -> bool:
    # Half a character at the beginning is dropped, too.
    return text.startswith(before) or js_length(text) >= KEPT_OUTPUT - 1


def _question(details: ConfirmationDetails) -> JsonObject:
    return {**details.fields, "type": details.type, "title": details.title}


def _agent(row: _Row, notice: AgentActivity) -> JsonObject:
    """Return the progress of the call's subagent, with the activities that are new in it."""
    listed: list[JsonObject] = []
    for activity in notice.activities:
        id_ = str(activity.get("id"))
        if row.activities.get(id_) != activity:
            row.activities[id_] = activity
            listed.append(activity)
    agent: JsonObject = {
        "name": notice.agent,
        "state": notice.state,
        "listed": len(notice.activities),
        "changed": listed,
    }
    ended = {"result": notice.result, "terminateReason": notice.terminate_reason}
    return agent | {key: value for key, value in ended.items() if value is not None}

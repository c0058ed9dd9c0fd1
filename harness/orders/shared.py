"""Records what the threads of a run share, and in which order they accessed it.

If two orders have the same reads and writes of every shared thing, no thread can notice which one
it is in, and each must do the same in both. Source: Mazurkiewicz, "Trace Theory", 1986: independent
steps commute.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from services.subagents.definition import COMPLETE_TASK
from services.tools.contract import ServerTool, Tool, ToolKind
from services.wire import Json

__all__ = [
    "ANSWERS",
    "CLIENT",
    "MODE",
    "MODEL",
    "PROCESSES",
    "SCRIPT",
    "WORKSPACE",
    "Touches",
    "Trace",
    "apart",
]

MODEL: Final = "the model and its availability"
MODE: Final = "the approval mode"
ANSWERS: Final = "the answers of the user"
WORKSPACE: Final = "the workspace"
PROCESSES: Final = "the process ids"
SCRIPT: Final = "the script's steps without a thread"
CLIENT: Final = "the actions of the client during the run"

_ALONE: Final = frozenset({ToolKind.AGENT, ToolKind.FETCH, ToolKind.COMMUNICATE})
_READING: Final = frozenset({ToolKind.READ, ToolKind.SEARCH})
_CHANGING: Final = frozenset({ToolKind.EXECUTE, ToolKind.DELETE, ToolKind.MOVE})

Trace = Mapping[str, Any]
"""Shared thing → its writers in order, each with the readers that followed; equal for orders that
no thread can distinguish."""


@dataclass(frozen=True, slots=True)
class _Touch:
    what: str
    who: str
    writes: bool


class Touches:
    """Records the accesses of threads in the order in which they happen.

    `who` is the text of a place. Too many accesses count as writes: that can hide the cause of a
    difference, never the difference.
    """

    def __init__(self, root: str = "") -> None:
        """`root` is the workspace's folder, to which paths of files are relative."""
        self.root = root
        self._log: list[_Touch] = []
        self._whole: dict[str, Any] = {}

    def read(self, what: str, who: str) -> None:
        """`who` depends on `what`."""
        self._log.append(_Touch(what, who, False))

    def write(self, what: str, who: str) -> None:
        """`who` may have changed `what`."""
        self._log.append(_Touch(what, who, True))

    def whole(self, what: str, value: Any) -> None:
        """Record `value` for all accesses of `what` in this run."""
        self._whole[what] = value

    def tool(self, tool: Tool, args: Json, who: str) -> None:
        """Record that a call begins to run; some engines do not report `args`."""
        self.read(MODE, who)
        self.read(ANSWERS, who)
        for what, writes in self._of_tool(tool, args):
            self._log.append(_Touch(what, who, writes))

    def _of_tool(self, tool: Tool, args: Json) -> Iterator[tuple[str, bool]]:
        if tool.kind in _ALONE or tool.name == COMPLETE_TASK:
            return
        path = args.get("file_path") if isinstance(args, dict) else None
        if isinstance(tool, ServerTool):
            yield f"the MCP server {tool.server_name}", True
        elif tool.kind is ToolKind.EDIT or tool.kind in _READING:
            known = isinstance(path, str)
            yield self._file(str(path)) if known else WORKSPACE, tool.kind is ToolKind.EDIT
        elif tool.kind in _CHANGING:
            yield WORKSPACE, True
            yield PROCESSES, True
        else:
            yield f"the state of {tool.name}", True

    def _file(self, path: str) -> str:
        whole = os.path.normpath(os.path.join(self.root, path))  # noqa: PTH118 - not a real one
        shown = os.path.relpath(whole, self.root) if self.root else whole
        return f"the file {shown}"

    @property
    def trace(self) -> Trace:
        """The accesses, as far as their order matters."""
        epochs: dict[str, list[tuple[str, set[str]]]] = {}
        # A call that reads or changes the whole workspace accesses every file of it.
        wide = any(touch.what == WORKSPACE for touch in self._log)
        for touch in self._log:
            of_file = wide and touch.what.startswith("the file ")
            for what in (touch.what, WORKSPACE) if of_file else (touch.what,):
                row = epochs.setdefault(what, [("", set())])
                if touch.writes:
                    row.append((touch.who, set()))
                else:
                    row[-1][1].add(touch.who)
        found: dict[str, Any] = {
            what: tuple((writer, tuple(sorted(readers))) for writer, readers in row)
            for what, row in epochs.items()
            if len(row) > 1
        }
        return {**found, **self._whole}


def apart(one: Trace, other: Trace) -> tuple[str, ...]:
    """The shared things with different accesses in two runs, sorted."""
    names = {*one, *other} - {SCRIPT}
    found = [name for name in names if one.get(name) != other.get(name)]
    mine, theirs = one.get(SCRIPT, {}), other.get(SCRIPT, {})
    if any(theirs.get(place, answer) != answer for place, answer in mine.items()):
        found.append(SCRIPT)
    return tuple(sorted(found))

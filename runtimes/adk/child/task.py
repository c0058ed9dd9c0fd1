"""What the parts of one child share: how far its task has come.

The processors, the batch of calls, the plugin and the handler of a child all look at it.
"""

from __future__ import annotations

from dataclasses import dataclass

from runtimes.adk.plugins.limits import MaxTimeAdkPlugin
from services.model.stream import call_name
from services.subagents.definition import TerminateMode
from services.wire import JsonObject

__all__ = ["ChildCall", "ChildTask"]


@dataclass(frozen=True, slots=True)
class ChildCall:
    """A function call of the model as ADK sees it; `ChildTask.calls` has the original."""

    call: JsonObject

    @property
    def call_id(self) -> str:
        """Its id; empty where the model gave none."""
        return self.call.get("id") or ""

    @property
    def name(self) -> str:
        """The tool's name."""
        return call_name(self.call)

    @property
    def args(self) -> JsonObject:
        """Its arguments, where they are an object."""
        args = self.call.get("args")
        return args if isinstance(args, dict) else {}


class ChildTask:
    """A child's run, turn by turn. Its parts read the properties and call the methods."""

    def __init__(self, max_time: MaxTimeAdkPlugin) -> None:
        self._max_time = max_time
        self.instruction = ""
        """The system instruction, once the chat is open."""
        self.recovering = False
        """The one turn is under way in which the child may still submit its result."""
        self.calls: list[JsonObject] = []
        """Every call of the turn under way, those of failed attempts included."""
        self.end: TerminateMode | None = None
        """Why the invocation under way is over, once something has ended it."""
        self.went_on = False
        """The recovery turn has run tools and not completed the task."""

    def begin(self) -> None:
        """Begin an invocation."""
        self.end, self.went_on = None, False
        self.begin_turn()

    def begin_turn(self) -> None:
        """Begin a turn of the model."""
        self.calls = []

    def stop(self, end: TerminateMode) -> None:
        """End the invocation under way."""
        self.end = end

    def cut_short(self) -> None:
        """End the invocation under way, whose signal is aborted."""
        self.stop(TerminateMode.TIMEOUT if self._max_time.time_is_up else TerminateMode.ABORTED)

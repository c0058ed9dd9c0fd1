"""What the parts of one child share: how far its task has come.

The processors, the batch of calls, the plugin and the handler of a child all look at it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from services.abort import AbortSignal
from services.model.stream import call_name
from services.subagents.definition import TerminateMode
from services.wire import JsonObject

__all__ = ["ChildCall", "ChildTask"]


@dataclass(frozen=True, slots=True)
class ChildCall:
    """A call of the model's as ADK is shown it; what it was is in `ChildTask.calls`."""

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


@dataclass(slots=True)
class ChildTask:
    """A child's run, turn by turn."""

    instruction: str = ""
    """The system instruction, once the chat is open."""
    turns: int = 0
    """Model turns begun; the recovery turn is not counted."""
    recovering: bool = False
    """The one turn is under way in which the child may still submit its result."""
    timer: AbortSignal = field(default_factory=AbortSignal)
    """Aborted when the time of the invocation under way is up."""
    calls: list[JsonObject] = field(default_factory=list)
    """Every call of the turn under way, those of attempts that failed included."""
    end: TerminateMode | None = None
    """Why the invocation under way is over, once something has ended it."""
    result: str | None = None
    """What was submitted."""
    went_on: bool = False
    """The recovery turn has run tools and not completed the task."""

    def begin(self, timer: AbortSignal) -> None:
        """An invocation begins."""
        self.timer = timer
        self.end, self.went_on = None, False
        self.calls = []

    def cut_short(self) -> TerminateMode:
        """How a turn ends whose signal is aborted."""
        self.end = TerminateMode.TIMEOUT if self.timer.aborted else TerminateMode.ABORTED
        return self.end

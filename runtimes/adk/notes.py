"""What the runtime's events are about: the notes that their contents (`WireContent`) carry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from google.adk.models.llm_response import LlmResponse

from agent_protocol.events import Meta
from services.chat import Delta
from services.children.calls import CallsOutcome
from services.model.sdk_contents import WireContent
from services.model.stream import AssembledTurn
from services.scheduler.calls import CompletedToolCall
from services.wire import Part

__all__ = [
    "LOOP_DETECTED",
    "Answer",
    "Blocked",
    "Delta",
    "Looped",
    "ModelChosen",
    "Note",
    "Retrying",
    "Stopped",
    "ToolsDone",
    "note_of",
]

LOOP_DETECTED: Final = "LOOP_DETECTED"
"""The error code of the event that replaces a delta with which an answer loops."""


@dataclass(frozen=True, slots=True)
class Looped:
    """The answer loops: the event replaces the delta that showed it."""

    strikes: int
    """How often the prompt has looped, this time included."""


@dataclass(frozen=True, slots=True)
class ModelChosen:
    """The router settled on a model for this sequence of requests."""

    model: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The whole model turn, once its stream has ended well."""

    turn: AssembledTurn
    model: str

    def rewritten(self, parts: Sequence[Part]) -> Answer:
        """The same answer with other parts, of the API's JSON."""
        turn = AssembledTurn.of(parts, self.turn.usage, self.turn.finish_reason)
        return Answer(turn, self.model)


@dataclass(frozen=True, slots=True)
class ToolsDone:
    """A turn's batch of calls, in the order the scheduler returned them."""

    calls: Sequence[CompletedToolCall]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """The run ends here: `reason` and `data` are the `agent_end`'s.

    `error` is the message of a fatal `error` event that goes before it, with `status`.
    """

    reason: str
    data: Meta | None = None
    error: str | None = None
    status: str = "INTERNAL"
    whatever_happens: bool = False
    """Emitted even when the user has aborted meanwhile."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """A hook has refused something; `reason` is what clients get."""

    reason: str


@dataclass(frozen=True, slots=True)
class Retrying:
    """The answer begins anew; what clients got of it is not withdrawn."""


Note = (
    ModelChosen | Delta | Looped | Answer | Blocked | Stopped | Retrying | ToolsDone | CallsOutcome
)
"""What an event may be about. `CallsOutcome`: a turn's calls of a child are answered."""


def note_of(event: LlmResponse) -> Note | None:
    """What an ADK event, or a response, is about; `None` for those that are not ours."""
    content = event.content
    note: Note | None = content.note if isinstance(content, WireContent) else None
    return note

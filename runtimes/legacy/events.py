"""The server stream events: what the client emits for its agent loop.

Source: core `core/turn.ts`, `ServerGeminiStreamEvent`.
"""

from __future__ import annotations

from dataclasses import dataclass

from services.presentation.errors import StructuredError
from services.scheduler.calls import ToolCallRequest
from services.wire import JsonObject

__all__ = [
    "AgentExecutionBlocked",
    "AgentExecutionStopped",
    "Citation",
    "ContentText",
    "ContextWindowWillOverflow",
    "FailureEvent",
    "Finished",
    "InvalidStream",
    "LoopDetected",
    "MaxSessionTurns",
    "ModelFailed",
    "ModelInfo",
    "Retry",
    "ServerEvent",
    "ThoughtText",
    "ToolCallRequested",
    "UserCancelled",
]


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """The model of this sequence of requests was chosen."""

    model: str


@dataclass(frozen=True, slots=True)
class ContentText:
    """A fragment of the answer, never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class ThoughtText:
    """A thought; `subject` may be empty."""

    subject: str
    description: str


@dataclass(frozen=True, slots=True)
class Citation:
    """The sources of the answer, as one text."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallRequested:
    """The model asks for a tool."""

    request: ToolCallRequest


@dataclass(frozen=True, slots=True)
class Finished:
    """A chunk carried a finish reason; there may be several in a stream."""

    reason: str
    usage: JsonObject | None


@dataclass(frozen=True, slots=True)
class Retry:
    """A failed attempt is repeated. Its events are not withdrawn."""


@dataclass(frozen=True, slots=True)
class ModelFailed:
    """The request failed, or the stream broke off, after all retries."""

    error: StructuredError


@dataclass(frozen=True, slots=True)
class InvalidStream:
    """The model's answer was invalid, and the retries are used up."""

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class ContextWindowWillOverflow:
    """The request would not fit; nothing was sent."""

    message: str


@dataclass(frozen=True, slots=True)
class MaxSessionTurns:
    """The session's limit of model turns is reached."""


@dataclass(frozen=True, slots=True)
class LoopDetected:
    """The model repeats itself for the second time; the prompt is over."""


@dataclass(frozen=True, slots=True)
class UserCancelled:
    """The abort signal ended the turn."""


@dataclass(frozen=True, slots=True)
class AgentExecutionStopped:
    """A hook ended the stream. `reason` is for clients."""

    reason: str
    context_cleared: bool = False


@dataclass(frozen=True, slots=True)
class AgentExecutionBlocked:
    """A hook blocked a request or an answer. The stream may go on. `reason` is for clients."""

    reason: str
    context_cleared: bool = False


FailureEvent = (
    ModelFailed | InvalidStream | ContextWindowWillOverflow | LoopDetected | AgentExecutionBlocked
)
"""The events that clients get as errors."""

ServerEvent = (
    ModelInfo
    | ContentText
    | ThoughtText
    | Citation
    | ToolCallRequested
    | Finished
    | Retry
    | FailureEvent
    | MaxSessionTurns
    | AgentExecutionStopped
    | UserCancelled
)

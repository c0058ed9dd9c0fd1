"""Everything an agent can emit: the `AgentEvent` union and the displays it carries.

Source: gemini-cli `packages/core/src/agent/types.ts`. The elicitation events are left out, as
the replatforming plan removes them (foundation item 3): nothing emits or reads them.

`None` in an optional field means that the key is absent on the wire.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agent_protocol.content import ContentPart

__all__ = [
    "AgentDisplay",
    "AgentEnd",
    "AgentEvent",
    "AgentStart",
    "Custom",
    "DiffDisplay",
    "DisplayContent",
    "ErrorEvent",
    "Initialize",
    "Message",
    "SessionUpdate",
    "TerminalDisplay",
    "TextDisplay",
    "ToolDisplay",
    "ToolRequest",
    "ToolResponse",
    "ToolUpdate",
    "Usage",
    "UsageCost",
]

Meta = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDisplay:
    """A tool result shown as text."""

    text: str
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffDisplay:
    """A tool result shown as the change of one file."""

    path: str | None = None
    before_text: str
    after_text: str
    type: Literal["diff"] = "diff"


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalDisplay:
    """A tool result shown as a terminal; `ansi` is the styled screen, upstream's JSON."""

    pid: str | None = None
    exit_code: int | None = None
    ansi: Any = None
    type: Literal["terminal"] = "terminal"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDisplay:
    """A tool result that is another agent's thread."""

    thread_id: str
    type: Literal["agent"] = "agent"


DisplayContent = TextDisplay | DiffDisplay | TerminalDisplay | AgentDisplay


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDisplay:
    """How a tool call is shown to a person; never seen by the model."""

    name: str | None = None
    description: str | None = None
    result_summary: str | None = field(default=None, metadata={"nullable": True})
    result: DisplayContent | None = field(default=None, metadata={"nullable": True})
    format: Literal["auto", "compact", "box", "hidden", "notice"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventBase:
    """What every event has.

    `timestamp` is ISO 8601, UTC, milliseconds, with `Z`. `thread_id` names a subagent's thread
    and is absent for the main one. `meta` is `_meta` on the wire.
    """

    id: str
    timestamp: str
    stream_id: str
    thread_id: str | None = None
    meta: Meta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Initialize(EventBase):
    """A session came to be. Specified as a session's first event; legacy never sends it."""

    session_id: str
    workspace: str
    agent_id: str
    config_schema: Mapping[str, Any] | None = None
    type: Literal["initialize"] = "initialize"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionUpdate(EventBase):
    """The session's title, model or configuration changed; absent fields did not."""

    title: str | None = None
    model: str | None = None
    config: Mapping[str, Any] | None = None
    type: Literal["session_update"] = "session_update"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message(EventBase):
    """A message of any role; an agent's message is one fragment of its stream."""

    role: Literal["user", "agent", "developer"]
    content: tuple[ContentPart, ...]
    type: Literal["message"] = "message"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStart(EventBase):
    """Activity on a stream begins."""

    type: Literal["agent_start"] = "agent_start"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEnd(EventBase):
    """Activity on a stream is over. Nothing follows on the same `stream_id`.

    `reason` is `completed`, `failed`, `aborted`, `max_turns`, `max_budget`, `max_time`,
    `refusal` or any other string.
    """

    reason: str
    data: Mapping[str, Any] | None = None
    type: Literal["agent_end"] = "agent_end"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRequest(EventBase):
    """The model asks for a tool call."""

    request_id: str
    name: str
    args: Mapping[str, Any]
    display: ToolDisplay | None = None
    type: Literal["tool_request"] = "tool_request"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUpdate(EventBase):
    """Progress of a running call. Ephemeral; never affects what the model sees."""

    request_id: str
    display: ToolDisplay | None = None
    content: tuple[ContentPart, ...] | None = None
    data: Mapping[str, Any] | None = None
    type: Literal["tool_update"] = "tool_update"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResponse(EventBase):
    """A tool call's result, as a client sees it."""

    request_id: str
    name: str
    display: ToolDisplay | None = None
    content: tuple[ContentPart, ...] | None = None
    data: Mapping[str, Any] | None = None
    is_error: bool | None = None
    type: Literal["tool_response"] = "tool_response"


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageCost:
    """What a request cost; `currency` is an ISO 4217 code."""

    amount: float
    currency: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage(EventBase):
    """Tokens of one model answer; a missing count stays absent."""

    model: str
    input_tokens: float | None = None
    output_tokens: float | None = None
    cached_tokens: float | None = None
    cost: UsageCost | None = None
    type: Literal["usage"] = "usage"


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEvent(EventBase):
    """Something went wrong. `fatal` is informational: `agent_end` is the terminal signal.

    `status` is a google.rpc code name or any other string.
    """

    status: str
    message: str
    fatal: bool
    type: Literal["error"] = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Custom(EventBase):
    """An event outside the contract's vocabulary."""

    kind: str
    data: Mapping[str, Any] | None = None
    type: Literal["custom"] = "custom"


AgentEvent = (
    Initialize
    | SessionUpdate
    | Message
    | AgentStart
    | AgentEnd
    | ToolRequest
    | ToolUpdate
    | ToolResponse
    | Usage
    | ErrorEvent
    | Custom
)

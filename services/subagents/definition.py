"""Definitions of agents, and the outcomes of their runs.

Source: core `agents/types.ts`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from services.tools.contract import Tool
from services.wire import Content, Json, JsonObject

__all__ = [
    "ABORTED_OUTPUT",
    "COMPLETE_TASK",
    "DEFAULT_MAX_TIME_MINUTES",
    "DEFAULT_MAX_TURNS",
    "DEFAULT_QUERY",
    "GRACE_PERIOD_MS",
    "INVOKE_AGENT",
    "AgentDefinition",
    "AgentModel",
    "AgentOutput",
    "AgentPrompt",
    "BuiltInAgent",
    "LocalAgentDefinition",
    "OutputConfig",
    "RemoteAgentDefinition",
    "RunLimits",
    "TerminateMode",
]

COMPLETE_TASK: Final = "complete_task"
INVOKE_AGENT: Final = "invoke_agent"
DEFAULT_QUERY: Final = "Get Started!"
DEFAULT_MAX_TURNS: Final = 30
DEFAULT_MAX_TIME_MINUTES: Final = 10
GRACE_PERIOD_MS: Final = 60_000


class TerminateMode(StrEnum):
    """Why an agent's run ended."""

    ERROR = "ERROR"
    TIMEOUT = "TIMEOUT"
    GOAL = "GOAL"
    MAX_TURNS = "MAX_TURNS"
    ABORTED = "ABORTED"
    ERROR_NO_COMPLETE_TASK_CALL = "ERROR_NO_COMPLETE_TASK_CALL"

    @property
    def recoverable(self) -> bool:
        """Whether the agent gets one last turn in which to submit its result."""
        return self in (
            TerminateMode.TIMEOUT,
            TerminateMode.MAX_TURNS,
            TerminateMode.ERROR_NO_COMPLETE_TASK_CALL,
        )

    @property
    def end_reason(self) -> str:
        """The reason in the `agent_end` of the agent's stream.

        Source: core `agents/local-subagent-protocol.ts`.
        """
        return _END_REASONS[self]


_END_REASONS: Final[Mapping[TerminateMode, str]] = {
    TerminateMode.GOAL: "completed",
    TerminateMode.TIMEOUT: "max_time",
    TerminateMode.MAX_TURNS: "max_turns",
    TerminateMode.ABORTED: "aborted",
    TerminateMode.ERROR: "failed",
    TerminateMode.ERROR_NO_COMPLETE_TASK_CALL: "failed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOutput:
    """The outcome of a run. `turn_count` excludes the recovery turn."""

    result: str
    terminate_reason: TerminateMode
    turn_count: int | None = None
    duration_ms: int | None = None


ABORTED_OUTPUT: Final = AgentOutput(result="", terminate_reason=TerminateMode.ABORTED)
"""The outcome of a run that was aborted before its own output; recognised by identity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputConfig:
    """The output of an agent: the property `name` of `complete_task`, with this JSON schema."""

    name: str
    description: str
    schema: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentPrompt:
    """Texts with `${name}` for inputs. `system` or `initial_messages` is required."""

    system: str | None = None
    initial_messages: tuple[Content, ...] | None = None
    query: str | None = None
    """The first message; by default `DEFAULT_QUERY`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentModel:
    """`inherit`, an alias or a model, and its generation config."""

    model: str = "inherit"
    generation_config: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """The limits of a run, by default those above."""

    max_time_minutes: float | None = None
    max_turns: int | None = None

    @property
    def minutes(self) -> float:
        """Minutes of work, without the waits for the user."""
        return DEFAULT_MAX_TIME_MINUTES if self.max_time_minutes is None else self.max_time_minutes

    @property
    def turns(self) -> int:
        """Model turns, without the recovery turn."""
        return DEFAULT_MAX_TURNS if self.max_turns is None else self.max_turns


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDefinition:
    """The common fields of local and remote agents."""

    name: str
    description: str
    display_name: str | None = None
    experimental: bool = False
    input_name: str = "query"
    """The name of its only input, a text."""
    hash: str | None = None
    """The hash of its file, which the user acknowledges."""
    file: str | None = None

    @property
    def shown_name(self) -> str:
        """Its display name."""
        return self.display_name or self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalAgentDefinition(AgentDefinition):
    """An agent that runs on its parent's runtime."""

    prompt: AgentPrompt
    model: AgentModel = field(default_factory=AgentModel)
    limits: RunLimits = field(default_factory=RunLimits)
    tools: tuple[str | Tool, ...] | None = None
    """Names, wildcards or tools; `None`: every active tool of the parent. Each
    agent has `complete_task` as well."""
    output: OutputConfig | None = None
    process_output: Callable[[Any], str] | None = None
    """From the submitted value to the result's text."""
    mcp_servers: Mapping[str, Json] = field(default_factory=dict)
    """The agent's own MCP servers by name, in the settings' shape."""
    on_before_turn: Callable[[object], Awaitable[None]] | None = None
    """Awaited before each model call with the child's chat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteAgentDefinition(AgentDefinition):
    """An agent reached over A2A. One of the two cards is set."""

    card_url: str | None = None
    card_json: str | None = None
    auth: JsonObject | None = None
    """`{type: apiKey | http | google-credentials | oauth2, …}`, with unresolved values."""
    original_description: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltInAgent:
    """A built-in agent, whose definition depends on the session's model, mode and tools."""

    name: str
    describe: Callable[[], str]
    """Returns its description now."""
    make: Callable[[], LocalAgentDefinition]
    """Returns its definition now."""

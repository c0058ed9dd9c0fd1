"""What a tool is: the seam between the scheduler and everything it can run.

Source: core `tools/tools.ts`, `tools/tool-error.ts`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Protocol, cast, runtime_checkable
from weakref import WeakKeyDictionary

from agent_protocol.events import ToolDisplay
from services.abort import AbortSignal
from services.wire import Json, JsonObject, Part

__all__ = [
    "ConfirmationDetails",
    "ConfirmationOutcome",
    "DelegatedQuestion",
    "InvalidToolParams",
    "LlmContent",
    "ServerInvocation",
    "ServerTool",
    "Tool",
    "ToolErrorType",
    "ToolExecution",
    "ToolFailure",
    "ToolInvocation",
    "ToolKind",
    "ToolResult",
    "as_server_tool",
]

LlmContent = str | Part | list[str | Part]
"""What a tool says to the model: text, one part, or a list of both."""


class ToolKind(StrEnum):
    """A tool's nature. Metadata: it plays no part in scheduling."""

    READ = "read"
    EDIT = "edit"
    DELETE = "delete"
    MOVE = "move"
    SEARCH = "search"
    EXECUTE = "execute"
    THINK = "think"
    AGENT = "agent"
    FETCH = "fetch"
    COMMUNICATE = "communicate"
    PLAN = "plan"
    SWITCH_MODE = "switch_mode"
    OTHER = "other"


class ToolErrorType(StrEnum):
    """Why a call failed; the wire's strings."""

    POLICY_VIOLATION = "policy_violation"
    INVALID_TOOL_PARAMS = "invalid_tool_params"
    UNKNOWN = "unknown"
    UNHANDLED_EXCEPTION = "unhandled_exception"
    TOOL_NOT_REGISTERED = "tool_not_registered"
    EXECUTION_FAILED = "execution_failed"
    FILE_NOT_FOUND = "file_not_found"
    FILE_WRITE_FAILURE = "file_write_failure"
    READ_CONTENT_FAILURE = "read_content_failure"
    ATTEMPT_TO_CREATE_EXISTING_FILE = "attempt_to_create_existing_file"
    FILE_TOO_LARGE = "file_too_large"
    PERMISSION_DENIED = "permission_denied"
    NO_SPACE_LEFT = "no_space_left"
    TARGET_IS_DIRECTORY = "target_is_directory"
    PATH_NOT_IN_WORKSPACE = "path_not_in_workspace"
    SEARCH_PATH_NOT_FOUND = "search_path_not_found"
    SEARCH_PATH_NOT_A_DIRECTORY = "search_path_not_a_directory"
    EDIT_PREPARATION_FAILURE = "edit_preparation_failure"
    EDIT_NO_OCCURRENCE_FOUND = "edit_no_occurrence_found"
    EDIT_EXPECTED_OCCURRENCE_MISMATCH = "edit_expected_occurrence_mismatch"
    EDIT_NO_CHANGE = "edit_no_change"
    EDIT_NO_CHANGE_LLM_JUDGEMENT = "edit_no_change_llm_judgement"
    GLOB_EXECUTION_ERROR = "glob_execution_error"
    GREP_EXECUTION_ERROR = "grep_execution_error"
    LS_EXECUTION_ERROR = "ls_execution_error"
    PATH_IS_NOT_A_DIRECTORY = "path_is_not_a_directory"
    SHELL_EXECUTE_ERROR = "shell_execute_error"
    READ_MANY_FILES_SEARCH_ERROR = "read_many_files_search_error"
    WEB_FETCH_FALLBACK_FAILED = "web_fetch_fallback_failed"
    WEB_FETCH_PROCESSING_ERROR = "web_fetch_processing_error"
    WEB_SEARCH_FAILED = "web_search_failed"
    MCP_TOOL_ERROR = "mcp_tool_error"
    MCP_RESOURCE_NOT_FOUND = "mcp_resource_not_found"
    STOP_EXECUTION = "stop_execution"

    @property
    def is_fatal(self) -> bool:
        """Only a full disk ends the run as failed; everything else goes back to the model."""
        return self is ToolErrorType.NO_SPACE_LEFT


class ConfirmationOutcome(StrEnum):
    """A person's answer to a confirmation."""

    PROCEED_ONCE = "proceed_once"
    PROCEED_ALWAYS = "proceed_always"
    PROCEED_ALWAYS_AND_SAVE = "proceed_always_and_save"
    PROCEED_ALWAYS_SERVER = "proceed_always_server"
    PROCEED_ALWAYS_TOOL = "proceed_always_tool"
    MODIFY_WITH_EDITOR = "modify_with_editor"
    CANCEL = "cancel"


class InvalidToolParams(Exception):
    """Arguments that a tool's schema, value checks or constructor refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFailure:
    """A tool's error: the model sees `message` and nothing else of the result."""

    message: str
    type: ToolErrorType


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool brought back.

    `return_display` is for people: text, or a structured value (file diff, list result …) as
    JSON. `data` is free-form and travels to the client on success.
    """

    llm_content: LlmContent
    return_display: Json = ""
    error: ToolFailure | None = None
    display: ToolDisplay | None = None
    data: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationDetails:
    """What a person is asked. `type` is `edit`, `exec`, `info`, …; `fields` are its own keys."""

    type: str
    title: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolExecution:
    """What an executing call may use."""

    call_id: str
    signal: AbortSignal
    update_output: Callable[[Json], None] | None = None
    """Replaces the live output; given only to tools that declare `can_update_output`."""
    set_process_id: Callable[[int], None] | None = None


class ToolInvocation(Protocol):
    """One validated call of a tool, ready to be shown, confirmed and run."""

    @property
    def params(self) -> JsonObject:
        """The arguments, as validated."""
        ...

    def description(self) -> str:
        """What this call does, in a short line for people."""
        ...

    @property
    def respects_auto_edit(self) -> bool:
        """True when auto-edit mode needs no confirmation for it (and it edits no build file)."""
        ...

    def confirmation_details(self) -> ConfirmationDetails | None:
        """What to ask a person; `None` when there is nothing to ask (the edit cannot apply)."""
        ...

    def policy_update(self, outcome: ConfirmationOutcome) -> Mapping[str, Any] | None:
        """`argsPattern`, `commandPrefix` … of the rule that an "always" answer adds."""
        ...

    async def execute(self, execution: ToolExecution) -> ToolResult:
        """Run. Real waits go through the clock's `real_work`; an abort raises or returns early."""
        ...


class Tool(Protocol):
    """A tool: its declaration, and a builder of invocations."""

    name: str
    display_name: str
    description: str
    kind: ToolKind
    is_output_markdown: bool
    can_update_output: bool

    def declaration(self, model: str | None = None) -> JsonObject:
        """`{name, description, parametersJsonSchema}` for `model`."""
        ...

    def build(self, params: JsonObject) -> ToolInvocation:
        """Validate and build one call.

        Raises:
            InvalidToolParams: the message is what the model is told.
        """
        ...


@runtime_checkable
class ServerTool(Protocol):
    """The additional members of an MCP server's tool, for rules and settings."""

    server_name: str
    server_tool_name: str
    annotations: Mapping[str, Any] | None

    @property
    def policy_annotations(self) -> JsonObject:
        """The server's hints, and the server as `_serverName`."""
        ...

    @property
    def excluded_by(self) -> frozenset[str]:
        """The names by which settings may exclude it."""
        ...


_OF_SERVERS: Final[WeakKeyDictionary[type, bool]] = WeakKeyDictionary()


def as_server_tool(tool: object) -> ServerTool | None:
    """`tool`, where it is a server's.

    Every tool of the session is asked for every declaration: a protocol takes its time to say.
    """
    kind = type(tool)
    known = _OF_SERVERS.get(kind)
    if known is None:
        known = _OF_SERVERS[kind] = isinstance(tool, ServerTool)
    return cast("ServerTool", tool) if known else None


@runtime_checkable
class ServerInvocation(Protocol):
    """What a call of an MCP server's tool has besides."""

    @property
    def policy_name(self) -> str:
        """The tool, as the policy is asked while a person is about to be."""
        ...

    @property
    def policy_server(self) -> str:
        """The server, in the same question."""
        ...

    def note_outcome(self, outcome: ConfirmationOutcome) -> None:
        """Take a person's answer."""
        ...


@runtime_checkable
class DelegatedQuestion(Protocol):
    """A call that is confirmed as another one would be: the one it hands its work to."""

    @property
    def asked_name(self) -> str:
        """The tool, as the policy is asked while a person is about to be."""
        ...

    @property
    def asked_args(self) -> JsonObject:
        """The arguments in the same question."""
        ...

    @property
    def asked_shown_name(self) -> str:
        """What people are told was refused."""
        ...

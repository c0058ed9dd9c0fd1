"""The contract of tools: the seam between the scheduler and everything it can run.

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
    "CallProgress",
    "ConfirmationDetails",
    "ConfirmationOutcome",
    "DelegatedQuestion",
    "InvalidToolParams",
    "LlmContent",
    "LocatedInvocation",
    "PolicyDecides",
    "PreparedInvocation",
    "ServerInvocation",
    "ServerTool",
    "TitledInvocation",
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
"""A tool's output for the model: text, one part, or a list of both."""


class ToolKind(StrEnum):
    """The kind of a tool; the scheduler does not use it."""

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
    """The error types of calls, as on the wire."""

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
        """Whether the error ends the run, as a full disk does; the model gets every other error."""
        return self is ToolErrorType.NO_SPACE_LEFT


class ConfirmationOutcome(StrEnum):
    """The user's answer to a confirmation."""

    PROCEED_ONCE = "proceed_once"
    PROCEED_ALWAYS = "proceed_always"
    PROCEED_ALWAYS_AND_SAVE = "proceed_always_and_save"
    PROCEED_ALWAYS_SERVER = "proceed_always_server"
    PROCEED_ALWAYS_TOOL = "proceed_always_tool"
    MODIFY_WITH_EDITOR = "modify_with_editor"
    CANCEL = "cancel"


class InvalidToolParams(Exception):
    """A tool's schema, checks or constructor refused the arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFailure:
    """A tool's error: the model sees `message` and nothing else of the result."""

    message: str
    type: ToolErrorType


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The result of a call.

    `return_display` is for the user: text, or a structured value (file diff, list result …) as
    JSON. `data` goes to the client on success.
    """

    llm_content: LlmContent
    return_display: Json = ""
    error: ToolFailure | None = None
    display: ToolDisplay | None = None
    data: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationDetails:
    """A question to the user. `type` is `edit`, `exec`, `info` …; `fields` depend on it."""

    type: str
    title: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallProgress:
    """The progress that a server reports; a later notice keeps the values that it leaves out.

    `percent` is at most 100, and absent without a `total` above 0.
    """

    done: float
    total: float | None = None
    percent: float | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolExecution:
    """The values for an executing call."""

    call_id: str
    signal: AbortSignal
    update_output: Callable[[Json], None] | None = None
    """Replaces the live output; only for tools that declare `can_update_output`."""
    set_process_id: Callable[[int], None] | None = None


class ToolInvocation(Protocol):
    """One validated call of a tool, ready to be shown, confirmed and run."""

    @property
    def params(self) -> JsonObject:
        """The arguments, as validated."""

    def description(self) -> str:
        """What this call does, in a short line for the user."""

    @property
    def respects_auto_edit(self) -> bool:
        """Whether auto-edit mode allows the call without a confirmation."""

    def confirmation_details(self) -> ConfirmationDetails | None:
        """The question to the user; `None` without one, as for an edit that cannot apply."""

    def policy_update(self, outcome: ConfirmationOutcome) -> Mapping[str, Any] | None:
        """`argsPattern`, `commandPrefix` … of the rule that an "always" answer adds."""

    async def execute(self, execution: ToolExecution) -> ToolResult:
        """Run. Real waits use the clock's `real_work`; an abort raises or returns early."""


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

    def build(self, params: JsonObject) -> ToolInvocation:
        """Validate and build one call.

        Raises:
            InvalidToolParams: the model receives the message.
        """


@runtime_checkable
class ServerTool(Protocol):
    """The additional members of an MCP server's tool, for rules and settings."""

    server_name: str
    server_tool_name: str
    annotations: Mapping[str, Any] | None

    @property
    def policy_annotations(self) -> JsonObject:
        """The server's annotations, and its name as `_serverName`."""

    @property
    def excluded_by(self) -> frozenset[str]:
        """The names by which settings may exclude it."""


_OF_SERVERS: Final[WeakKeyDictionary[type, bool]] = WeakKeyDictionary()


def as_server_tool(tool: object) -> ServerTool | None:
    """`tool`, if it belongs to an MCP server.

    The answer is kept for each class: every declaration of tools asks for every tool, and checking
    a protocol is slow.
    """
    kind = type(tool)
    known = _OF_SERVERS.get(kind)
    if known is None:
        known = _OF_SERVERS[kind] = isinstance(tool, ServerTool)
    return cast("ServerTool", tool) if known else None


@runtime_checkable
class ServerInvocation(Protocol):
    """The additional members of a call of an MCP server's tool."""

    @property
    def policy_name(self) -> str:
        """The tool's name for the policy's second check, before the user is asked."""

    @property
    def policy_server(self) -> str:
        """The server's name for the same check."""

    def note_outcome(self, outcome: ConfirmationOutcome) -> None:
        """Take the user's answer."""


@runtime_checkable
class TitledInvocation(Protocol):
    """A call whose title is not its description. Source: core `tools/tools.ts`."""

    def display_title(self) -> str:
        """The title for the user."""

    def explanation(self) -> str:
        """What the title leaves out; empty for nothing."""


@runtime_checkable
class LocatedInvocation(Protocol):
    """A call that works on files."""

    def locations(self) -> list[JsonObject]:
        """The files: `{path, line?}` each. Source: core `tools/tools.ts`, `toolLocations`."""


@runtime_checkable
class PreparedInvocation(Protocol):
    """A call that fetches something before the user is asked about it."""

    async def prepare(self) -> None:
        """Fetch what `confirmation_details` needs.

        Raises:
            Exception: the call fails with it.
        """


@runtime_checkable
class PolicyDecides(Protocol):
    """A call whose confirmation is up to the policy, even if a hook demands one."""

    def needs_decision(self) -> bool:
        """Check the call before the policy is asked; false: it runs without any question."""


@runtime_checkable
class DelegatedQuestion(Protocol):
    """A call that delegates its work to another call and is confirmed like that one."""

    @property
    def asked_name(self) -> str:
        """The other tool's name for the policy's second check, before the user is asked."""

    @property
    def asked_args(self) -> JsonObject:
        """The other call's arguments for the same check."""

    @property
    def asked_shown_name(self) -> str:
        """The name in the message of a refusal."""

"""The messages of the `development-tool` extension, from the proto text of its specification.

On the wire they follow the JSON mapping of proto3: names in camelCase, enumerations by name, unset
fields left out. The specification's example spells the fields as the proto text does, so both
spellings are read. A field that the proto text does not call optional must be there.

Source: RFC "Gemini CLI A2A Development-Tool Extension", 3.2 and 3.3.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from services.wire import Json, JsonObject
from surfaces.a2a.wire import invalid_params

__all__ = [
    "AgentSettings",
    "AgentThought",
    "CommandExecutionStatus",
    "ConfirmationOption",
    "ConfirmationRequest",
    "DevelopmentToolEvent",
    "ErrorDetails",
    "EventKind",
    "ExecuteDetails",
    "ExecuteSlashCommandRequest",
    "ExecuteSlashCommandResponse",
    "FileDiff",
    "GenericDetails",
    "GetAllSlashCommandsResponse",
    "McpDetails",
    "ModifiedFileDetails",
    "Schema",
    "SlashCommand",
    "SlashCommandArgument",
    "ToolCall",
    "ToolCallConfirmation",
    "ToolCallStatus",
    "ToolOutput",
]


class Schema(BaseModel):
    """A message. In each group of fields that `oneofs` names, at most one field is set."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="forbid",
        frozen=True,
        populate_by_name=True,
        protected_namespaces=(),
    )
    oneofs: ClassVar[tuple[tuple[str, ...], ...]] = ()

    @model_validator(mode="after")
    def _at_most_one(self) -> Self:
        for group in self.oneofs:
            found = [name for name in group if getattr(self, name) is not None]
            if len(found) > 1:
                raise ValueError(f"only one of {', '.join(group)} may be set, not {len(found)}")
        return self

    def on_wire(self) -> JsonObject:
        """The message as JSON."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    @classmethod
    def read(cls, document: Json) -> Self:
        """The message in `document`.

        Raises:
            RpcError: it has another shape.
        """
        try:
            return cls.model_validate(document)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, (cls.__name__, *first["loc"])))
            raise invalid_params(f"{where}: {first['msg']}") from error


class AgentSettings(Schema):
    """The settings in the first message of a session. Clients may add others."""

    model_config = ConfigDict(extra="ignore", strict=True)

    workspace_path: str


class ToolCallStatus(StrEnum):
    """Where a call is; the last three are terminal."""

    PENDING = "PENDING"
    EXECUTING = "EXECUTING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


class FileDiff(Schema):
    """The change of one file; `old_content` is empty or absent where there was no file."""

    file_name: str
    file_path: str
    old_content: str | None = None
    new_content: str
    formatted_diff: str | None = None


class ToolOutput(Schema):
    """The result of a call that succeeded."""

    oneofs = (("text", "diff", "structured_data"),)

    text: str | None = None
    diff: FileDiff | None = None
    structured_data: dict[str, Any] | None = None


class ErrorDetails(Schema):
    """Why a call failed; `type` is one of the tools' error types."""

    message: str
    type: str | None = None
    status_code: int | None = Field(default=None, ge=-(2**31), lt=2**31)


class ConfirmationOption(Schema):
    """A choice of the user."""

    id: str
    name: str
    description: str | None = None


class ExecuteDetails(Schema):
    """A question about a shell command."""

    command: str
    working_directory: str | None = None


class McpDetails(Schema):
    """A question about a tool of an MCP server."""

    server_name: str
    tool_name: str


class GenericDetails(Schema):
    """Any other question."""

    description: str


class ConfirmationRequest(Schema):
    """A question to the user about a call."""

    oneofs = (("execute_details", "file_edit_details", "mcp_details", "generic_details"),)

    options: tuple[ConfirmationOption, ...] = ()
    execute_details: ExecuteDetails | None = None
    file_edit_details: FileDiff | None = None
    mcp_details: McpDetails | None = None
    generic_details: GenericDetails | None = None


class ToolCall(Schema):
    """A tool call, whole on every update. `live_content` is the whole output so far."""

    oneofs = (("output", "error"),)

    tool_call_id: str
    status: ToolCallStatus
    tool_name: str
    description: str | None = None
    input_parameters: dict[str, Any]
    live_content: str | None = None
    output: ToolOutput | None = None
    error: ErrorDetails | None = None
    confirmation_request: ConfirmationRequest | None = None


class AgentThought(Schema):
    """A thought of the model."""

    subject: str
    description: str


class EventKind(StrEnum):
    """The kinds of `DevelopmentToolEvent`."""

    TOOL_CALL_CONFIRMATION = "TOOL_CALL_CONFIRMATION"
    TOOL_CALL_UPDATE = "TOOL_CALL_UPDATE"
    TEXT_CONTENT = "TEXT_CONTENT"
    STATE_CHANGE = "STATE_CHANGE"
    THOUGHT = "THOUGHT"


class DevelopmentToolEvent(Schema):
    """The metadata of an event: how its message is to be read."""

    kind: EventKind
    model: str
    user_tier: str | None = None
    error: str | None = None


class ModifiedFileDetails(Schema):
    """The text that the user puts in place of the proposed one."""

    model_config = ConfigDict(strict=True)

    new_content: str


class ToolCallConfirmation(Schema):
    """The user's answer to a `ConfirmationRequest`."""

    model_config = ConfigDict(strict=True)

    tool_call_id: str
    selected_option_id: str
    file_details: ModifiedFileDetails | None = None


class SlashCommandArgument(Schema):
    """An argument of a command."""

    name: str
    description: str
    is_required: bool


class SlashCommand(Schema):
    """A command and those below it."""

    name: str
    description: str
    arguments: tuple[SlashCommandArgument, ...] = ()
    sub_commands: tuple[SlashCommand, ...] = ()


class GetAllSlashCommandsResponse(Schema):
    """The result of `commands/get`."""

    commands: tuple[SlashCommand, ...] = ()


class ExecuteSlashCommandRequest(Schema):
    """The parameters of `command/execute`. Clients may add others."""

    model_config = ConfigDict(extra="ignore", strict=True)

    command_path: Annotated[tuple[str, ...], Field(min_length=1, strict=False)]
    args: str = ""


class CommandExecutionStatus(StrEnum):
    """What became of a command at first."""

    STARTED = "STARTED"
    FAILED_TO_START = "FAILED_TO_START"
    AWAITING_SHELL_CONFIRMATION = "AWAITING_SHELL_CONFIRMATION"
    AWAITING_ACTION_CONFIRMATION = "AWAITING_ACTION_CONFIRMATION"


class ExecuteSlashCommandResponse(Schema):
    """The result of `command/execute`; `execution_id` is the id of the task to follow."""

    execution_id: str
    status: CommandExecutionStatus
    message: str

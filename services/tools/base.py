"""Base classes of tools: a schema, then checks of values, then one invocation for each call.

Source: core `tools/tools.ts` (`BaseDeclarativeTool`, `BaseToolInvocation`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from services.argument_patterns import parameter_pattern
from services.outside_patterns import PatternLimit
from services.tools.contract import (
    ConfirmationDetails,
    ConfirmationOutcome,
    InvalidToolParams,
    ToolErrorType,
    ToolExecution,
    ToolFailure,
    ToolInvocation,
    ToolKind,
    ToolResult,
)
from services.tools.host import ToolHost
from services.tools.paths import access_error
from services.tools.schema import ParameterSchema
from services.wire import Json, JsonObject

__all__ = [
    "BuiltinInvocation",
    "DeclarativeTool",
    "Invocation",
    "PlainInvocation",
    "SchemaTool",
    "failed",
    "failed_as_shown",
]

_I = TypeVar("_I", bound="BuiltinInvocation")


def failed(
    message: str, type: ToolErrorType, *, display: Json = None, llm: str | None = None
) -> ToolResult:
    """A result that is an error.

    Args:
        message: the model receives it.
        type: the wire's error type.
        display: the user sees it; unless given, the message after `Error: `.
        llm: the result's own content where it differs from the message. Only its length is
            recorded.
    """
    return ToolResult(
        llm_content=message if llm is None else llm,
        return_display=f"Error: {message}" if display is None else display,
        error=ToolFailure(message=message, type=type),
    )


def failed_as_shown(message: str, type: ToolErrorType) -> ToolResult:
    """An error whose content for the model and display are the same text."""
    shown = f"Error: {message}"
    return failed(message, type, display=shown, llm=shown)


class PlainInvocation(ABC):
    """One validated call. Subclasses describe, confirm and run it."""

    def __init__(self, params: JsonObject) -> None:
        self._params = params

    @property
    def params(self) -> JsonObject:
        """The arguments, as validated."""
        return self._params

    @abstractmethod
    def description(self) -> str:
        """What this call does, in a short line for the user."""

    @property
    def respects_auto_edit(self) -> bool:
        """Whether auto-edit mode allows the call without a confirmation."""
        return False

    def confirmation_details(self) -> ConfirmationDetails | None:
        """The question to the user: by default, the description under the tool's name."""
        return ConfirmationDetails(
            type="info",
            title=f"Confirm: {self.shown_name}",
            fields={"prompt": self.description()},
        )

    def policy_update(self, outcome: ConfirmationOutcome) -> Mapping[str, Any] | None:
        """Nothing narrows an "always" answer, unless a tool overrides this."""
        return None

    @abstractmethod
    async def execute(self, execution: ToolExecution) -> ToolResult:
        """Run the call."""

    @property
    @abstractmethod
    def shown_name(self) -> str:
        """The tool's name as the user sees it."""


class Invocation(PlainInvocation):
    """A call that works on the session's host."""

    def __init__(self, host: ToolHost, params: JsonObject) -> None:
        super().__init__(params)
        self.host = host


class SchemaTool(ABC):
    """A tool with a schema, a check of values and a builder of calls."""

    name: str
    display_name: str
    description: str
    kind: ToolKind
    is_output_markdown: bool = True
    can_update_output: bool = False
    parameters: ClassVar[JsonObject]
    """The JSON schema of the arguments, as declared to the model."""

    def declaration(self, model: str | None = None) -> JsonObject:
        """`{name, description, parametersJsonSchema}`; the same for every model."""
        return {
            "name": self.name,
            "description": self.description,
            "parametersJsonSchema": self.parameters,
        }

    def build(self, params: JsonObject) -> ToolInvocation:
        """Validate and build one call.

        Raises:
            InvalidToolParams: the model receives the message.
        """
        try:
            fault = self._schema.fault(params) or self.check_values(params)
            if fault is None:
                return self.invocation(params)
        except PatternLimit as problem:
            fault = str(problem)
        raise InvalidToolParams(fault)

    def check_values(self, params: JsonObject) -> str | None:
        """Check what the schema cannot express; return the fault for the model, or `None`."""
        return None

    @abstractmethod
    def invocation(self, params: JsonObject) -> ToolInvocation:
        """The call for validated `params`.

        Raises:
            InvalidToolParams: the call cannot be built.
        """

    @cached_property
    def _schema(self) -> ParameterSchema:
        return ParameterSchema(self.parameters)


class DeclarativeTool(SchemaTool):
    """A tool whose calls work on the session's host. One object per session."""

    _invocation_type: ClassVar[type[BuiltinInvocation]]

    def __init__(self, host: ToolHost) -> None:
        self.host = host

    @classmethod
    def builds(cls, invocation_type: type[_I]) -> type[_I]:
        """Decorate the class of this tool's calls; it takes the tool and the arguments."""
        cls._invocation_type = invocation_type
        return invocation_type

    def invocation(self, params: JsonObject) -> ToolInvocation:
        """The call for validated `params`."""
        return self._invocation_type(self, params)


class BuiltinInvocation(Invocation):
    """A call of a `DeclarativeTool`, shown under its display name."""

    narrowed_by: ClassVar[str | None] = None
    """The argument whose value an "always" answer is limited to."""

    def __init__(self, tool: DeclarativeTool, params: JsonObject) -> None:
        super().__init__(tool.host, params)
        self._display_name = tool.display_name

    @property
    def shown_name(self) -> str:
        """The tool's display name."""
        return self._display_name

    def policy_update(self, outcome: ConfirmationOutcome) -> Mapping[str, Any] | None:
        """The rule's pattern for the argument `narrowed_by`."""
        name = self.narrowed_by
        return None if name is None else {"argsPattern": parameter_pattern(name, self.params[name])}

    def access_failure(
        self, path: str | Path, *, display: str = "Path not in workspace."
    ) -> ToolResult | None:
        """The call's failure if tools may not touch `path`."""
        fault = access_error(self.host.workspace, path)
        if fault is None:
            return None
        return failed(fault, ToolErrorType.PATH_NOT_IN_WORKSPACE, display=display)

"""The frame of a tool: schema, then value checks, then one invocation per call.

Source: core `tools/tools.ts` (`BaseDeclarativeTool`, `BaseToolInvocation`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

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
from services.tools.schema import ParameterSchema
from services.wire import Json, JsonObject

__all__ = ["DeclarativeTool", "Invocation", "PlainInvocation", "SchemaTool", "failed"]


def failed(
    message: str, type: ToolErrorType, *, display: Json, llm: str | None = None
) -> ToolResult:
    """A result that is an error.

    Args:
        message: what the model is told.
        type: the wire's error type.
        display: what people see.
        llm: the result's own content where it differs from the message; nobody is shown it, but
            its length is recorded.
    """
    return ToolResult(
        llm_content=message if llm is None else llm,
        return_display=display,
        error=ToolFailure(message=message, type=type),
    )


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
        """What this call does, in a short line for people."""

    @property
    def respects_auto_edit(self) -> bool:
        """True when auto-edit mode needs no confirmation for it."""
        return False

    def confirmation_details(self) -> ConfirmationDetails | None:
        """What to ask a person: by default, the description under the tool's name."""
        return ConfirmationDetails(
            type="info",
            title=f"Confirm: {self.shown_name}",
            fields={"prompt": self.description()},
        )

    def policy_update(self, outcome: ConfirmationOutcome) -> Mapping[str, Any] | None:
        """Nothing narrows an "always" answer, unless a tool says so."""
        return None

    @abstractmethod
    async def execute(self, execution: ToolExecution) -> ToolResult:
        """Run the call."""

    @property
    @abstractmethod
    def shown_name(self) -> str:
        """The tool's name for people."""


class Invocation(PlainInvocation):
    """One that works on the session's host."""

    def __init__(self, host: ToolHost, params: JsonObject) -> None:
        super().__init__(params)
        self.host = host


class SchemaTool(ABC):
    """A tool that is a schema, a check and a builder."""

    name: str
    display_name: str
    description: str
    kind: ToolKind
    is_output_markdown: bool = True
    can_update_output: bool = False
    parameters: ClassVar[JsonObject]
    """The JSON schema of the arguments, as declared to the model."""

    def declaration(self, model: str | None = None) -> JsonObject:
        """`{name, description, parametersJsonSchema}`; the same for every model so far."""
        return {
            "name": self.name,
            "description": self.description,
            "parametersJsonSchema": self.parameters,
        }

    def build(self, params: JsonObject) -> ToolInvocation:
        """Validate and build one call.

        Raises:
            InvalidToolParams: the message is what the model is told.
        """
        try:
            fault = self._schema.fault(params) or self.check_values(params)
            if fault is None:
                return self.invocation(params)
        except PatternLimit as problem:
            fault = str(problem)
        raise InvalidToolParams(fault)

    def check_values(self, params: JsonObject) -> str | None:
        """What the schema cannot say: the fault in words for the model, or `None`."""
        return None

    @abstractmethod
    def invocation(self, params: JsonObject) -> ToolInvocation:
        """The call for validated `params`.

        Raises:
            InvalidToolParams: there is no such call after all.
        """

    @cached_property
    def _schema(self) -> ParameterSchema:
        return ParameterSchema(self.parameters)


class DeclarativeTool(SchemaTool):
    """One whose calls work on the session's host. One object per session."""

    def __init__(self, host: ToolHost) -> None:
        self.host = host

"""`complete_task`: submits an agent's result.

Source: core `tools/complete-task.ts`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from typing import Any, Final

from services.mcp.tool_schemas import with_wait_parameter
from services.subagents.definition import COMPLETE_TASK, OutputConfig
from services.tools.base import PlainInvocation
from services.tools.contract import (
    InvalidToolParams,
    ToolExecution,
    ToolKind,
    ToolResult,
)
from services.tools.schema import ParameterSchema
from services.wire import JsonObject, js_json_pretty, js_trim

__all__ = ["CompleteTaskTool"]

_RESULT: Final = "result"
_ONLY_WAY: Final = "and complete the task. This is the ONLY way to finish."
_NO_RESULT: Final = (
    'Missing required "result" argument. You must provide your findings when calling complete_task.'
)
_PLAIN: Final[JsonObject] = with_wait_parameter(
    {
        "type": "object",
        "properties": {
            _RESULT: {
                "type": "string",
                "description": (
                    "Your final results or findings to return to the orchestrator. Ensure this is "
                    "comprehensive and follows any formatting requested in your instructions."
                ),
            }
        },
        "required": [_RESULT],
    }
)
"""The parameters for a definition without an output."""


class CompleteTaskTool:
    """Accepts the output that an agent's definition declares, by default a text."""

    name = COMPLETE_TASK
    display_name = "Complete Task"
    kind = ToolKind.OTHER
    is_output_markdown = True
    can_update_output = False

    def __init__(
        self,
        output: OutputConfig | None = None,
        process_output: Callable[[Any], str] | None = None,
    ) -> None:
        """Make the tool.

        Args:
            output: the declared output; `None`: a text called `result`.
            process_output: converts the output to the agent's result.
        """
        self.output = output
        self._process = process_output
        what = "findings" if output is None else "answer"
        self.description = f"Call this tool to submit your final {what} {_ONLY_WAY}"
        self._parameters = _PLAIN if output is None else with_wait_parameter(_parameters(output))

    def declaration(self, model: str | None = None) -> JsonObject:
        """`{name, description, parametersJsonSchema}`, the same for every model."""
        return {
            "name": self.name,
            "description": self.description,
            "parametersJsonSchema": self._parameters,
        }

    def build(self, params: JsonObject) -> CompleteTaskCall:
        """Validate and build one call.

        Raises:
            InvalidToolParams: the model receives the message.
        """
        fault = self._schema.fault(params)
        if fault is None and self._is_blank(params):
            fault = _NO_RESULT
        if fault is not None:
            raise InvalidToolParams(fault)
        return CompleteTaskCall(self, params)

    def result(self, params: JsonObject) -> str:
        """Return the submitted output as text."""
        if self.output is None:
            value = params[_RESULT]
        else:
            value = params[self.output.name]
            if self._process is not None:
                return self._process(value)
        return value if isinstance(value, str) else js_json_pretty(value)

    @cached_property
    def _schema(self) -> ParameterSchema:
        return _plain_schema() if self.output is None else ParameterSchema(self._parameters)

    def _is_blank(self, params: JsonObject) -> bool:
        return self.output is None and not js_trim(params[_RESULT])


class CompleteTaskCall(PlainInvocation):
    """One call of the tool."""

    def __init__(self, tool: CompleteTaskTool, params: JsonObject) -> None:
        super().__init__(params)
        self._tool = tool

    @property
    def shown_name(self) -> str:
        """The tool's display name."""
        return self._tool.display_name

    def description(self) -> str:
        """Describe the call in one line."""
        return "Completing task and submitting results."

    async def execute(self, execution: ToolExecution) -> ToolResult:
        """Submit: `data` is `{taskCompleted, submittedOutput}`."""
        what = "Result" if self._tool.output is None else "Output"
        message = f"{what} submitted and task completed."
        return ToolResult(
            llm_content=message,
            return_display=message,
            data={"taskCompleted": True, "submittedOutput": self._tool.result(self._params)},
        )


@cache
def _plain_schema() -> ParameterSchema:
    """The schema of every agent without a declared output."""
    return ParameterSchema(_PLAIN)


def _parameters(output: OutputConfig) -> JsonObject:
    left_out = ("$schema", "definitions")
    schema = {key: value for key, value in output.schema.items() if key not in left_out}
    return {"type": "object", "properties": {output.name: schema}, "required": [output.name]}

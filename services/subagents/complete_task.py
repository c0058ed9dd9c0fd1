"""`complete_task`: how an agent hands in its result, and the only way to.

Source: core `tools/complete-task.ts`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, cached_property
from typing import Any, Final

from jsonschema import Draft7Validator, SchemaError

from services.mcp.tool_schemas import with_wait_parameter
from services.subagents.definition import COMPLETE_TASK, OutputConfig
from services.subagents.output_issues import flattened_issues, referenced
from services.tools.base import PlainInvocation
from services.tools.contract import (
    InvalidToolParams,
    ToolExecution,
    ToolKind,
    ToolResult,
)
from services.tools.schema import ParameterSchema
from services.wire import Json, JsonObject, js_json, js_json_pretty, js_trim

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
"""What an agent hands in whose definition asks for nothing else."""


class CompleteTaskTool:
    """Takes the value that an agent's definition asks for, or a text where it asks for none."""

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
        """Make it.

        Args:
            output: what is handed in; a text called `result` where it is not given.
            process_output: from the value to the agent's result; used with `output` only.
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
            InvalidToolParams: the message is what the model is told.
        """
        schema = _plain_schema() if self.output is None else self._schema
        fault = None if schema is None else schema.fault(params)
        if fault is None:
            fault = self._value_fault(params)
        if fault is not None:
            raise InvalidToolParams(fault)
        return CompleteTaskCall(self, params)

    def result(self, params: JsonObject) -> str:
        """What is handed in, as text."""
        if self.output is None:
            value = params[_RESULT]
        else:
            value = params[self.output.name]
            if self._process is not None:
                return self._process(value)
        return value if isinstance(value, str) else js_json_pretty(value)

    @cached_property
    def _schema(self) -> ParameterSchema | None:
        """What upstream's validator cannot compile, it lets pass."""
        return ParameterSchema(self._parameters) if _compiles(self._parameters) else None

    def _value_fault(self, params: JsonObject) -> str | None:
        if self.output is None:
            value = params.get(_RESULT)
            blank = value is None or (isinstance(value, str) and not js_trim(value))
            return _NO_RESULT if blank else None
        if self.output.name not in params:
            return f"Missing required argument '{self.output.name}' for completion."
        issues = flattened_issues(self.output.schema, params[self.output.name])
        return None if issues is None else f"Output validation failed: {js_json(issues)}"


class CompleteTaskCall(PlainInvocation):
    """One call of it."""

    def __init__(self, tool: CompleteTaskTool, params: JsonObject) -> None:
        super().__init__(params)
        self._tool = tool

    @property
    def shown_name(self) -> str:
        """The tool's name for people."""
        return self._tool.display_name

    def description(self) -> str:
        """What this call does, in a short line for people."""
        return "Completing task and submitting results."

    async def execute(self, execution: ToolExecution) -> ToolResult:
        """Hand in: `data` is `{taskCompleted, submittedOutput}`."""
        what = "Result" if self._tool.output is None else "Output"
        said = f"{what} submitted and task completed."
        return ToolResult(
            llm_content=said,
            return_display=said,
            data={"taskCompleted": True, "submittedOutput": self._tool.result(self._params)},
        )


@cache
def _plain_schema() -> ParameterSchema:
    """The same for every agent that hands in a text."""
    return ParameterSchema(_PLAIN)


def _parameters(output: OutputConfig) -> JsonObject:
    left_out = ("$schema", "definitions")
    schema = {key: value for key, value in output.schema.items() if key not in left_out}
    return {"type": "object", "properties": {output.name: schema}, "required": [output.name]}


def _compiles(schema: JsonObject) -> bool:
    try:
        Draft7Validator.check_schema(schema)
    except SchemaError:
        return False
    return all(referenced(schema, reference) is not None for reference in _references(schema))


def _references(schema: Json) -> Iterator[str]:
    if isinstance(schema, list):
        for item in schema:
            yield from _references(item)
    elif isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"]
        for value in schema.values():
            yield from _references(value)

"""`write_todos`: the model's list of the steps of a task.

Source: core `tools/write-todos.ts`.
"""

from __future__ import annotations

from typing import ClassVar, Final

from services.tools.base import BuiltinInvocation, DeclarativeTool
from services.tools.contract import ToolExecution, ToolKind, ToolResult
from services.tools.parameters import arguments, array, string
from services.wire import JsonObject, js_trim

__all__ = ["WriteTodosTool"]

_STATUSES: Final = ["pending", "in_progress", "completed", "cancelled", "blocked"]


class WriteTodosTool(DeclarativeTool):
    """Replaces the list. It is not stored; the client shows it."""

    name = "write_todos"
    display_name = "WriteTodos"
    kind = ToolKind.OTHER
    description = (
        "Keep a list of the steps of a task that takes several, so that you and the user see what "
        "is done and what is left. Write it when you know the steps, and write it whole again "
        "whenever one begins, ends or is dropped. At most one step is in_progress. Do not use it "
        "for a task of one or two steps."
    )
    parameters: ClassVar[JsonObject] = {
        **arguments(
            ["todos"],
            todos=array(
                {
                    **arguments(
                        ["description", "status"],
                        description=string("What is to be done."),
                        status=string(
                            "pending: not begun. in_progress: being worked on. completed: "
                            "done. cancelled: no longer needed. blocked: cannot go on now.",
                            enum=_STATUSES,
                        ),
                    ),
                    "description": "One step.",
                    "additionalProperties": False,
                },
                "The whole list; it takes the place of the one before.",
            ),
        ),
        "additionalProperties": False,
    }

    def check_values(self, params: JsonObject) -> str | None:
        """Check that every step has a description, and that at most one is in progress."""
        todos: list[JsonObject] = params["todos"]
        if any(not js_trim(todo["description"]) for todo in todos):
            return "Each todo must have a non-empty description string"
        if sum(todo["status"] == "in_progress" for todo in todos) > 1:
            return 'Invalid parameters: Only one task can be "in_progress" at a time.'
        return None


@WriteTodosTool.builds
class _WriteTodos(BuiltinInvocation):
    def description(self) -> str:
        count = len(self.params["todos"])
        return f"Set {count} todo(s)" if count else "Cleared todo list"

    async def execute(self, execution: ToolExecution) -> ToolResult:
        todos: list[JsonObject] = self.params["todos"]
        content = "Successfully cleared the todo list."
        if todos:
            content = "Successfully updated the todo list. The current list is now:\n" + "\n".join(
                f"{number}. [{todo['status']}] {todo['description']}"
                for number, todo in enumerate(todos, 1)
            )
        return ToolResult(llm_content=content, return_display={"todos": todos})

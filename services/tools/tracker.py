"""The tools of the task tracker, which a session has in place of `write_todos` if it is enabled.

Source: core `tools/trackerTools.ts`, `tools/definitions/trackerTools.ts`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final

from services.tools.base import BuiltinInvocation, DeclarativeTool, failed
from services.tools.contract import ToolErrorType, ToolExecution, ToolKind, ToolResult
from services.tools.host import ToolHost
from services.tools.parameters import arguments, array, string
from services.tools.registry import ToolRegistry
from services.tools.task_tree import shown_tasks, task_graph
from services.tracker import TASK_TYPES, TaskStatus, Tracker, TrackerError, TrackerTask
from services.wire import JsonObject, js_json_pretty

__all__ = ["register_tracker_tools"]


class _TrackerTool(DeclarativeTool):
    """A tool over the session's tracker."""

    def __init__(self, host: ToolHost, tracker: Tracker) -> None:
        super().__init__(host)
        self.tracker = tracker


class _TrackerCall(BuiltinInvocation):
    """A call over the session's tracker."""

    def __init__(self, tool: _TrackerTool, params: JsonObject) -> None:
        super().__init__(tool, params)
        self._tracker, self._name = tool.tracker, tool.name

    @property
    def shown_name(self) -> str:
        return self._name

    def _with_tasks(self, content: str) -> ToolResult:
        """`content` for the model; the user sees all tasks.

        Raises:
            TrackerError: the tasks cannot be read.
        """
        return ToolResult(llm_content=content, return_display=shown_tasks(self._tracker.tasks()))

    def _changed(self, change: Callable[[], str], doing: str, display: str) -> ToolResult:
        """The result of `change`, or its error.

        Args:
            change: returns the content for the model.
            doing: what failed, for the model.
            display: what failed, for the user.
        """
        try:
            return self._with_tasks(change())
        except TrackerError as error:
            return failed(
                str(error),
                ToolErrorType.EXECUTION_FAILED,
                display=display,
                llm=f"Error {doing}: {error}",
            )


class TrackerCreateTaskTool(_TrackerTool):
    """Makes a task."""

    name = "tracker_create_task"
    display_name = "Create Task"
    kind = ToolKind.EDIT
    description = "Add a task to the tracker. The answer has its id."
    parameters: ClassVar[JsonObject] = arguments(
        ["title", "description", "type"],
        title=string("What is to be done, in one line that says its aim."),
        description=string("All that is needed to do it: much more detail than the title."),
        type=string("What kind of task it is.", enum=list(TASK_TYPES)),
        parentId=string("The id of the task that it is a part of."),
        dependencies=array(string(), "The ids of the tasks that must be closed before it."),
    )


@TrackerCreateTaskTool.builds
class _Create(_TrackerCall):
    def description(self) -> str:
        return f"Creating task: {self.params['title']}"

    async def execute(self, execution: ToolExecution) -> ToolResult:
        return self._changed(self._create, "creating task", "Failed to create task.")

    def _create(self) -> str:
        task = self._tracker.create(self.params)
        return f"Created task {task.id}: {task.title}"


class TrackerUpdateTaskTool(_TrackerTool):
    """Changes a task."""

    name = "tracker_update_task"
    display_name = "Update Task"
    kind = ToolKind.EDIT
    description = "Change a task of the tracker: its texts, its status, what it depends on."
    parameters: ClassVar[JsonObject] = arguments(
        ["id"],
        id=string("The task's id, of six characters."),
        title=string("Its new title."),
        description=string("Its new description."),
        status=string(
            "Its new status. A task can be closed when all that it depends on is closed.",
            enum=list(TaskStatus),
        ),
        dependencies=array(string(), "All tasks that it depends on from now on, by their ids."),
    )


@TrackerUpdateTaskTool.builds
class _Update(_TrackerCall):
    def description(self) -> str:
        return f"Updating task {self.params['id']}"

    async def execute(self, execution: ToolExecution) -> ToolResult:
        return self._changed(self._update, "updating task", "Failed to update task.")

    def _update(self) -> str:
        changes = {key: value for key, value in self.params.items() if key != "id"}
        task = self._tracker.update(self.params["id"], changes)
        return f"Updated task {task.id}. Status: {task.status}"


class TrackerGetTaskTool(_TrackerTool):
    """Shows a task."""

    name = "tracker_get_task"
    display_name = "Get Task"
    kind = ToolKind.READ
    description = "Get all that the tracker has of one task."
    parameters: ClassVar[JsonObject] = arguments(
        ["id"], id=string("The task's id, of six characters.")
    )


@TrackerGetTaskTool.builds
class _Get(_TrackerCall):
    def description(self) -> str:
        return f"Retrieving task {self.params['id']}"

    async def execute(self, execution: ToolExecution) -> ToolResult:
        task = self._tracker.get(self.params["id"])
        if task is None:
            return _no_task("Task", self.params["id"])
        return self._with_tasks(js_json_pretty(dict(task.document)))


class TrackerListTasksTool(_TrackerTool):
    """Lists tasks."""

    name = "tracker_list_tasks"
    display_name = "List Tasks"
    kind = ToolKind.SEARCH
    description = "List the tasks of the tracker: all of them, or those that fit every filter."
    parameters: ClassVar[JsonObject] = arguments(
        None,
        status=string("Only tasks of this status.", enum=list(TaskStatus)),
        type=string("Only tasks of this kind.", enum=list(TASK_TYPES)),
        parentId=string("Only the parts of the task with this id."),
    )


@TrackerListTasksTool.builds
class _List(_TrackerCall):
    def description(self) -> str:
        return "Listing tasks."

    async def execute(self, execution: ToolExecution) -> ToolResult:
        lines = [
            f"- [{task.id}] {task.title} ({task.status})"
            for task in self._tracker.tasks()
            if self._fits(task)
        ]
        if not lines:
            return ToolResult(
                llm_content="No tasks found matching the criteria.",
                return_display="No matching tasks.",
            )
        return self._with_tasks("\n".join(lines))

    def _fits(self, task: TrackerTask) -> bool:
        wanted: Any = self.params.get
        return (
            (wanted("status") or task.status) == task.status
            and (wanted("type") or task.type) == task.type
            and (wanted("parentId") or task.parent_id) == task.parent_id
        )


class TrackerAddDependencyTool(_TrackerTool):
    """Lets a task depend on another one."""

    name = "tracker_add_dependency"
    display_name = "Add Dependency"
    kind = ToolKind.EDIT
    description = "Let one task of the tracker depend on another one."
    parameters: ClassVar[JsonObject] = arguments(
        ["taskId", "dependencyId"],
        taskId=string("The id of the task that has to wait."),
        dependencyId=string("The id of the task that must be closed before it."),
    )


@TrackerAddDependencyTool.builds
class _AddDependency(_TrackerCall):
    def description(self) -> str:
        waiting, first = self.params["taskId"], self.params["dependencyId"]
        return f"Adding dependency: {waiting} depends on {first}"

    async def execute(self, execution: ToolExecution) -> ToolResult:
        waiting, first = self.params["taskId"], self.params["dependencyId"]
        if waiting == first:
            return failed(
                "Task cannot depend on itself",
                ToolErrorType.EXECUTION_FAILED,
                display="Self-referential dependency rejected.",
                llm=f"Error: Task {waiting} cannot depend on itself.",
            )
        task, dependency = self._tracker.get(waiting), self._tracker.get(first)
        if task is None:
            return _no_task("Task", waiting)
        if dependency is None:
            return _no_task("Dependency", first, named="Dependency task")
        dependencies = list(dict.fromkeys([*task.dependencies, first]))

        def link() -> str:
            self._tracker.update(task.id, {"dependencies": dependencies})
            return f"Linked {task.id} -> {dependency.id}."

        return self._changed(link, "adding dependency", "Failed to add dependency.")


class TrackerVisualizeTool(_TrackerTool):
    """Draws the tasks."""

    name = "tracker_visualize"
    display_name = "Visualize Tracker"
    kind = ToolKind.READ
    description = "Draw the tasks of the tracker as a tree, with what they depend on."
    parameters: ClassVar[JsonObject] = arguments()


@TrackerVisualizeTool.builds
class _Visualize(_TrackerCall):
    def description(self) -> str:
        return "Visualizing the task graph."

    async def execute(self, execution: ToolExecution) -> ToolResult:
        tasks = self._tracker.tasks()
        if not tasks:
            return ToolResult(llm_content="No tasks to visualize.", return_display="Empty tracker.")
        return self._with_tasks(task_graph(tasks))


def _no_task(display: str, task_id: str, *, named: str | None = None) -> ToolResult:
    return ToolResult(
        llm_content=f"{named or display} {task_id} not found.",
        return_display=f"{display} not found.",
    )


_TOOLS: Final[tuple[type[_TrackerTool], ...]] = (
    TrackerCreateTaskTool,
    TrackerUpdateTaskTool,
    TrackerGetTaskTool,
    TrackerListTasksTool,
    TrackerAddDependencyTool,
    TrackerVisualizeTool,
)


def register_tracker_tools(registry: ToolRegistry, host: ToolHost, tracker: Tracker) -> None:
    """Register the six tools in upstream's order."""
    for tool in _TOOLS:
        registry.register(tool(host, tracker))

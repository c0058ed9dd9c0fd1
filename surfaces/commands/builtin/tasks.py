"""`/tasks`: the shell commands that run in the background.

Source: `packages/cli` `ui/commands/tasksCommand.ts`, `ui/hooks/useExecutionLifecycle.ts`,
`ui/components/BackgroundTaskDisplay.tsx`.
"""

from __future__ import annotations

from typing import Final

from services.tools.background import BackgroundProcess
from surfaces.commands.contract import CommandContext, SlashCommand
from surfaces.commands.results import Dialog, Item, ItemKind, OpenDialog, Result

__all__ = ["TASKS", "task_line"]


async def _tasks(context: CommandContext) -> Result:
    tasks = [each for each in context.services.background if each.running]
    if not tasks:
        return Item(kind=ItemKind.INFO, text="No background tasks are currently active.")
    if Dialog.TASKS in context.session.dialogs:
        return OpenDialog(dialog=Dialog.TASKS)
    context.panel("\n".join(map(task_line, tasks)))
    return None


def task_line(task: BackgroundProcess) -> str:
    """A background command in one line."""
    line = f"{task.command.partition(chr(10))[0]} (PID: {task.pid})"
    return line if task.running else f"{line} (Exit Code: {task.exit_code})"


TASKS: Final = SlashCommand(
    name="tasks",
    aliases=("bg", "background"),
    description="Toggle background tasks view",
    runs_at_once=True,
    action=_tasks,
)

"""What a conversation starts with: the system instruction and the environment's context.

The words are this product's own; only the first text's `<session_context>` frame is upstream's
(core `utils/environmentContext.ts`), because chat recordings and resume recognise it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from services.clock import Clock
from services.environment import Environment
from services.ids import stable_id
from services.state import ApprovalMode, SessionState
from services.wire import Content
from services.workspace import Workspace

__all__ = ["ENVIRONMENT_CONTEXT_ID", "Prompts"]

ENVIRONMENT_CONTEXT_ID: Final = stable_id("environment-context")
"""The durable id of the first turn, the same in every session."""

_MAX_TREE_ITEMS: Final = 200
_SKIPPED_FOLDERS: Final = frozenset({".git", "__pycache__", "dist", "node_modules"})

_ROLE: Final = """\
You are a software engineering agent that works from a terminal. You help your user with code: \
reading it, explaining it, changing it, running and checking it.

Work like this:
- Look before you act. Read the files that matter and follow the conventions you find in them.
- Use the tools for what they are for. Calls that do not depend on each other may be made at once.
- Give absolute paths, or paths relative to the workspace. Stay inside it.
- Make the smallest change that does the whole job, and check it with the project's own tests.
- Never print or store credentials. Explain a command that changes the system before you run it.
- Answer in plain words, as short as the matter allows. Say what you did not do."""

_MODES: Final = {
    ApprovalMode.DEFAULT: "Edits and commands need your user's approval.",
    ApprovalMode.AUTO_EDIT: "Edits are approved in advance; commands need your user's approval.",
    ApprovalMode.YOLO: "Everything is approved in advance. Nobody is asked, so be careful.",
    ApprovalMode.PLAN: (
        "You are planning. Read as much as you need, write plans only, change nothing else."
    ),
}
_HEADLESS: Final = "Nobody is there to answer questions. Decide for yourself and finish the task."


class Prompts:
    """Builds the texts of one session."""

    def __init__(
        self,
        *,
        workspace: Workspace,
        state: SessionState,
        environment: Environment,
        clock: Clock,
        server_instructions: Callable[[], str] = str,
    ) -> None:
        """Make them.

        Args:
            workspace: the folder that is worked in.
            state: the mode, and whether somebody is there.
            environment: platform and calendar.
            clock: for today.
            server_instructions: what MCP servers say about themselves; empty where they do not.
        """
        self._workspace = workspace
        self._state = state
        self._environment = environment
        self._clock = clock
        self._server_instructions = server_instructions

    def system_instruction(self) -> str:
        """The system instruction for the approval mode now in force."""
        sections = [_ROLE, _MODES[self._state.approval_mode]]
        if not self._state.interactive:
            sections.append(_HEADLESS)
        return "\n\n".join(sections)

    def session_context(self) -> Content:
        """The first user turn: date, platform, folders, what MCP servers say.

        Its id is `ENVIRONMENT_CONTEXT_ID`.
        """
        today = self._environment.long_date(self._clock.now_ms())
        lines = [
            "<session_context>",
            f"Today is {today}.",
            f"The operating system is {self._environment.platform}.",
            f"Temporary files go to {self._workspace.project_temp}.",
            f"The workspace is {self._workspace.root}. It holds:",
            *_tree(self._workspace.root),
            *self._project_context(),
            "</session_context>",
        ]
        return {"role": "user", "parts": [{"text": "\n".join(lines)}]}

    def _project_context(self) -> list[str]:
        """What servers say is read with the first turn, not with the system instruction.

        Source: core `context/memoryContextManager.ts`, `Config.getSessionMemory`.
        """
        told = self._server_instructions().strip()
        if not told:
            return []
        frame = ("<loaded_context>", "<project_context>")
        return ["", *frame, told, "</project_context>", "</loaded_context>"]


def _tree(root: Path) -> list[str]:
    """The folder's files, breadth first, at most 200 lines; links are named, not followed."""
    lines: list[str] = []
    for line in _walk(root):
        if len(lines) == _MAX_TREE_ITEMS:
            return [*lines, "…"]
        lines.append(line)
    return lines or ["(nothing)"]


def _walk(root: Path) -> Iterator[str]:
    queue = [root]
    while queue:
        folder = queue.pop(0)
        try:
            entries = sorted(folder.iterdir(), key=lambda path: path.name)
        except OSError:
            yield f"{folder.relative_to(root)}/ (unreadable)"
            continue
        for path in entries:
            shown = path.relative_to(root).as_posix()
            if path.is_dir() and not path.is_symlink():
                yield f"{shown}/"
                if path.name not in _SKIPPED_FOLDERS:
                    queue.append(path)
            else:
                yield shown

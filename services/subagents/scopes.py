"""What holds only while an agent runs: folders of its own, and access to the project's memory.

Source: core `config/scoped-config.ts`; the nesting: core `agents/local-executor.ts` (`run`).
"""

from __future__ import annotations

import logging
import os.path
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from services.memory_access import MEMORY_EXTRACTION, MEMORY_INBOX
from services.scoping import Entered, Scope
from services.subagents.definition import LocalAgentDefinition
from services.workspace import SCOPED_WORKSPACE, Workspace

__all__ = ["ScopeError", "agent_scope", "current_folders", "extended_workspace"]

logger = logging.getLogger(__name__)


class ScopeError(ValueError):
    """A definition asks for folders that no agent may have; the message is upstream's.

    `name` is the wire's.
    """

    name = "Error"


def agent_scope(definition: LocalAgentDefinition, workspace: Workspace) -> Scope:
    """All that holds while `definition` runs: restricted writes, then inbox, then folders.

    Entering it raises `ScopeError` where the folders cannot be had.
    """
    values: list[Entered] = []
    if definition.auto_memory_extraction_write_access:
        values.append(lambda: MEMORY_EXTRACTION.set(True))
    if definition.memory_inbox_access:
        values.append(lambda: MEMORY_INBOX.set(True))
    if definition.workspace_directories:
        values.append(lambda: _extended(workspace, definition.workspace_directories))
    return Scope(*values)


def current_folders(workspace: Workspace) -> tuple[Path, ...]:
    """The folders that tools may work in, for whoever asks now."""
    return workspace.folders


def extended_workspace(workspace: Workspace, directories: Sequence[str]) -> Workspace:
    """`workspace` with `directories` as well; those that are none are left out.

    Raises:
        ScopeError: a directory is the file system's root, or there is nothing to extend.
    """
    folders = workspace.folders
    if not folders:
        raise ScopeError("Cannot create scoped workspace context: parent has no directories")
    for directory in directories:
        absolute = Path(os.path.abspath(directory))  # noqa: PTH100 - folds `..` without following
        if absolute == Path(absolute.anchor):
            raise ScopeError(f'Cannot add filesystem root "{directory}" as a workspace directory')
    extended = list(folders)
    for directory in directories:
        folder = (workspace.root / directory).resolve()
        if not folder.is_dir():
            logger.warning("skipping %s: it is no folder that can be read", folder)
        elif folder not in extended:
            extended.append(folder)
    return Workspace(root=workspace.root, home=workspace.home, added=extended[1:])


@contextmanager
def _extended(workspace: Workspace, directories: Sequence[str]) -> Iterator[None]:
    with SCOPED_WORKSPACE.set(extended_workspace(workspace, directories)):
        yield

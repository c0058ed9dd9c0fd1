"""Which files of the project's memory may be touched from where.

The inbox of the memory's reviewer is closed to agents. One that extracts memories gets to it: it
may list what is there, and write the two files by which it proposes changes; with restricted
writes it may write nothing else but skills that it found.

Source: core `config/config.ts` (`isScopedMemoryInboxPatchPathAllowed`,
`isScopedAutoMemoryExtractionWritePathAllowed`), `config/storage.ts`.
"""

from __future__ import annotations

import os.path
from pathlib import Path
from typing import Final

from services.paths import real_path
from services.scoping import Scoped
from services.workspace import Workspace

__all__ = [
    "MEMORY_EXTRACTION",
    "MEMORY_INBOX",
    "extraction_may_write",
    "extraction_refusal",
    "inbox_may_be_read",
    "inbox_may_be_written",
    "memory_inbox",
]

MEMORY_INBOX: Final = Scoped("memory_inbox_access", False)
"""Whether the inbox is open."""
MEMORY_EXTRACTION: Final = Scoped("auto_memory_extraction_write_access", False)
"""Whether writing is restricted to what extraction is for."""

_KINDS: Final = ("private", "global")
_PATCH: Final = "extraction.patch"


def memory_inbox(workspace: Workspace) -> Path:
    """Where proposed changes of the memory wait for review."""
    return _memory(workspace) / ".inbox"


def inbox_may_be_read(workspace: Workspace, path: str, resolved: Path) -> bool:
    """Whether this scope may read `path`, resolved as `resolved`, in the inbox."""
    if not MEMORY_INBOX.value:
        return False
    inbox, plain = memory_inbox(workspace), Path(os.path.normpath(path))
    of_inbox = resolved == real_path(inbox) or plain == inbox
    of_kind = any(
        _within(real_path(folder), resolved) or _within(folder, plain)
        for folder in (inbox / kind for kind in _KINDS)
    )
    return (of_inbox or of_kind) and _within(real_path(_memory(workspace)), resolved)


def inbox_may_be_written(workspace: Workspace, path: str, resolved: Path) -> bool:
    """Whether this scope may write `path`: one of the two proposals, and no link out of there."""
    inbox, plain = memory_inbox(workspace), Path(os.path.normpath(path))
    return (
        MEMORY_INBOX.value
        and any(plain == inbox / kind / _PATCH for kind in _KINDS)
        and _within(real_path(_memory(workspace)), resolved)
    )


def extraction_may_write(workspace: Workspace, path: str, resolved: Path) -> bool:
    """Whether `path` is a skill that was found, or a proposal."""
    return _within(real_path(_skills(workspace)), resolved) or inbox_may_be_written(
        workspace, path, resolved
    )


def extraction_refusal(workspace: Workspace, path: str) -> str:
    """What the model is told of a `path` that extraction may not write."""
    proposals = memory_inbox(workspace) / "{private,global}" / _PATCH
    return (
        f'Auto-memory extraction write denied: Attempted path "{path}" is outside the extraction '
        f"write allowlist. Extraction may only write extracted skills under {_skills(workspace)} "
        f"and canonical inbox patches under {proposals}."
    )


def _memory(workspace: Workspace) -> Path:
    return workspace.project_temp / "memory"


def _skills(workspace: Workspace) -> Path:
    return _memory(workspace) / "skills"


def _within(folder: Path, path: Path) -> bool:
    return path == folder or folder in path.parents

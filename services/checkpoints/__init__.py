"""Checkpoints: the workspace and the conversation as they were before an edit, for `/restore`.

- `ShadowRepository`: the snapshots of the workspace, in a git repository outside it.
- `CheckpointFiles`: the checkpoints, one JSON file each.
- `Checkpoints`: saves one before an edit, and restores one.

Source: core `utils/checkpointUtils.ts`, `services/gitService.ts`, `commands/restore.ts`.
"""

from services.checkpoints.checkpoints import Checkpoints, Restored
from services.checkpoints.files import Checkpoint, CheckpointFiles, CheckpointInvalid
from services.checkpoints.shadow import CheckpointingUnavailable, GitFailed, ShadowRepository

__all__ = [
    "Checkpoint",
    "CheckpointFiles",
    "CheckpointInvalid",
    "CheckpointingUnavailable",
    "Checkpoints",
    "GitFailed",
    "Restored",
    "ShadowRepository",
]

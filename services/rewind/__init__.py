"""`/rewind`: what a command layer needs beside the runtime's own `rewind`.

- `change_of_turn` and `change_since`: the edits that a rewind concerns, for the list of messages
  and for the confirmation.
- `planned`: what to do with one file, from its text alone.
- `revert_files`: does it for every edit after a message.

- `carry_out`: does what the user has chosen (`RewindChoice`).

Source: gemini-cli `packages/cli/src/ui/utils/rewindFileOps.ts`.
"""

from services.rewind.choices import RewindChoice, carry_out
from services.rewind.edits import Change, RecordedEdit, change_of_turn, change_since, edits_after
from services.rewind.reverting import Conflict, Delete, Revert, Write, planned, revert_files

__all__ = [
    "Change",
    "Conflict",
    "Delete",
    "RecordedEdit",
    "Revert",
    "RewindChoice",
    "Write",
    "carry_out",
    "change_of_turn",
    "change_since",
    "edits_after",
    "planned",
    "revert_files",
]

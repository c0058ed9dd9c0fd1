"""`Checkpoints`: saves a checkpoint before an edit, and restores one.

The scheduler saves one before it asks the user about an edit, as the terminal does; a surface may
call `save` for others.

Source: core `utils/checkpointUtils.ts` (`processRestorableToolCalls`), `commands/restore.ts`;
gemini-cli `packages/cli/src/ui/hooks/useGeminiStream.ts` and `ui/commands/restoreCommand.ts`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from services.checkpoints.files import (
    Checkpoint,
    CheckpointFiles,
    CheckpointInvalid,
    checkpoint_name,
)
from services.checkpoints.shadow import GitFailed, ShadowRepository
from services.clock import Clock
from services.exhaustion import notice
from services.scheduler.calls import ToolCallRequest
from services.state import UserFeedback
from services.wire import Content, Json, JsonObject

__all__ = ["Checkpoints", "Restored"]

logger = logging.getLogger(__name__)

_LOST_COMMIT = ("unable to read tree", "reference is not a tree", "not a tree object")
"""What versions of git say of a commit that is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What `/restore` did."""

    messages: tuple[UserFeedback, ...] = ()
    """For the user, in order."""
    tool_call: JsonObject | None = None
    """Name and arguments of the call before which the checkpoint was saved, to be proposed again;
    `None` if nothing was restored."""
    shown: Sequence[Json] | None = None
    """What the surface showed of the conversation then; `None` if the conversation stayed."""


class Checkpoints:
    """The checkpoints of one session."""

    def __init__(
        self,
        repository: ShadowRepository,
        files: CheckpointFiles,
        history: Callable[[], Sequence[Content]],
        clock: Clock,
    ) -> None:
        """`history` gives the model-facing history of the session."""
        self.files = files
        self.shown: Callable[[], Sequence[Json]] = list
        """Gives what the surface shows of the conversation, for the checkpoint; the surface sets
        it."""
        self._repository = repository
        self._history = history
        self._clock = clock

    async def open(self) -> None:
        """Make the repository of the snapshots, if there is none.

        Raises:
            CheckpointingUnavailable: git is missing or does not work.
        """
        await self._repository.open()

    async def save(self, request: ToolCallRequest) -> str | None:
        """Save a checkpoint before an edit; return its name.

        A problem never stops the edit: it is logged, and no checkpoint is saved.
        """
        name = checkpoint_name(request.name, request.args, self._clock.now_ms())
        if name is None:
            logger.warning("no checkpoint before %s, which names no file", request.name)
            return None
        commit = await self._snapshot(request.name)
        if commit is None:
            return None
        checkpoint = Checkpoint(
            name=request.name,
            args=request.args,
            commit=commit,
            history=self._history(),
            shown=self.shown(),
            prompt_id=request.prompt_id,
        )
        try:
            self.files.write(name, checkpoint)
        except OSError as error:
            notice(error)
            logger.warning("the checkpoint %s cannot be written: %s", name, error)
            return None
        return name

    async def _snapshot(self, tool: str) -> str | None:
        try:
            return await self._repository.snapshot(f"Snapshot for {tool}")
        except (GitFailed, OSError) as error:
            notice(error)
            logger.warning("no new snapshot before %s: %s", tool, error)
        try:
            return await self._repository.current()
        except (GitFailed, OSError) as error:
            notice(error)
            logger.warning("no checkpoint before %s: %s", tool, error)
            return None

    async def restore(
        self, chosen: str | int, load_history: Callable[[Sequence[Content]], None]
    ) -> Restored:
        """Restore the conversation and the workspace of a checkpoint.

        Args:
            chosen: Its name, with or without `.json`, or its number from 0, oldest first.
            load_history: Makes a history that of the conversation.
        """
        try:
            names = self.files.names()
            if isinstance(chosen, int):
                chosen = names[chosen] if 0 <= chosen < len(names) else str(chosen)
            name = chosen.removesuffix(".json")
            if name not in names:
                return _failed(f"File not found: {name}.json")
            checkpoint = self.files.read(name)
        except CheckpointInvalid as error:
            return _failed(f"Checkpoint file is invalid: {error}")
        except OSError as error:
            notice(error)
            return _unreadable(error)
        shown = None if checkpoint.history is None else checkpoint.shown
        if checkpoint.history is not None and shown is not None:
            load_history(checkpoint.history)
        call: JsonObject = {"name": checkpoint.name, "args": checkpoint.args}
        if checkpoint.commit is None:
            return Restored(tool_call=call, shown=shown)
        try:
            await self._repository.restore(checkpoint.commit)
        except (GitFailed, OSError) as error:
            notice(error)
            if any(words in str(error) for words in _LOST_COMMIT):
                return replace(_failed(_lost(checkpoint.commit)), tool_call=call, shown=shown)
            return replace(_unreadable(error), shown=shown)
        text = "Restored project to the state before the tool call."
        done = UserFeedback(severity="info", message=text)
        return Restored(messages=(done,), tool_call=call, shown=shown)


def _failed(message: str) -> Restored:
    return Restored(messages=(UserFeedback(severity="error", message=message),))


def _unreadable(error: Exception) -> Restored:
    return _failed(f"Could not read restorable tool calls. This is the error: {error}")


def _lost(commit: str) -> str:
    return (
        f"The commit hash '{commit}' associated with this checkpoint could not be found in your "
        "Git repository. This can happen if the repository has been re-cloned, reset, or if old "
        "commits have been garbage collected. This checkpoint cannot be restored."
    )

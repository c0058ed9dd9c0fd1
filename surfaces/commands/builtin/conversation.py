"""`/clear`, `/compress`, `/copy`, `/rewind` and `/restore`: the conversation itself.

Source: `packages/cli` `ui/commands/clearCommand.ts`, `compressCommand.ts`, `copyCommand.ts`,
`rewindCommand.tsx`, `restoreCommand.ts`, `ui/components/messages/CompressionMessage.tsx`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from runtimes.contract import (
    ConversationCommands,
    KeepsRecording,
    RestoresCheckpoints,
    TakesEditsBack,
)
from services.compression.service import CompressionInfo, CompressionStatus
from services.model.errors import ModelError
from surfaces.commands.contract import Argument, CommandContext, CommandError, SlashCommand
from surfaces.commands.histories import content_text, items_of_shown
from surfaces.commands.results import (
    CallTool,
    Dialog,
    Item,
    ItemKind,
    LoadHistory,
    OpenDialog,
    Result,
)
from surfaces.commands.rewinding import rewind_points

__all__ = ["CLEAR", "COMPRESS", "COPY", "RESTORE", "REWIND", "compression_words"]

_SHORT_HISTORY: Final = 50_000
_COMPRESSED: Final[Mapping[CompressionStatus, str]] = MappingProxyType(
    {
        CompressionStatus.COMPRESSED: ("Chat history compressed from {before} to {after} tokens."),
        CompressionStatus.FAILED_TOKEN_COUNT_ERROR: (
            "Could not compress chat history due to a token counting error."
        ),
        CompressionStatus.FAILED_EMPTY_SUMMARY: (
            "Chat history compression failed: the model returned an empty summary."
        ),
        CompressionStatus.NOOP: "Nothing to compress.",
        CompressionStatus.CONTENT_TRUNCATED: "The outputs of tools were shortened; no summary.",
    }
)


async def _clear(context: CommandContext) -> Result:
    hooks = context.services.session_hooks
    before = hooks.started
    await context.runtime.reset()
    said = hooks.started.message if hooks.started is not before else None
    return LoadHistory(items=(Item(kind=ItemKind.INFO, text=said),) if said else ())


async def _compress(context: CommandContext) -> Result:
    runtime = context.runtime
    if not isinstance(runtime, ConversationCommands):
        raise CommandError("This runtime cannot compress its conversation.")
    try:
        info = await runtime.compress()
    except ModelError as error:
        raise CommandError(f"Failed to compress chat history: {error}") from error
    words = "Chat history compressed." if info is None else compression_words(info)
    return Item(kind=ItemKind.AGENT, text=words)


def compression_words(info: CompressionInfo) -> str:
    """The outcome of a compression in a sentence."""
    before, after = info.original_token_count, info.new_token_count
    if info.status is CompressionStatus.FAILED_INFLATED_TOKEN_COUNT:
        if before < _SHORT_HISTORY:
            return "Compression was not beneficial for this history size."
        return (
            "Chat history compression did not reduce size. This may indicate issues with the "
            "compression prompt."
        )
    return _COMPRESSED[info.status].format(before=before, after=after)


async def _copy(context: CommandContext) -> Result:
    said = [each for each in context.runtime.transcript() if each.get("role") == "model"]
    if not said:
        return Item(kind=ItemKind.INFO, text="No output in history")
    text = content_text(said[-1])
    if not text:
        return Item(kind=ItemKind.INFO, text="Last AI output contains no text to copy.")
    if context.session.copy is None:
        raise CommandError("Failed to copy to the clipboard. There is no clipboard here.")
    try:
        await context.session.copy(text)
    except CommandError as error:
        raise CommandError(f"Failed to copy to the clipboard. {error}") from error
    return Item(kind=ItemKind.INFO, text="Last output copied to the clipboard")


async def _rewind(context: CommandContext) -> Result:
    runtime = context.runtime
    if not isinstance(runtime, TakesEditsBack) or not isinstance(runtime, KeepsRecording):
        raise CommandError("Recording service unavailable")
    points = rewind_points(runtime.recorded)
    if not points:
        return Item(kind=ItemKind.INFO, text="Nothing to rewind to.")
    return OpenDialog(dialog=Dialog.REWIND, details={"points": points})


async def _restore(context: CommandContext) -> Result:
    runtime, checkpoints = context.runtime, context.services.checkpoints
    if not isinstance(runtime, RestoresCheckpoints) or checkpoints is None:
        raise CommandError("This runtime cannot restore checkpoints.")
    if not context.args:
        names = await _complete_checkpoint(context, "")
        if not names:
            return Item(kind=ItemKind.INFO, text="No restorable tool calls found.")
        listed = "\n".join(names)
        return Item(kind=ItemKind.INFO, text=f"Available tool calls to restore:\n\n{listed}")
    restored = await runtime.restore(context.args)
    for message in restored.messages:
        context.show(Item(kind=ItemKind(message.severity), text=message.message))
    shown = None if restored.shown is None else LoadHistory(items=items_of_shown(restored.shown))
    if restored.tool_call is None:
        return shown
    call = restored.tool_call
    return CallTool(tool=str(call["name"]), args=call["args"], history=shown)


async def _complete_checkpoint(context: CommandContext, typed: str) -> Sequence[str]:
    checkpoints = context.services.checkpoints
    if checkpoints is None:
        return []
    try:
        return [name for name in checkpoints.files.names() if name.startswith(typed)]
    except OSError as error:
        raise CommandError(
            f"Could not read restorable tool calls. This is the error: {error}"
        ) from error


CLEAR: Final = SlashCommand(
    name="clear",
    aliases=("new",),
    description="Clear the screen and start a new session",
    runs_at_once=True,
    action=_clear,
)
COMPRESS: Final = SlashCommand(
    name="compress",
    aliases=("summarize", "compact"),
    description="Compresses the context by replacing it with a summary",
    runs_at_once=True,
    action=_compress,
)
COPY: Final = SlashCommand(
    name="copy",
    description="Copy the last result or code snippet to clipboard",
    runs_at_once=True,
    action=_copy,
)
REWIND: Final = SlashCommand(
    name="rewind",
    description="Jump back to a specific message and restart the conversation",
    action=_rewind,
    needs=Dialog.REWIND,
)
RESTORE: Final = SlashCommand(
    name="restore",
    description=(
        "Restore a tool call. This will reset the conversation and file history to the state it "
        "was in when the tool call was suggested"
    ),
    arguments=(
        Argument(name="checkpoint", description="The tool call; without one they are listed"),
    ),
    runs_at_once=True,
    action=_restore,
    complete=_complete_checkpoint,
)

"""`/chat` and `/resume`: conversations that are saved under a tag.

Source: `packages/cli` `ui/commands/chatCommand.ts`, `ui/components/views/ChatList.tsx`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from runtimes.contract import ReplacesHistory
from surfaces.commands.chat_tags import ChatTags, SavedChat
from surfaces.commands.contract import Argument, CommandContext, CommandError, SlashCommand
from surfaces.commands.histories import BEFORE_TALK, items_of_contents, write_history
from surfaces.commands.paths import user_path
from surfaces.commands.results import (
    ConfirmAction,
    Dialog,
    Item,
    ItemKind,
    LoadHistory,
    OpenDialog,
    Result,
)

__all__ = ["CHAT", "RESUME"]

_GROUP: Final = "checkpoints"


def _tags(context: CommandContext) -> ChatTags:
    return ChatTags(context.services.workspace.project_temp)


def _required_tag(context: CommandContext, usage: str) -> str:
    if not context.args:
        raise CommandError(f"Missing tag. Usage: /resume {usage} <tag>")
    return context.args


def _info(text: str) -> Item:
    return Item(kind=ItemKind.INFO, text=text)


async def _list(context: CommandContext) -> None:
    tags = _tags(context).all()
    if not tags:
        context.panel("No saved conversation checkpoints found.")
        return
    lines = [f"  - {tag.name} ({tag.saved[:10]} {tag.saved[11:19]})" for tag in tags]
    note = "Note: Newest last, oldest first"
    context.panel("\n".join(["List of saved conversations:", "", *lines, "", note]))


async def _save(context: CommandContext) -> Result:
    tag = _required_tag(context, "save")
    tags = _tags(context)
    if tags.has(tag) and not context.confirmed:
        return ConfirmAction(
            prompt=(f"A checkpoint with the tag {tag} already exists. Do you want to overwrite it?")
        )
    history = context.runtime.transcript()
    if len(history) <= BEFORE_TALK:
        return _info("No conversation found to save.")
    tags.save(tag, SavedChat(history=history, auth_type=context.session.auth_type))
    return _info(f"Conversation checkpoint saved with tag: {tag}.")


async def _resume(context: CommandContext) -> Result:
    tag = _required_tag(context, "resume")
    chat = _tags(context).load(tag)
    if not chat.history:
        return _info(f"No saved checkpoint found with tag: {tag}.")
    now = context.session.auth_type
    if chat.auth_type and now and chat.auth_type != now:
        raise CommandError(
            "Cannot resume chat. It was saved with a different authentication method "
            f"({chat.auth_type}) than the current one ({now})."
        )
    runtime = context.runtime
    if not isinstance(runtime, ReplacesHistory):
        raise CommandError("This runtime cannot go on from another conversation.")
    await runtime.load_history(chat.history)
    return LoadHistory(items=items_of_contents(chat.history[BEFORE_TALK:]))


async def _delete(context: CommandContext) -> Result:
    tag = _required_tag(context, "delete")
    if not _tags(context).delete(tag):
        raise CommandError(f"Error: No checkpoint found with tag '{tag}'.")
    return _info(f"Conversation checkpoint '{tag}' has been deleted.")


async def _share(context: CommandContext) -> Result:
    now = context.services.clock.now_ms()
    file = user_path(context, context.args or f"gemini-conversation-{now}.json")
    if file.suffix not in {".md", ".json"}:
        raise CommandError("Invalid file format. Only .md and .json are supported.")
    history = context.runtime.transcript()
    if len(history) <= BEFORE_TALK:
        return _info("No conversation found to share.")
    write_history(file, history)
    return _info(f"Conversation shared to {file}")


async def _browse(context: CommandContext) -> Result:
    return OpenDialog(dialog=Dialog.SESSIONS)


async def _complete_tag(context: CommandContext, typed: str) -> Sequence[str]:
    newest_first = reversed(_tags(context).all())
    return [tag.name for tag in newest_first if tag.name.startswith(typed)]


_TAG: Final = (
    Argument(name="tag", description="The name of the saved conversation", required=True),
)
_SUBCOMMANDS: Final = (
    SlashCommand(
        name="list",
        description="List saved manual conversation checkpoints",
        runs_at_once=True,
        takes_args=False,
        action=_list,
        group=_GROUP,
    ),
    SlashCommand(
        name="save",
        description=("Save the current conversation as a checkpoint. Usage: /resume save <tag>"),
        arguments=_TAG,
        action=_save,
        group=_GROUP,
    ),
    SlashCommand(
        name="resume",
        aliases=("load",),
        description="Resume a conversation from a checkpoint. Usage: /resume resume <tag>",
        arguments=_TAG,
        runs_at_once=True,
        action=_resume,
        complete=_complete_tag,
        group=_GROUP,
    ),
    SlashCommand(
        name="delete",
        description="Delete a conversation checkpoint. Usage: /resume delete <tag>",
        arguments=_TAG,
        runs_at_once=True,
        action=_delete,
        complete=_complete_tag,
        group=_GROUP,
    ),
    SlashCommand(
        name="share",
        description=(
            "Share the current conversation to a markdown or json file. Usage: /resume share <file>"
        ),
        arguments=(Argument(name="file", description="A file that ends with .md or .json"),),
        action=_share,
        group=_GROUP,
    ),
)
_NESTED: Final = SlashCommand(
    name="checkpoints",
    aliases=("checkpoint",),
    description="Compatibility command for nested checkpoint operations",
    hidden=True,
    subcommands=_SUBCOMMANDS,
)
CHAT: Final = SlashCommand(
    name="chat",
    description="Browse auto-saved conversations and manage chat checkpoints",
    runs_at_once=True,
    action=_browse,
    subcommands=(*_SUBCOMMANDS, _NESTED),
)
RESUME: Final = replace(CHAT, name="resume")

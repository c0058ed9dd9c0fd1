"""Slash commands, for every surface: terminal, ACP, A2A and headless.

The layer stands on the runtime contract, the services and `services.interaction`. It does not know
which runtime runs, and it draws nothing: a command shows `Item`s, and returns a `Result` that the
surface carries out.

A surface uses it like this::

    session = CommandSession(runtime=runtime, services=services, dialogs=frozenset({Dialog.MODEL}))
    layer = CommandLayer(session, default_sources())
    await layer.load()

    if is_slash_command(text):
        if agent_works and not layer.runs_while_busy(text):
            queue(text)
        else:
            await carry_out(text, await layer.run(text, show))

    async def carry_out(text, result):
        match result:
            case None:                              # everything is shown already
                ...
            case NotACommand():                     # `/usr/bin/env says …`
                send((TextPart(text=text),))
            case Item():
                show(result)
            case SubmitPrompt(content):
                send(parts_to_content(content))
            case ConfirmShellCommands(commands):    # "Slash command shell execution declined."
                if await user_allows(commands):
                    await carry_out(text, await layer.run(text, show, approved=commands))
            case ConfirmAction(prompt):             # "Operation cancelled."
                if await user_agrees(prompt):
                    await carry_out(text, await layer.run(text, show, confirmed=True))
            case LoadHistory(items, draft):         # the engine's history has changed already
                replace_screen(items, draft)
            case OpenDialog(dialog, details):
                open_dialog(dialog, details)
            case CallTool(tool, args, then):
                note = await call_tool(tool, args, services, surface)
                send((TextPart(text=note), *parts_to_content(then)))
            case Quit(items, delete):
                leave(items, delete)

`await layer.suggestions("/chat re")` is the menu for what the user is writing. The text `?` alone
opens the shortcuts in the published command line; `layer.run` takes `?` as a prefix like `/`.
"""

from surfaces.commands.builtin.overview import shortcut_lines
from surfaces.commands.contract import (
    CONSENT_QUESTION,
    CommandContext,
    CommandError,
    CommandKind,
    CommandSession,
    SlashCommand,
    Source,
)
from surfaces.commands.layer import CommandLayer, Suggestion
from surfaces.commands.own_calls import call_tool
from surfaces.commands.parsing import ParsedCommand, is_slash_command, parse_command
from surfaces.commands.results import (
    CallTool,
    ConfirmAction,
    ConfirmShellCommands,
    Dialog,
    Item,
    ItemKind,
    LoadHistory,
    NotACommand,
    OpenDialog,
    Quit,
    Result,
    SubmitPrompt,
)
from surfaces.commands.settings_files import Scope, SettingsFiles
from surfaces.commands.sources import default_sources

__all__ = [
    "CONSENT_QUESTION",
    "CallTool",
    "CommandContext",
    "CommandError",
    "CommandKind",
    "CommandLayer",
    "CommandSession",
    "ConfirmAction",
    "ConfirmShellCommands",
    "Dialog",
    "Item",
    "ItemKind",
    "LoadHistory",
    "NotACommand",
    "OpenDialog",
    "ParsedCommand",
    "Quit",
    "Result",
    "Scope",
    "SettingsFiles",
    "SlashCommand",
    "Source",
    "SubmitPrompt",
    "Suggestion",
    "call_tool",
    "default_sources",
    "is_slash_command",
    "parse_command",
    "shortcut_lines",
]

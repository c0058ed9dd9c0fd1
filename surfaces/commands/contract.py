"""A command, and what it gets when it runs.

Source: `packages/cli` `ui/commands/types.ts` (`SlashCommand`, `CommandContext`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from runtimes.contract import Runtime
from services.bundle import Services
from services.wire import JsonObject
from surfaces.commands.results import Dialog, Item, ItemKind, Result
from surfaces.commands.settings_files import SettingsFiles

__all__ = [
    "CONSENT_QUESTION",
    "Action",
    "Argument",
    "CommandContext",
    "CommandError",
    "CommandKind",
    "CommandSession",
    "Completion",
    "Show",
    "SlashCommand",
    "Source",
]

CONSENT_QUESTION: Final = "Do you want to continue?"
"""The last paragraph of a text that asks for consent."""
Show = Callable[[Item], None]
"""Shows an item at once, before the command has ended."""


class CommandError(Exception):
    """The command failed. The message is for the user: what failed, and how to mend it."""


class CommandKind(StrEnum):
    """The source of a command; the values are the published command line's."""

    BUILT_IN = "built-in"
    SKILL = "skill"
    MCP_PROMPT = "mcp-prompt"
    USER_FILE = "user-file"
    WORKSPACE_FILE = "workspace-file"
    EXTENSION_FILE = "extension-file"


@dataclass(slots=True, kw_only=True)
class CommandSession:
    """What commands need of a surface's session. A surface makes one, and keeps it.

    Nothing in it depends on the runtime that `runtime` is.
    """

    runtime: Runtime
    services: Services
    settings: JsonObject = field(default_factory=dict)
    """The settings document in force: variables filled in, the command line's values on top."""
    auth_type: str | None = None
    """How the session signed in (`gemini-api-key`); `None`: it did not."""
    runtime_name: str = ""
    """The name of the runtime, for `/about` alone."""
    metrics: Callable[[], JsonObject] = dict
    """The session's usage so far, in the shape of `stats` in `-o json`."""
    started_ms: int = 0
    """When the session began, on the services' clock."""
    dialogs: frozenset[Dialog] = frozenset()
    """The dialogs that the surface has. A command that needs another one is not in the menu."""
    shortcuts: Sequence[tuple[str, str]] = ()
    """The surface's keys and what they do, for `/help`."""
    shell_allowlist: set[str] = field(default_factory=set)
    """Shell commands of command files that the user allowed for the session."""
    preferences: SettingsFiles | None = None
    """The settings files, for commands that change settings; `None`: the surface has none."""
    write_cassette: Callable[[str], Awaitable[Path | None]] | None = None
    """Writes the session so far as a redacted cassette, with a description, and returns where,
    or `None` where the model was asked nothing; `None`: the session is not recorded."""
    consent: Callable[[str], Awaitable[bool]] | None = None
    """Asks the user to agree to a text while a command runs; `None`: the surface cannot ask."""
    copy: Callable[[str], Awaitable[None]] | None = None
    """Writes a text to the clipboard, or raises `CommandError`; `None`: there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandContext:
    """One run of a command."""

    session: CommandSession
    raw: str
    """The text as the user wrote it, without blanks at its ends."""
    args: str
    """The text after the command's name, with single blanks between its words."""
    show: Show
    commands: Sequence[SlashCommand] = ()
    """Every command of the session, for `/help`."""
    reload: Callable[[], Awaitable[None]] | None = None
    """Loads the session's commands anew."""
    confirmed: bool = False
    """The user has said yes to the question of `ConfirmAction`."""
    approved: frozenset[str] = frozenset()
    """The shell commands that the user has approved for this run."""

    @property
    def runtime(self) -> Runtime:
        """The session's engine."""
        return self.session.runtime

    @property
    def services(self) -> Services:
        """The session's services."""
        return self.session.services

    @property
    def preferences(self) -> SettingsFiles:
        """The session's settings files.

        Raises:
            CommandError: the surface has none.
        """
        if self.session.preferences is None:
            raise CommandError("The setting cannot be kept: this surface writes no settings.")
        return self.session.preferences

    async def consents(self, text: str) -> bool:
        """Whether the user agrees to `text`.

        Raises:
            CommandError: the surface cannot ask.
        """
        if self.session.consent is None:
            raise CommandError("it needs your consent: run the command in an interactive terminal.")
        return await self.session.consent(f"{text}\n\n{CONSENT_QUESTION}")

    def info(self, text: str, *, markdown: bool = False) -> None:
        """Show an information."""
        self.show(Item(kind=ItemKind.INFO, text=text, markdown=markdown))

    def error(self, text: str) -> None:
        """Show an error."""
        self.show(Item(kind=ItemKind.ERROR, text=text))

    def panel(self, text: str) -> None:
        """Show lines that belong together."""
        self.show(Item(kind=ItemKind.PANEL, text=text))


Action = Callable[[CommandContext], Awaitable[Result]]
Completion = Callable[[CommandContext, str], Awaitable[Sequence[str]]]
"""The arguments that begin with a text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """What a user may write after a command's name, for surfaces that list commands."""

    name: str
    description: str
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SlashCommand:
    """A command, with its subcommands."""

    name: str
    description: str
    kind: CommandKind = CommandKind.BUILT_IN
    aliases: tuple[str, ...] = ()
    action: Action | None = None
    """`None`: the command only has subcommands."""
    subcommands: tuple[SlashCommand, ...] = ()
    arguments: tuple[Argument, ...] = ()
    """In the order in which the user writes them."""
    takes_args: bool = True
    """`False`: with arguments, the command above it runs in its place, with the name among them."""
    runs_at_once: bool = False
    """Whether choosing it in the menu runs it, without a further Enter (`autoExecute`)."""
    concurrent: bool = False
    """Whether it may run while the agent works (`isSafeConcurrent`)."""
    hidden: bool = False
    """Whether it is left out of menus and of `/help`."""
    needs: Dialog | None = None
    """A dialog without which the command cannot do anything."""
    complete: Completion | None = None
    extension: str | None = None
    """The extension that it comes from."""
    server: str | None = None
    """The MCP server that it comes from."""
    group: str | None = None
    """A heading in the menu (`suggestionGroup`)."""


Source = Callable[[CommandSession], Awaitable[Sequence[SlashCommand]]]
"""Loads the commands of one source. What it cannot load it reports as `UserFeedback`."""

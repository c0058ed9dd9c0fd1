"""What a command returns to the surface that ran it, and what it shows on the way.

Source: `packages/cli` `ui/commands/types.ts` (`SlashCommandActionReturn`), `ui/types.ts`
(`HistoryItem`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from services.wire import Json, Part

__all__ = [
    "CallTool",
    "ConfirmAction",
    "ConfirmShellCommands",
    "Dialog",
    "Item",
    "ItemKind",
    "LoadHistory",
    "NotACommand",
    "OpenDialog",
    "Quit",
    "Result",
    "SubmitPrompt",
]


class ItemKind(StrEnum):
    """How a surface presents an item."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
    USER = "user"
    """A message that the user sent."""
    AGENT = "agent"
    """A text of the agent. It is Markdown."""
    PANEL = "panel"
    """A table or a list that the published command line frames. It is plain text in lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Something to show. A surface without frames, colours or Markdown prints `text` as it is."""

    kind: ItemKind
    text: str
    """Lines that are joined by newlines. It may contain what users, servers and models wrote: a
    surface makes control sequences inert."""
    markdown: bool = False
    """Whether `text` is Markdown; otherwise its columns need a fixed width."""


class Dialog(StrEnum):
    """The dialogs that a command may open. A surface lists those that it has."""

    AGENT_CONFIG = "agentConfig"
    AUTH = "auth"
    EDITOR = "editor"
    EXTENSION_CONFIG = "extensionConfig"
    FOLDER_TRUST = "folderTrust"
    """The trust of folders that are to be added to the workspace."""
    HOOKS = "hooks"
    LOGOUT = "logout"
    MODEL = "model"
    PERMISSIONS = "permissions"
    REWIND = "rewind"
    SESSIONS = "sessionBrowser"
    SETTINGS = "settings"
    SHORTCUTS = "shortcuts"
    TASKS = "tasks"
    THEME = "theme"
    VIM = "vim"
    """No dialog: the surface switches its editing mode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenDialog:
    """The surface opens a dialog, or switches what `dialog` names."""

    dialog: Dialog
    details: Mapping[str, Any] = field(default_factory=dict)
    """What the dialog needs beyond the session; each dialog's command documents its keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadHistory:
    """The conversation was replaced: the surface shows `items` in place of everything before.

    The command has already changed the engine's history. `draft`, unless it is `None`, is put into
    the prompt's input.
    """

    items: tuple[Item, ...] = ()
    draft: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTool:
    """The surface calls a tool as the user's own request, then submits `then` as a prompt."""

    tool: str
    args: Mapping[str, Json]
    then: tuple[Part, ...] = ()
    history: LoadHistory | None = None
    """The surface shows this first, in place of everything before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitPrompt:
    """The surface sends `content` to the model as the user's message."""

    content: tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmShellCommands:
    """The policy wants a confirmation of shell commands that the command's text contains.

    The surface asks. With a yes it runs the same text again, with `commands` as `approved`; with
    an "always" it puts them into `CommandSession.shell_allowlist` before.
    """

    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmAction:
    """The surface asks `prompt`. With a yes it runs the same text again, `confirmed`."""

    prompt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Quit:
    """The surface ends the session, after it has shown `items`."""

    items: tuple[Item, ...] = ()
    delete: bool = False
    """Whether the surface deletes the session's recording when the runtime has closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotACommand:
    """The text is a prompt: it begins like a command, and is a path or a comment for example."""


Result = (
    Item
    | CallTool
    | OpenDialog
    | LoadHistory
    | Quit
    | SubmitPrompt
    | ConfirmShellCommands
    | ConfirmAction
    | None
)
"""What a command returns. `None`: it has shown everything already."""

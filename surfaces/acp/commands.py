"""The slash commands of an ACP session, over the command layer.

The client gets their names once the session is open. A prompt that begins with `/` or `$` and a
command's name runs it; any other text goes to the model.

Source: `packages/cli` `acp/acpCommandHandler.ts`, `acp/commands/`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from services.checkpoints import CheckpointInvalid
from services.wire import JsonObject
from surfaces.acp.extension_commands import ExtensionCommands, Run, Words
from surfaces.commands import (
    CONSENT_QUESTION,
    CommandError,
    CommandLayer,
    CommandSession,
    Item,
    LoadHistory,
    NotACommand,
    Result,
    SubmitPrompt,
)

__all__ = ["SessionCommands"]

_NO_CHECKPOINTS: Final = (
    "Checkpointing is not enabled. Please enable it in your settings "
    "(`general.checkpointing.enabled: true`) to use /restore."
)
_INBOX: Final = (
    "The memory inbox requires Auto Memory. Enable it with: experimental.autoMemory = true in "
    "settings."
)

_ABOUT_INBOX: Final = "Lists memory items extracted from past sessions that are pending review."
_ABOUT_RESTORE: Final = (
    "Restore to a previous checkpoint, or list available checkpoints to restore. This will reset "
    "the conversation and file history to the state it was in when the checkpoint was created"
)
_CONTEXT: Final = (
    "- **Add context**: Use `@` to specify files for context (e.g., `@src/myFile.ts`) to target "
    "specific files or folders."
)


@dataclass(frozen=True, slots=True)
class _Command:
    name: str
    description: str
    run: Run
    aliases: tuple[str, ...] = ()


class SessionCommands:
    """The commands of one session."""

    def __init__(self, session: CommandSession) -> None:
        self._session = session
        self._layer = CommandLayer(session)
        services = session.services
        self._on_extensions = ExtensionCommands(
            services.extensions, services.workspace, self._consents, self._layer.load
        )
        self._commands = {command.name: command for command in self._all()}

    async def load(self) -> None:
        """Load the commands of the layer."""
        await self._layer.load()

    def update(self) -> JsonObject:
        """The update with the names of the commands."""
        return {
            "sessionUpdate": "available_commands_update",
            "availableCommands": [
                {"name": command.name, "description": command.description}
                for command in self._commands.values()
            ],
        }

    async def run(self, text: str) -> str | None:
        """Run the command that `text` names; return what it says, `None` if it names none."""
        text = text.strip()
        if not text.startswith(("/", "$")):
            return None
        words = text[1:].split()
        for taken in (2, 1):
            command = self._called(" ".join(words[:taken])) if len(words) >= taken else None
            if command is not None:
                return await command.run(words[taken:])
        return None

    async def _consents(self, text: str) -> bool:
        if self._session.consent is None:
            raise CommandError("the client cannot ask for your consent.")
        return await self._session.consent(f"{text}\n\n{CONSENT_QUESTION}")

    def _called(self, name: str) -> _Command | None:
        for command in self._commands.values():
            if name == command.name or name in command.aliases:
                return command
        return None

    def _all(self) -> Sequence[_Command]:
        layer = self._of_layer
        return (
            _Command("memory", "Manage memory.", layer("/memory show")),
            _Command("memory show", "Shows the current memory contents.", layer("/memory show")),
            _Command(
                "memory refresh",
                "Refreshes the memory from the source.",
                layer("/memory reload"),
                ("memory reload",),
            ),
            _Command(
                "memory list",
                "Lists the paths of the GEMINI.md files in use.",
                layer("/memory list"),
            ),
            _Command("memory inbox", _ABOUT_INBOX, _says(_INBOX)),
            *(_Command(*each) for each in self._on_extensions.all()),
            _Command(
                "init", "Analyzes the project and creates a tailored GEMINI.md file", self._init
            ),
            _Command("restore", _ABOUT_RESTORE, self._restore),
            _Command("restore list", "Lists all available checkpoints.", self._list_checkpoints),
            _Command("about", "Show version and environment info", self._about),
            _Command("help", "Show available commands", self._help),
        )

    def _of_layer(self, text: str) -> Run:
        async def run(_: Words) -> str:
            return _text_of(await self._layer.run(text, _ignored))

        return run

    async def _init(self, _: Words) -> str:
        result = await self._layer.run("/init", _ignored)
        if not isinstance(result, SubmitPrompt):
            return _text_of(result)
        file = self._session.services.workspace.root / "GEMINI.md"
        prompt = "".join(part.get("text") or "" for part in result.content)
        return (
            f"A template GEMINI.md has been created at {file}.\n\nTo populate it with project "
            f"context, you can run the following prompt in a new chat:\n\n{prompt}"
        )

    async def _restore(self, words: Words) -> str:
        checkpoints = self._session.services.checkpoints
        if not words or checkpoints is None:
            return await self._list_checkpoints(words)
        said: list[str] = []
        result = await self._layer.run(
            f"/restore {' '.join(words).removesuffix('.json')}",
            lambda item: said.append(f"[{item.kind.value.upper()}] {item.text}"),
        )
        if isinstance(result, LoadHistory):
            said.append(f"Loaded history with {len(result.items)} messages.")
        elif isinstance(result, Item):
            said.append(result.text)
        return "\n".join(said)

    async def _list_checkpoints(self, _: Words) -> str:
        checkpoints = self._session.services.checkpoints
        if checkpoints is None:
            return _NO_CHECKPOINTS
        try:
            names = checkpoints.files.names()
        except OSError:
            return "An unexpected error occurred while listing checkpoints."
        if not names:
            return "No checkpoints found."
        lines = []
        for name in names:
            try:
                tool = checkpoints.files.read(name).name
            except (CheckpointInvalid, OSError):
                tool = "Unknown"
            lines.append(f"- **{name}.json**: {tool}")
        return "\n".join(["Available Checkpoints:", *lines])

    async def _about(self, _: Words) -> str:
        services = self._session.services
        variables, ide = services.environment.variables, services.ide
        rows: Mapping[str, str] = {
            "Version": services.version,
            "OS": sys.platform,
            "Sandbox": variables.get("SANDBOX") or "no sandbox",
            "Model": services.state.model,
            "Auth Type": self._session.auth_type or "",
            "GCP Project": variables.get("GOOGLE_CLOUD_PROJECT", ""),
            "IDE Client": ide.ide.display_name if ide.enabled and ide.ide is not None else "",
            "User Email": "Unknown",
            "Tier": "Unknown",
        }
        return "\n".join(["Gemini CLI Info:", *(f"- {key}: {row}" for key, row in rows.items())])

    async def _help(self, _: Words) -> str:
        lines = [
            "Gemini CLI Help:",
            "",
            "### Basics",
            _CONTEXT,
            "",
            "### Commands",
        ]
        listed = sorted(self._commands.values(), key=lambda command: command.name)
        return "\n".join([*lines, *(f"- **/{each.name}** - {each.description}" for each in listed)])


def _ignored(item: Item) -> None:
    """Leave out what a command shows on its way; its result says it again."""


def _text_of(result: Result | NotACommand) -> str:
    return result.text if isinstance(result, Item) else ""


def _says(text: str) -> Run:
    async def run(_: Words) -> str:
        return text

    return run

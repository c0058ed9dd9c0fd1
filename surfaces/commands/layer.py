"""`CommandLayer`: the commands of a session, for any surface.

Source: `packages/cli` `services/CommandService.ts`, `ui/hooks/slashCommandProcessor.ts`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from services.state import UserFeedback
from services.wire import js_trim
from surfaces.commands.builtin import builtin_commands, not_built
from surfaces.commands.builtin.words import needs_subcommand
from surfaces.commands.conflicts import Conflict, resolve_conflicts
from surfaces.commands.contract import (
    CommandContext,
    CommandError,
    CommandKind,
    CommandSession,
    Show,
    SlashCommand,
    Source,
)
from surfaces.commands.parsing import (
    ParsedCommand,
    looks_like_command,
    named_command,
    parse_command,
)
from surfaces.commands.results import Item, ItemKind, NotACommand, OpenDialog, Result

__all__ = ["CommandLayer", "Suggestion"]

_KINDS: Final = {
    CommandKind.BUILT_IN: "built-in command",
    CommandKind.SKILL: "skill command",
    CommandKind.MCP_PROMPT: "MCP prompt",
    CommandKind.USER_FILE: "user command",
    CommandKind.WORKSPACE_FILE: "workspace command",
    CommandKind.EXTENSION_FILE: "extension command",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A line of the menu."""

    value: str
    """What takes the place of the last word."""
    description: str
    runs_at_once: bool = False
    group: str | None = None


class CommandLayer:
    """The commands of a session: found, listed, completed and run.

    Args:
        session: what the commands act on.
        sources: further sources, in order of precedence after the built-in commands.
    """

    def __init__(self, session: CommandSession, sources: Sequence[Source] = ()) -> None:
        self.session = session
        """What the commands act on."""
        self._sources = sources
        self.commands: tuple[SlashCommand, ...] = ()
        self.conflicts: tuple[Conflict, ...] = ()

    async def load(self) -> None:
        """Load the commands, or load them anew: a skill, server or file came or went."""
        loaded = list(builtin_commands(self.session))
        for source in self._sources:
            loaded += await source(self.session)
        known = self.conflicts
        self.commands, self.conflicts = resolve_conflicts(loaded)
        for conflict in self.conflicts:
            if conflict not in known:
                self.session.services.events.emit(_renaming(conflict))

    def find(self, text: str) -> ParsedCommand | None:
        """The command that `text` names, or `None`."""
        return parse_command(text, self.commands)

    def runs_while_busy(self, text: str) -> bool:
        """Whether `text` may run while the agent works; other commands wait for its end."""
        parsed = self.find(text)
        return parsed is not None and parsed.command.concurrent

    async def run(
        self,
        text: str,
        show: Show,
        *,
        confirmed: bool = False,
        approved: Collection[str] = (),
    ) -> Result | NotACommand:
        """Run the command that `text` names.

        A command that fails returns an `Item` with the error: no message of a command is raised.

        Args:
            text: what the user wrote.
            show: shows an item while the command still runs.
            confirmed: whether the user has said yes to the `ConfirmAction` of the same text.
            approved: the shell commands of a `ConfirmShellCommands` that the user approved.
        """
        text = js_trim(text)
        parsed = self.find(text)
        if parsed is None:
            return _unknown(text)
        missing = _missing(" ".join([*parsed.path, *parsed.args.split()[:1]]))
        if missing is not None:
            return missing
        return await self.run_parsed(parsed, text, show, confirmed=confirmed, approved=approved)

    def at(self, path: Sequence[str], args: str) -> ParsedCommand:
        """The command at a path of names or aliases, with the arguments that it gets.

        Raises:
            CommandError: there is none, or it cannot run like that.
        """
        found: list[SlashCommand] = []
        for word in path:
            command = named_command(word, found[-1].subcommands if found else self.commands)
            if command is None:
                name = " ".join(path)
                missing = _missing(name)
                raise CommandError(missing.text if missing else f"There is no command /{name}.")
            found.append(command)
        last, name = found[-1], " ".join(each.name for each in found)
        if last.action is None:
            raise CommandError(needs_subcommand(last.name, last.subcommands).text)
        if last.needs is not None and last.needs not in self.session.dialogs:
            raise CommandError(_opens_dialog(name))
        if args.split() and not last.takes_args:
            raise CommandError(f"/{name} takes no arguments.")
        return ParsedCommand(
            command=last,
            args=" ".join(args.split()),
            path=tuple(each.name for each in found),
        )

    async def run_parsed(
        self,
        parsed: ParsedCommand,
        text: str,
        show: Show,
        *,
        confirmed: bool = False,
        approved: Collection[str] = (),
    ) -> Result:
        """Run a command, which `text` names; `run` describes the rest."""
        if parsed.command.action is None:
            return needs_subcommand(parsed.command.name, parsed.command.subcommands)
        context = self._context(text, parsed.args, show, confirmed, frozenset(approved))
        try:
            result = await parsed.command.action(context)
        except CommandError as error:
            return Item(kind=ItemKind.ERROR, text=str(error))
        except (OSError, ValueError) as error:
            # What a user writes may be no name that the system accepts.
            text = f"/{' '.join(parsed.path)} failed: {error}"
            return Item(kind=ItemKind.ERROR, text=text)
        if isinstance(result, OpenDialog) and result.dialog not in self.session.dialogs:
            return Item(kind=ItemKind.ERROR, text=_opens_dialog(" ".join(parsed.path)))
        return result

    async def suggestions(self, text: str) -> list[Suggestion]:
        """The menu for `text`, which the user is still writing."""
        words = text[1:].split(" ")
        level, parsed = self.commands, None
        typed = words.pop()
        if words:
            parsed = parse_command("/" + " ".join(words), self.commands)
            if parsed is None:
                return []
            level = () if parsed.args else parsed.command.subcommands
        offered = [each for each in self.offered(level) if _begins(each, typed)]
        found = [
            Suggestion(
                value=each.name,
                description=each.description,
                runs_at_once=each.runs_at_once,
                group=each.group,
            )
            for each in offered
        ]
        return found or await self._arguments(text, parsed, typed)

    async def _arguments(
        self, text: str, parsed: ParsedCommand | None, typed: str
    ) -> list[Suggestion]:
        if parsed is None or parsed.command.complete is None:
            return []
        given = f"{parsed.args} {typed}".strip()
        context = self._context(text, given, lambda _: None, False, frozenset())
        try:
            values = await parsed.command.complete(context, given)
        except (CommandError, OSError, ValueError):
            return []  # Running the command says what is wrong.
        before = given[: len(given) - len(typed)]
        return [Suggestion(value=value.removeprefix(before), description="") for value in values]

    def offered(self, commands: Iterable[SlashCommand]) -> tuple[SlashCommand, ...]:
        """Those of `commands` that menus show."""
        return tuple(each for each in commands if self._offers(each))

    def _offers(self, command: SlashCommand) -> bool:
        missing = command.needs is not None and command.needs not in self.session.dialogs
        return not command.hidden and not missing

    def _context(
        self, raw: str, args: str, show: Show, confirmed: bool, approved: frozenset[str]
    ) -> CommandContext:
        return CommandContext(
            session=self.session,
            raw=raw,
            args=args,
            show=show,
            commands=self.offered(self.commands),
            reload=self.load,
            confirmed=confirmed,
            approved=approved,
        )


def _begins(command: SlashCommand, typed: str) -> bool:
    return any(name.startswith(typed) for name in (command.name, *command.aliases))


def _unknown(text: str) -> Item | NotACommand:
    if not looks_like_command(text):
        return NotACommand()
    name = text[1:].split()[0]
    unknown = f"Unknown command: /{name}. /help lists the commands."
    return _missing(name) or Item(kind=ItemKind.ERROR, text=unknown)


def _missing(name: str) -> Item | None:
    why = not_built(name)
    return None if why is None else Item(kind=ItemKind.ERROR, text=f"/{name} is not built: {why}")


def _opens_dialog(name: str) -> str:
    return f"/{name} opens a dialog: it needs an interactive terminal."


def _renaming(conflict: Conflict) -> UserFeedback:
    """The notice that a command was renamed. Source: `SlashCommandConflictHandler.ts`."""
    loser, winner = _described(conflict.loser), _described(conflict.winner)
    return UserFeedback(
        severity="info",
        message=(
            f"{loser} '/{conflict.name}' was renamed to '/{conflict.renamed_to}' because it "
            f"conflicts with {winner[0].lower()}{winner[1:]}."
        ),
    )


def _described(command: SlashCommand) -> str:
    name = _KINDS[command.kind]
    owner = command.extension or command.server
    return f"{owner} {name}" if owner else name[0].upper() + name[1:]

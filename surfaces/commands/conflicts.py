"""Commands of the same name: a built-in keeps it, every other is renamed after its source.

Source: `packages/cli` `services/SlashCommandResolver.ts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from surfaces.commands.contract import CommandKind, SlashCommand

__all__ = ["Conflict", "resolve_conflicts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """A command that lost its name to another."""

    name: str
    renamed_to: str
    loser: SlashCommand
    winner: SlashCommand
    """The command that has the name, or that met it first."""


def resolve_conflicts(
    commands: Iterable[SlashCommand],
) -> tuple[tuple[SlashCommand, ...], tuple[Conflict, ...]]:
    """The commands under names of their own, and what was renamed.

    Two that are no built-ins both lose the name. Skills of extensions always bear the extension's.

    Args:
        commands: in the order of precedence of their sources.
    """
    resolver = _Resolver()
    for command in commands:
        resolver.add(command)
    return tuple(resolver.commands.values()), tuple(resolver.conflicts)


class _Resolver:
    def __init__(self) -> None:
        self.commands: dict[str, SlashCommand] = {}
        self.conflicts: list[Conflict] = []
        self._first: dict[str, SlashCommand] = {}

    def add(self, command: SlashCommand) -> None:
        name = command.name
        if command.kind is CommandKind.SKILL and command.extension:
            name = _renamed(command, self.commands)
        elif name in self._first:
            name = self._contested(command)
        else:
            self._first[name] = command
        self.commands[name] = replace(command, name=name)

    def _contested(self, incoming: SlashCommand) -> str:
        name = incoming.name
        if incoming.kind is CommandKind.BUILT_IN:
            self._displace(name, incoming)
            return name
        renamed = _renamed(incoming, self.commands)
        self._lost(incoming, renamed, self._first[name])
        self._displace(name, incoming)
        return renamed

    def _displace(self, name: str, by: SlashCommand) -> None:
        owner = self.commands.get(name)
        if owner is None or owner.kind is CommandKind.BUILT_IN:
            return
        renamed = _renamed(owner, self.commands)
        del self.commands[name]
        self.commands[renamed] = replace(owner, name=renamed)
        self._lost(owner, renamed, by)

    def _lost(self, loser: SlashCommand, renamed: str, winner: SlashCommand) -> None:
        self.conflicts.append(
            Conflict(name=loser.name, renamed_to=renamed, loser=loser, winner=winner)
        )


def _renamed(command: SlashCommand, taken: Mapping[str, SlashCommand]) -> str:
    of_extension = command.kind in {CommandKind.SKILL, CommandKind.EXTENSION_FILE}
    prefix = _prefix(command)
    base = f"{prefix}{':' if of_extension else '.'}{command.name}" if prefix else command.name
    name, number = base, 1
    while name in taken:
        name = f"{base}{number}"
        number += 1
    return name


def _prefix(command: SlashCommand) -> str | None:
    match command.kind:
        case CommandKind.EXTENSION_FILE | CommandKind.SKILL:
            return command.extension
        case CommandKind.MCP_PROMPT:
            return command.server
        case CommandKind.USER_FILE:
            return "user"
        case CommandKind.WORKSPACE_FILE:
            return "workspace"
        case _:
            return None

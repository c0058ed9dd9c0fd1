"""`CommandMethods`: the methods that the extension adds to those of A2A.

The specification's requests name no task, so each command is a task of its own. Our own parameters
are `taskId`, for a command in the conversation of a task, and `metadata` with `AgentSettings`, for
the folder of a command without one.

Source: RFC "Gemini CLI A2A Development-Tool Extension", 3.3.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from services.clock import Clock
from services.model.auth import AuthError
from services.model.errors import FatalError
from services.wire import JsonObject
from surfaces.a2a.command_layers import layer_over
from surfaces.a2a.extension.executions import Execution
from surfaces.a2a.extension.negotiation import EXTENSION_URI
from surfaces.a2a.extension.schema import (
    CommandExecutionStatus,
    ExecuteSlashCommandRequest,
    ExecuteSlashCommandResponse,
    GetAllSlashCommandsResponse,
    SlashCommand,
    SlashCommandArgument,
)
from surfaces.a2a.folders import FolderRefused
from surfaces.a2a.tasks import NotOpened, Tasks, settings_of
from surfaces.a2a.wire import RpcError, invalid_params
from surfaces.commands import CommandError, CommandLayer, default_sources
from surfaces.commands import SlashCommand as LayerCommand

__all__ = ["CommandMethods"]

_NOT_HERE: Final = frozenset({"copy", "quit", "terminal-setup"})
"""The commands that act on the user's own terminal."""
_FAILED: Final = CommandExecutionStatus.FAILED_TO_START
_PATIENCE_MS: Final = 1000
"""How long a response waits for the first sign of a command."""


class CommandMethods:
    """Lists and executes slash commands.

    Args:
        tasks: the tasks of the server.
    """

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks

    async def get(self, params: JsonObject, extension: str | None) -> JsonObject:
        """Answer `commands/get`.

        Raises:
            RpcError: the parameters cannot be used, or the session cannot be opened.
        """
        uri = extension or EXTENSION_URI
        task_id = _task_id(params)
        if task_id is not None:
            task = await self._tasks.opened(task_id)
            return _listed(await task.commands.loaded())
        try:
            async with self._tasks.session(_settings(params, uri)) as live:
                layer = layer_over(live, default_sources())
                await layer.load()
                return _listed(layer)
        except (FatalError, FolderRefused, AuthError) as error:
            raise RpcError(-32603, f"The commands cannot be listed: {error}") from error

    async def execute(self, params: JsonObject, extension: str | None) -> JsonObject:
        """Answer `command/execute`, when the command has begun.

        Raises:
            RpcError: the parameters cannot be used, or the task takes no command.
        """
        uri = extension or EXTENSION_URI
        request = ExecuteSlashCommandRequest.read(params)
        task_id = _task_id(params)
        try:
            task = (
                await self._tasks.begun(_settings(params, uri), uri)
                if task_id is None
                else await self._tasks.opened(task_id)
            )
        except NotOpened as failed:
            await failed.feed.kept()
            return _response(failed.feed.record.id, _FAILED, str(failed))
        if task.record.extension is None:
            raise invalid_params(f"Task {task_id} began without the extension; it has no commands")
        try:
            _check_path(request.command_path)
            command = await task.execute(request.command_path, request.args, own=task_id is None)
        except CommandError as error:
            if task_id is None:
                task.reject(str(error))
                await task.feed.kept()
            return _response(task.record.id, _FAILED, str(error))
        await _begun(command, self._tasks.machine.clock)
        await task.feed.kept()
        return _response(task.record.id, command.status, "")


def _task_id(params: JsonObject) -> str | None:
    """The task in whose conversation a command runs, if the client names one.

    Raises:
        RpcError: it is no text.
    """
    found = params.get("taskId")
    if found is not None and not isinstance(found, str):
        raise invalid_params("taskId is no text")
    return found or None


def _settings(params: JsonObject, uri: str) -> JsonObject:
    """The settings of a session for a command; by default it works in the server's folder.

    Raises:
        RpcError: they cannot be used.
    """
    metadata = params.get("metadata")
    return settings_of(params, uri) if isinstance(metadata, dict) and uri in metadata else {}


def _check_path(path: Sequence[str]) -> None:
    """Check that a command is one of those that a server has.

    Raises:
        CommandError: it is none.
    """
    if path[0] in _NOT_HERE:
        raise CommandError(f"/{path[0]} acts on the user's own terminal, and a server has none.")


def _listed(layer: CommandLayer) -> JsonObject:
    offered = [each for each in layer.offered(layer.commands) if each.name not in _NOT_HERE]
    shown = tuple(_shown(each, layer) for each in offered)
    return GetAllSlashCommandsResponse(commands=shown).on_wire()


def _shown(command: LayerCommand, layer: CommandLayer) -> SlashCommand:
    return SlashCommand(
        name=command.name,
        description=command.description,
        arguments=tuple(
            SlashCommandArgument(
                name=each.name, description=each.description, is_required=each.required
            )
            for each in command.arguments
        ),
        sub_commands=tuple(_shown(each, layer) for each in layer.offered(command.subcommands)),
    )


async def _begun(command: Execution, clock: Clock) -> None:
    """Return when the command has begun, or after a second: the response is immediate."""
    waits = (command.begun.wait(), clock.sleep(_PATIENCE_MS))
    either = [asyncio.create_task(each, name="command begins") for each in waits]
    try:
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in either:
            each.cancel()
        await asyncio.wait(either)


def _response(execution_id: str, status: CommandExecutionStatus, message: str) -> JsonObject:
    return ExecuteSlashCommandResponse(
        execution_id=execution_id, status=status, message=message
    ).on_wire()

"""`ServerCommands`: the commands that clients run without a task.

Source: `packages/a2a-server` `commands/*.ts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from services.clock import iso_timestamp
from services.wire import JsonObject, js_json
from surfaces.a2a.command_layers import layer_over
from surfaces.a2a.rpc import Events
from surfaces.a2a.sessions import DEFAULT_MODEL
from surfaces.a2a.tasks import Tasks
from surfaces.a2a.wire import agent_message, text_part
from surfaces.commands import Item, NotACommand, Result, SubmitPrompt
from surfaces.commands.extension_data import extension_data
from surfaces.terminal.live import LiveSession

__all__ = ["CommandRefused", "ServerCommands"]

_ABOUT_RESTORE: Final = (
    "Restore to a previous checkpoint, or list available checkpoints to restore. This will reset "
    "the conversation and file history to the state it was in when the checkpoint was created"
)
_MEMORY: Final[Mapping[str, str]] = {
    "memory": "show",
    "memory show": "show",
    "memory refresh": "reload",
    "memory list": "list",
}
_LISTED: Final = (
    ("extensions", "Manage extensions.", (("list", "Lists all installed extensions."),)),
    ("restore", _ABOUT_RESTORE, (("list", "Lists all available checkpoints."),)),
    (
        "memory",
        "Manage memory.",
        (
            ("show", "Shows the current memory contents."),
            ("refresh", "Refreshes the memory from the source."),
            ("list", "Lists the paths of the GEMINI.md files in use."),
        ),
    ),
)


class CommandRefused(Exception):
    """A command cannot be run; `status` is the response's."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class ServerCommands:
    """The commands of a server, in a session of the server's own folder.

    Args:
        tasks: the tasks of the server.
    """

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks

    def listed(self) -> list[JsonObject]:
        """The commands, as `/listCommands` shows them."""
        return [
            {
                "name": name,
                "description": about,
                "arguments": [],
                "subCommands": [
                    {
                        "name": f"{name} {each}",
                        "description": what,
                        "arguments": [],
                        "subCommands": [],
                    }
                    for each, what in below
                ],
            }
            for name, about, below in _LISTED
        ]

    async def run(self, name: str, words: Sequence[str]) -> JsonObject:
        """Run a command; return its name and its result.

        Raises:
            CommandRefused: there is no such command.
            FatalError: the session cannot be opened.
        """
        if name in ("extensions", "extensions list"):
            async with self._tasks.session() as live:
                installed = live.services.extensions.store.extensions
                return {"name": "extensions list", "data": extension_data(installed)}
        if name in _MEMORY:
            verb = _MEMORY[name]
            shown = "memory show" if name == "memory" else name
            return {"name": shown, "data": await self._of_layer(f"/memory {verb}")}
        if name in ("restore", "restore list"):
            kind, content = await self._restore(words if name == "restore" else None)
            data = {"type": "message", "messageType": kind, "content": content}
            return {"name": name, "data": data}
        raise CommandRefused(404, f"Command not found: {name}")

    async def init(self) -> Events:
        """Run `/init`: the events of the task that fills the file.

        Raises:
            CommandRefused: the server has no folder of its own.
            FatalError: the session cannot be opened.
        """
        if self._tasks.folders.fixed is None:
            raise CommandRefused(
                400,
                'Command "init" requires a workspace, but CODER_AGENT_WORKSPACE_PATH is not set.',
            )
        return self._init()

    async def _init(self) -> Events:
        async with self._tasks.session() as live:
            result = await _run("/init", live)
        if not isinstance(result, SubmitPrompt):
            yield self._already(_text_of(result))
            return
        message: JsonObject = {
            "kind": "message",
            "role": "user",
            "parts": [text_part(part.get("text") or "") for part in result.content],
            "messageId": self._tasks.machine.ids.uuid("message"),
        }
        feed, listener = await self._tasks.submit(message)
        try:
            async for event in listener.events():
                yield event
        finally:
            await self._tasks.leave(feed, listener)

    def _already(self, text: str) -> JsonObject:
        """The only event of a command that has nothing to do."""
        ids = self._tasks.machine.ids
        task_id, context_id = ids.uuid("task"), ids.uuid("context")
        message = agent_message(
            [text_part(text)],
            message_id=ids.uuid("message"),
            task_id=task_id,
            context_id=context_id,
        )
        timestamp = iso_timestamp(self._tasks.machine.clock.now_ms())
        return {
            "kind": "status-update",
            "taskId": task_id,
            "contextId": context_id,
            "status": {"state": "completed", "message": message, "timestamp": timestamp},
            "final": True,
            "metadata": {
                "coderAgent": {"kind": "text-content"},
                "model": self._tasks.options.model or DEFAULT_MODEL,
            },
        }

    async def _of_layer(self, text: str) -> str:
        async with self._tasks.session() as live:
            return _text_of(await _run(text, live))

    async def _restore(self, words: Sequence[str] | None) -> tuple[str, str]:
        """What `restore` says about a checkpoint, or `restore list` where `words` is `None`."""
        if words == []:
            return "error", "Please provide a checkpoint name to restore."
        async with self._tasks.session() as live:
            checkpoints = live.services.checkpoints
            names = [] if checkpoints is None else checkpoints.files.names()
            if words is None:
                return "info", js_json([f"{name}.json" for name in names])
            name = words[0].removesuffix(".json")
            if name not in names:
                return "error", f"File not found: {name}.json"
            result = await _run(f"/restore {name}", live)
        return "info", _text_of(result) or f"Restored the files of checkpoint {name}."


async def _run(text: str, live: LiveSession) -> Result | NotACommand:
    layer = layer_over(live)
    await layer.load()
    return await layer.run(text, lambda _: None)


def _text_of(result: Result | NotACommand) -> str:
    return result.text if isinstance(result, Item) else ""

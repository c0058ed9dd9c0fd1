"""`acp_runtime`: an agent behind the Agent Client Protocol, as an editor starts it.

    shop = acp_runtime(["shop-agent", "--acp"])

The harness is the client: it starts the program, opens one session in the session's folder, sends
prompts and approves what the agent asks for. Source: https://agentclientprotocol.com, version 1.

The agent's requests to a model arrive at a server of this process: see `adapters.model.server`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from itertools import count
from typing import Any, Final

from adapters.agent import traits_of
from adapters.events import Emit, EventTable, Row
from adapters.outside.beside import program_beside_model
from adapters.outside.held import Held
from adapters.outside.program import Program
from adapters.problems import AgentBroke
from adapters.runtime import AgentRuntime
from services.bundle import Services
from services.wire import JsonObject

__all__ = ["ACP_EVENTS", "acp_runtime"]

_VERSION: Final = 1
_NO_METHOD: Final = -32601
_REASONS: Final = {"end_turn": "completed", "cancelled": "aborted"}
_KIND: Final = "sessionUpdate"
_STOPPED: Final = "stopped"
"""The kind of the item that a prompt's response becomes."""


def _text(content: Any) -> str:
    """The text of a content block, or of a list of tool contents."""
    if isinstance(content, list):
        return "".join(_text(each.get("content")) for each in content if isinstance(each, dict))
    return str(content.get("text", "")) if isinstance(content, dict) else ""


def _call(update: Mapping[str, Any], emit: Emit) -> None:
    key = str(update.get("toolCallId"))
    if emit.notes.setdefault(f"acp: {key}", update) is update:
        emit.tool_request(str(update.get("title", "")), update.get("rawInput") or {}, id=key)
    _call_update(update, emit)


def _call_update(update: Mapping[str, Any], emit: Emit) -> None:
    status = update.get("status")
    if status in ("completed", "failed"):
        shown = update.get("rawOutput")
        result = shown if isinstance(shown, dict) else _text(update.get("content"))
        emit.tool_response(result, id=str(update.get("toolCallId")), error=status == "failed")


def _nothing(update: Mapping[str, Any], emit: Emit) -> None:
    """An update that no event of the contract stands for."""


ACP_EVENTS: Final = EventTable(
    {
        "agent_message_chunk": lambda update, emit: emit.text(_text(update["content"])),
        "agent_thought_chunk": lambda update, emit: emit.thought(_text(update["content"])),
        "tool_call": _call,
        "tool_call_update": _call_update,
        "plan": lambda update, emit: emit.custom("plan", {"entries": update["entries"]}),
        "user_message_chunk": _nothing,
        "available_commands_update": _nothing,
        "current_mode_update": _nothing,
        _STOPPED: lambda update, emit: emit.end(
            _REASONS.get(update["stopReason"], update["stopReason"])
        ),
    },
    kind_of=lambda update: update.get(_KIND),
)
"""Kind of a session's update → events. Calls have their title as name."""


def acp_runtime(
    command: Sequence[str],
    *,
    tools: Mapping[str, JsonObject] | None = None,
    table: EventTable | Mapping[type | str, Row] = ACP_EVENTS,
    words: str = "acp",
    workspace: bool = True,
    pieces: bool = False,
) -> AgentRuntime:
    """Make a runtime of an agent that speaks ACP over its standard input and output.

    Args:
        command: The program and its arguments; a new one runs for each conversation.
        tools: See `agent_runtime`, as for the other arguments.
        table: The session's updates → events; a mapping extends `ACP_EVENTS`.
        words: Whose prompts it uses.
        workspace: Whether the files of the session's folder are compared.
        pieces: Whether each piece of text is an event of its own.
    """

    @asynccontextmanager
    async def conversations(services: Services) -> AsyncIterator[_Conversation]:
        async with program_beside_model(command, services) as (program, held):
            conversation = _Conversation(program, held)
            with held.message():
                await conversation.open(str(services.workspace.root))
            yield conversation

    return AgentRuntime(
        conversations,
        traits=traits_of(tools=tools, words=words, workspace=workspace),
        table=ACP_EVENTS.extended(table),
        pieces=pieces,
    )


class _Conversation:
    """One session of a program. Its messages are requests, responses and notifications."""

    place = ""

    def __init__(self, program: Program, held: Held) -> None:
        self._program = program
        self._held = held
        self._ids = count(1)
        self._session = ""

    @contextmanager
    def around(self) -> Iterator[None]:
        """Virtual time stands still while the program works."""
        with self._held.message():
            yield

    async def open(self, folder: str) -> None:
        """Introduce the client, and open a session.

        Raises:
            AgentBroke: the agent refuses.
        """
        abilities = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
        asked = {"protocolVersion": _VERSION, "clientCapabilities": abilities}
        await self._result("initialize", asked)
        opened = await self._result("session/new", {"cwd": folder, "mcpServers": []})
        self._session = str(opened.get("sessionId", ""))

    async def send(self, text: str) -> AsyncGenerator[Any, None]:
        """Iterate over the updates of a prompt."""
        prompt = [{"type": "text", "text": text}]
        asked = self._ask("session/prompt", {"sessionId": self._session, "prompt": prompt})
        try:
            async for item in self._until_answered(asked):
                yield item
        except (asyncio.CancelledError, GeneratorExit):
            # Its updates no longer count; the prompt's response ends them.
            self._notify("session/cancel", {"sessionId": self._session})
            async for _ in self._until_answered(asked):
                pass
            raise

    async def _until_answered(self, asked: int) -> AsyncGenerator[Mapping[str, Any], None]:
        """Yield the updates up to a response, and what the response says."""
        while True:
            message = await self._program.read()
            if message.get("id") == asked and "method" not in message:
                result = self._checked(message)
                yield {_KIND: _STOPPED, "stopReason": str(result.get("stopReason", "end_turn"))}
                return
            if message.get("method") == "session/update":
                update = (message.get("params") or {}).get("update")
                if isinstance(update, dict):
                    yield update
            elif "id" in message and "method" in message:
                self._answer(message)

    async def _result(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        asked = self._ask(method, params)
        while True:
            message = await self._program.read()
            if message.get("id") == asked and "method" not in message:
                return self._checked(message)

    def _checked(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        error = message.get("error")
        if isinstance(error, dict):
            raise AgentBroke(f"refuses: {error.get('message')} (code {error.get('code')})")
        result = message.get("result")
        return result if isinstance(result, dict) else {}

    def _answer(self, request: Mapping[str, Any]) -> None:
        """Approve what the agent asks the user for; refuse what this client does not offer."""
        reply: JsonObject = {"jsonrpc": "2.0", "id": request["id"]}
        if request.get("method") == "session/request_permission":
            options = (request.get("params") or {}).get("options") or [{}]
            allowed = [each for each in options if str(each.get("kind")).startswith("allow")]
            chosen = (allowed or options)[0].get("optionId")
            reply["result"] = {"outcome": {"outcome": "selected", "optionId": chosen}}
        else:
            reply["error"] = {"code": _NO_METHOD, "message": "this client does not offer it"}
        self._program.write(reply)

    def _ask(self, method: str, params: Mapping[str, Any]) -> int:
        number = next(self._ids)
        self._program.write({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return number

    def _notify(self, method: str, params: Mapping[str, Any]) -> None:
        self._program.write({"jsonrpc": "2.0", "method": method, "params": params})

    def shown(self) -> Mapping[str, Sequence[JsonObject]]:
        """Nothing: it has no custom channels."""
        return {}

"""`AcpUser`: plays a cassette's user in a client of ACP, with messages."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Final, Literal

from harness.cassette.format import (
    Abort,
    Action,
    DuringAction,
    LeavePlanMode,
    Send,
    SetApprovalMode,
    SetModel,
    WriteFile,
)
from harness.replay.around import resume, write_file
from harness.replay.client import Stage, Unplayable
from harness.replay.surfaces.held_session import HeldSession
from harness.replay.surfaces.terminal_limits import prompt_of
from services.message_bus import ToolCallsUpdate, ToolCallView
from services.state import ApprovalMode
from services.wire import Json, JsonObject
from surfaces.terminal.played_session import LiveSession

__all__ = ["AcpUser"]

_PERMISSION: Final = "session/request_permission"


class AcpUser:
    """Sends the prompts as requests, and answers the permission requests; notes every message."""

    def __init__(self, stage: Stage) -> None:
        """Play the user of `stage` from `enter` on."""
        self._stage = stage
        self._user = stage.user
        self._pace = stage.pace
        self._clock = stage.envelope.clock
        self._ids = count()
        self._requests: dict[Json, asyncio.Future[JsonObject]] = {}
        self._asked: dict[int, asyncio.Task[None]] = {}
        self._waiting: dict[str, ToolCallView] = {}
        self._working = False
        self._send: Callable[[JsonObject], None] | None = None
        self._group: asyncio.TaskGroup | None = None
        self._session: LiveSession | None = None

    async def enter(
        self, send: Callable[[JsonObject], None], group: asyncio.TaskGroup, held: HeldSession
    ) -> LiveSession:
        """Open the session. What the client does by itself runs in `group`."""
        self._send, self._group = send, group
        await self._request("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        root = str(self._stage.envelope.workspace.root)
        await self._request("session/new", {"cwd": root, "mcpServers": []})
        self._session, _ = await held.running()
        self._session.services.bus.subscribe(ToolCallsUpdate, self._look)
        return self._session

    def leave(self) -> None:
        """Answer nothing any more."""
        for task in self._asked.values():
            task.cancel()

    # ------------------------------------------------------------------ actions

    async def resume(self, recording: Path) -> None:
        """Go on from a chat recording, before the first prompt."""
        assert self._session is not None
        await resume(self._session.runtime, recording, self._stage.cassette.name)

    async def act(self, action: Action) -> None:
        """Perform an action of the script; returns when its response is there."""
        await self._pace.until()
        match action:
            case WriteFile():
                write_file(self._stage.envelope.workspace.root, action)
            case Send(payload=payload):
                self._working = True
                block: JsonObject = {"type": "text", "text": prompt_of(payload) or ""}
                await self._request_here("session/prompt", {"prompt": [block]})
                self._working = False
            case SetModel(model=model):
                await self._request_here("session/set_model", {"modelId": model})
            case SetApprovalMode(mode=mode) | LeavePlanMode(mode=mode):
                await self._set_mode(mode)
            case _:
                raise self._unplayable(f"ACP has no request for `{type(action).__name__}`")

    def interrupt(self, action: DuringAction) -> None:
        """Send a message as soon as the agent is idle."""
        assert self._group is not None
        self._group.create_task(self._interrupt(action), name="client interrupts")

    async def _interrupt(self, action: DuringAction) -> None:
        await self._pace.until()
        if not self._working:
            raise self._unplayable("a client acts on what it got, and the prompt had ended by then")
        match action:
            case Abort():
                self._cancel()
            case SetApprovalMode(mode=mode):
                await self._set_mode(mode)
            case _:
                raise self._unplayable(f"ACP has no request for `{type(action).__name__}`")

    def _cancel(self) -> None:
        """Cancel the prompt, and answer the open permission requests as ACP demands."""
        self._say({"method": "session/cancel", "params": {"sessionId": self._stage.session_id}})
        for request_id, task in sorted(self._asked.items()):
            task.cancel()
            self._answer(request_id, {"outcome": "cancelled"})
        self._asked.clear()

    async def _set_mode(self, mode: ApprovalMode) -> None:
        await self._request_here("session/set_mode", {"modeId": mode.value})

    # ------------------------------------------------------------------ messages

    def receive(self, message: JsonObject) -> None:
        """Take a message of the agent."""
        self._note("agent", message)
        if "method" not in message:
            response = self._requests.pop(message.get("id"), None)
            if response is not None and not response.done():
                response.set_result(message)
        elif message["method"] == _PERMISSION:
            assert self._group is not None
            request_id = message["id"]
            self._asked[request_id] = self._group.create_task(
                self._permit(request_id, message["params"]), name="client answers"
            )

    async def _request_here(self, method: str, params: JsonObject) -> None:
        await self._request(method, {"sessionId": self._stage.session_id, **params})

    async def _request(self, method: str, params: JsonObject) -> None:
        request_id = next(self._ids)
        response = self._requests[request_id] = asyncio.get_running_loop().create_future()
        self._say({"id": request_id, "method": method, "params": params})
        await response

    def _answer(self, request_id: int, outcome: JsonObject) -> None:
        self._say({"id": request_id, "result": {"outcome": outcome}})

    def _say(self, message: JsonObject) -> None:
        assert self._send is not None
        message = {"jsonrpc": "2.0", **message}
        self._note("client", message)
        self._send(message)

    def _note(self, sender: Literal["agent", "client"], message: JsonObject) -> None:
        self._stage.wire.append({"from": sender, "message": copy.deepcopy(message)})

    # ------------------------------------------------------------------ permissions

    def _look(self, update: ToolCallsUpdate) -> None:
        for call in update.calls:
            if call.status == "awaiting_approval":
                self._waiting[call.call_id] = call
            else:
                self._waiting.pop(call.call_id, None)

    async def _permit(self, request_id: int, params: JsonObject) -> None:
        call_id = params["toolCall"]["toolCallId"]
        call = self._waiting.get(call_id)
        if call is None:  # It was withdrawn while the request was on its way.
            return
        answer, event = self._user.asked(call)
        if answer.never:
            return
        if answer.delay_ms > 0:
            await self._clock.sleep(answer.delay_ms)
        await self._pace.until()
        self._asked.pop(request_id, None)
        chosen = str(answer.outcome)
        if all(option["optionId"] != chosen for option in params["options"]):
            raise self._unplayable(f"the permission request does not offer `{chosen}`")
        if call_id in self._waiting:
            event["outcome"] = chosen
        self._answer(request_id, {"outcome": "selected", "optionId": chosen})

    def _unplayable(self, reason: str) -> Unplayable:
        return Unplayable("ACP client", reason)

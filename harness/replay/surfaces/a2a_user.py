"""`A2aUser`: plays a cassette's user in a client of A2A, with messages and commands."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterator, Coroutine, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Literal

from harness.cassette.format import (
    Abort,
    Action,
    Compress,
    DuringAction,
    Reset,
    Send,
    SetApprovalMode,
    SetModel,
    WriteFile,
)
from harness.replay.around import resume, write_file
from harness.replay.client import Stage, Unplayable
from harness.replay.surfaces.a2a_answers import SURFACE_NAME, ChosenAnswer
from harness.replay.surfaces.a2a_limits import texts_of
from harness.replay.surfaces.a2a_wire import settled
from services.message_bus import ToolCallsUpdate, ToolCallView
from services.tools.contract import ConfirmationOutcome
from services.wire import JsonObject
from surfaces.a2a.playing import EXTENSION_URI, PlayedClient, ToolCall
from surfaces.terminal.played_session import LiveSession

__all__ = ["A2aUser"]


class A2aUser:
    """Sends prompts as messages and commands as executions, and answers the questions about calls.

    A turn is aborted with `tasks/cancel`, which ends the task: only that of the last prompt can be.
    """

    def __init__(self, stage: Stage) -> None:
        """Play the user of `stage` from `enter` on."""
        self._stage = stage
        self._pace = stage.pace
        self._ids = count()
        self._left = sum(isinstance(each, Send) for each in stage.cassette.script)
        self._client: PlayedClient | None = None
        self._session: LiveSession | None = None
        self._group: asyncio.TaskGroup | None = None
        self._task: JsonObject = {}
        self._state = ""
        self._waiting: dict[str, ToolCallView] = {}
        self._chosen: dict[str, ChosenAnswer] = {}
        self._streams: set[asyncio.Task[None]] = set()
        self._ready: dict[str, tuple[ToolCall, ChosenAnswer]] = {}
        """The answers that go out when the run is idle."""
        self._answers: dict[str, asyncio.Task[None]] = {}
        """The id of a call to the answer that is on its way."""
        self._interrupts = 0
        self._refused = False

    def enter(self, client: PlayedClient, session: LiveSession, group: asyncio.TaskGroup) -> None:
        """Act in the open session from now on; what the client does meanwhile runs in `group`."""
        self._client, self._session, self._group = client, session, group
        session.services.bus.subscribe(ToolCallsUpdate, self._look)

    def finish(self) -> None:
        """Check, after the script, that the cassette's turns could take their course.

        Raises:
            Unplayable: they could not.
        """
        if self._refused and self._stage.unused_steps():
            raise self._unplayable(
                "the refusal of a call ends the turn, and the cassette's goes on"
            )

    def leave(self) -> None:
        """Read and answer nothing any more, and settle the notes."""
        for task in (*self._streams, *self._answers.values()):
            task.cancel()
        self._stage.wire[:] = settled(self._stage.wire)

    def note(self, sender: Literal["agent", "client"], message: JsonObject) -> None:
        """Note a message of either side."""
        self._stage.wire.append({"from": sender, "message": copy.deepcopy(message)})

    # ------------------------------------------------------------------ actions

    async def resume(self, recording: Path) -> None:
        """Go on from a chat recording, before the first message."""
        assert self._session is not None
        await resume(self._session.runtime, recording, self._stage.cassette.name)

    async def act(self, action: Action) -> None:
        """Perform an action of the script; returns when its turn has ended."""
        await self._pace.until()
        match action:
            case WriteFile():
                write_file(self._stage.envelope.workspace.root, action)
                return
            case _ if self._state in ("failed", "canceled"):
                raise self._unplayable(f"the task has {self._state}, and takes no further message")
            case Send(payload=payload):
                self._left -= 1
                self._send([{"text": text} for text in texts_of(payload) or ()])
            case SetModel(model=model):
                await self._execute(["model", "set"], model)
            case SetApprovalMode():
                await self._execute(["plan"], "")
            case Compress():
                await self._execute(["compress"], "")
            case Reset():
                await self._execute(["clear"], "")
            case _:
                raise self._unplayable(f"A2A has no request for `{type(action).__name__}`")
        await self._pace.until(lambda: not self._working)

    @property
    def _working(self) -> bool:
        return bool(self._streams or self._answers or self._interrupts)

    def interrupt(self, action: DuringAction) -> None:
        """Abort as soon as the agent is idle."""
        self._begin(self._interrupt(action), "client interrupts")
        self._interrupts += 1

    async def _interrupt(self, action: DuringAction) -> None:
        await self._pace.until()
        if not isinstance(action, Abort):
            raise self._unplayable(f"A2A has no request for `{type(action).__name__}`")
        if not self._streams and not self._answers:
            raise self._unplayable("a client acts on what it got, and the turn had ended by then")
        for answer in self._answers.values():
            answer.cancel()
        self._ready.clear()
        if self._left:
            raise self._unplayable("a turn is aborted with its task, and the script goes on")
        await self._open_client.cancel(self._task["taskId"])
        self._interrupts -= 1

    # ------------------------------------------------------------------ messages

    @property
    def _open_client(self) -> PlayedClient:
        assert self._client is not None
        return self._client

    def _begin(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        assert self._group is not None
        return self._group.create_task(work, name=name)

    def _follow(self, events: AsyncIterator[JsonObject]) -> None:
        stream = self._begin(self._read(events), "client reads")
        self._streams.add(stream)
        stream.add_done_callback(self._streams.discard)

    def _send(self, parts: Sequence[JsonObject]) -> None:
        message = {
            "messageId": f"message-{next(self._ids)}",
            "role": "ROLE_USER",
            "parts": parts,
            **(self._task or self._settings),
        }
        self._follow(self._open_client.send(message))

    @property
    def _settings(self) -> JsonObject:
        root = str(self._stage.envelope.workspace.root)
        return {"metadata": {EXTENSION_URI: {"workspacePath": root}}}

    async def _execute(self, path: Sequence[str], args: str) -> None:
        """Run a command. Before the first message its task is the one of later messages, too."""
        request = {"commandPath": list(path), "args": args, **(self._task or self._settings)}
        response = await self._open_client.call("command/execute", request)
        started: JsonObject = response.get("result", {})
        if started.get("status") != "STARTED":
            raise self._unplayable(f"the command did not start: {response}")
        self._follow(self._open_client.follow(str(started["executionId"])))

    async def _read(self, events: AsyncIterator[JsonObject]) -> None:
        async for event in events:
            self._state = event["status"]["state"]
            if event["kind"] == "task":
                self._task = {"taskId": event["id"], "contextId": event["contextId"]}
                continue
            for part in (event["status"].get("message") or {}).get("parts", ()):
                if "confirmationRequest" in part.get("data", {}):
                    self._ask(ToolCall.read(part["data"]))

    # ------------------------------------------------------------------ questions

    def _look(self, update: ToolCallsUpdate) -> None:
        for call in update.calls:
            if call.status == "awaiting_approval":
                self._waiting[call.call_id] = call
            else:
                self._waiting.pop(call.call_id, None)

    def _ask(self, call: ToolCall) -> None:
        """Answer a question, which each open stream brings."""
        call_id = call.tool_call_id
        if call_id not in self._answers:
            answer = self._answers[call_id] = self._begin(self._answer(call), "client answers")
            answer.add_done_callback(lambda _: self._answers.pop(call_id))

    async def _answer(self, call: ToolCall) -> None:
        view = self._waiting.get(call.tool_call_id)
        if view is None:  # It was withdrawn while the question was on its way, as below.
            return
        chosen = self._chosen.get(call.tool_call_id)
        if chosen is None:
            chosen = self._chosen[call.tool_call_id] = ChosenAnswer(*self._stage.user.asked(view))
            if chosen.answer.never:
                await asyncio.Event().wait()
            if chosen.answer.delay_ms > 0:
                await self._stage.envelope.clock.sleep(chosen.answer.delay_ms)
        self._ready[call.tool_call_id] = (call, chosen)
        await self._pace.until()
        self._send_answers()

    def _send_answers(self) -> None:
        """Send the answers that are ready in one message, and those with a text in their own."""
        ready, self._ready = self._ready, {}
        together: list[JsonObject] = []
        for call, chosen in ready.values():
            if call.tool_call_id not in self._waiting:
                continue
            chosen.event["outcome"] = str(chosen.answer.outcome)
            self._refused |= chosen.answer.outcome is ConfirmationOutcome.CANCEL
            parts = chosen.parts(call)
            if all("data" in part for part in parts):
                together += parts
            else:
                self._send(parts)
        if together:
            self._send(together)

    def _unplayable(self, reason: str) -> Unplayable:
        return Unplayable(SURFACE_NAME, reason)

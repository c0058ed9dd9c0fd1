"""Subagents: the calls of local agents, what their progress shows, and the acknowledged agents."""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, cast

from agent_protocol import to_wire
from agent_protocol.agent import AgentSend, MessageSend, Subscriber, Unsubscribe, UpdateSend
from agent_protocol.content import TextPart
from agent_protocol.events import AgentEvent
from parity_tests.core_answers.subject import Subject
from services.abort import AbortController
from services.ids import IdSource
from services.message_bus import MessageBus, SubagentActivityUpdate
from services.subagents.acknowledged import AcknowledgedAgents
from services.subagents.activity import ActivityType, SubagentActivity
from services.subagents.activity_events import activity_event
from services.subagents.child import ChildAgent, ChildRequest
from services.subagents.child_run import (
    LocalSessionInvocation,
    LocalSubagentInvocation,
    SessionParts,
)
from services.subagents.complete_task import CompleteTaskTool
from services.subagents.definition import (
    AgentOutput,
    AgentPrompt,
    LocalAgentDefinition,
    OutputConfig,
    TerminateMode,
)
from services.subagents.sanitising import sanitise_arguments, sanitise_text
from services.subagents.subagents import Subagents
from services.threads import ThreadPaths
from services.tools.contract import InvalidToolParams, ToolExecution
from services.wire import JsonObject
from services.workspace import Workspace

__all__ = ["SUBJECTS"]

_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def sanitised(value: Any) -> Any:
    """A text or the arguments of a call, without what is secret."""
    return [
        sanitise_text(value) if isinstance(value, str) else None,
        sanitise_arguments(value),
    ]


def run(asked: dict[str, Any]) -> Any:
    """A call of an agent that does what `asked` says, and all that its caller sees."""
    text = json.dumps(asyncio.run(_run(asked)))
    seen: dict[str, str] = {}
    return json.loads(_UUID.sub(lambda id_: seen.setdefault(id_[0], f"id-{len(seen)}"), text))


class _Error(Exception):
    def __init__(self, message: str, name: str | None) -> None:
        super().__init__(message)
        if name is not None:
            self.name = name


class _Child:
    """Reports activities, then ends as the input says."""

    agent_id = "AGENT"
    events: Sequence[AgentEvent] = ()

    def __init__(self, request: ChildRequest, asked: dict[str, Any]) -> None:
        self._request = request
        self._asked = asked
        self._config: JsonObject = {}
        self.inputs: JsonObject | None = None

    def subscribe(self, callback: Subscriber) -> Unsubscribe:
        return lambda: None

    async def start(self, inputs: JsonObject) -> None:
        self.inputs = inputs

    async def send(self, payload: AgentSend) -> str | None:
        if isinstance(payload, UpdateSend):
            self._config |= payload.config or {}
            return None
        assert isinstance(payload, MessageSend)
        query = "".join(part.text for part in payload.content if isinstance(part, TextPart))
        self.inputs = {**self._config, **({"query": query} if query else {})}
        return "stream"

    async def abort(self) -> None:
        self.stop()

    def stop(self) -> None:
        return

    async def result(self) -> AgentOutput:
        for kind, data in self._asked["activities"]:
            self._request.on_activity(SubagentActivity(type=ActivityType(kind), data=data))
        if "error" in self._asked:
            raise _Error(self._asked["error"], self._asked.get("errorName"))
        result, mode = self._asked["output"]
        return AgentOutput(result=result, terminate_reason=TerminateMode(mode))


class _Ids:
    def __init__(self) -> None:
        self._made = 0

    def uuid(self, scope: str) -> str:
        self._made += 1
        return f"00000000-0000-4000-8000-{self._made:012}"


async def _run(asked: dict[str, Any]) -> Any:
    published: list[Any] = []
    outputs: list[Any] = []
    children: list[_Child] = []

    def publish(update: SubagentActivityUpdate) -> None:
        published.append([update.subagent, update.activity])

    def child(request: ChildRequest) -> ChildAgent:
        if "broken" in asked:
            raise RuntimeError(asked["broken"])
        children.append(_Child(request, asked))
        return children[-1]

    subagents = Subagents(ThreadPaths())
    subagents.run_on(child)
    parts = SessionParts(
        subagents=subagents,
        ids=cast("IdSource", _Ids()),
        bus=cast("MessageBus", SimpleNamespace(publish=publish)),
    )
    definition = LocalAgentDefinition(
        name="helper",
        description="d",
        prompt=AgentPrompt(system="s"),
        display_name=asked.get("displayName"),
    )
    kind = LocalSessionInvocation if asked["session"] else LocalSubagentInvocation
    call = kind(definition, asked["params"], parts)
    execution = ToolExecution(
        call_id="c",
        signal=AbortController().signal,
        update_output=None if asked.get("silent") else outputs.append,
    )
    try:
        result = await call.execute(execution)
        display = result.return_display
        as_shown = bool(outputs) and outputs[-1] == display
        end: Any = [result.llm_content, "as shown" if as_shown else display, result.data]
    except Exception as error:  # noqa: BLE001 - the caller sees each
        end = [getattr(error, "name", "Error"), str(error)]
    return {
        "description": call.description(),
        "given": children[0].inputs if children else None,
        "outputs": [_short(each) for each in outputs],
        "last": outputs[-1] if outputs else None,
        "published": published,
        "end": end,
    }


def _short(progress: JsonObject) -> str:
    states = (f"{item['type']} {item['status']}" for item in progress["recentActivity"])
    return "; ".join((progress["state"], *states))


def events(activities: list[Any]) -> list[Any]:
    """The events of activities."""
    fields = {"id": "e", "stream_id": "s", "timestamp": "t"}
    shown = []
    for kind, data in activities:
        event = activity_event(SubagentActivity(ActivityType(kind), data), fields)
        given = to_wire(event)
        shown.append({key: given[key] for key in given if key not in _FIELDS})
    return shown


_FIELDS: Final = ("id", "streamId", "timestamp")


def known(asked: dict[str, Any]) -> list[Any]:
    """What is acknowledged before and after some calls, and the file in the end."""
    with tempfile.TemporaryDirectory(prefix="answers-") as folder:
        service = AcknowledgedAgents(Workspace.at(Path(asked["project"]), Path(folder)))
        if asked["file"] is not None:
            service.file.parent.mkdir(parents=True)
            service.file.write_text(asked["file"])
        if asked.get("blocked"):
            service.file.parent.parent.mkdir(exist_ok=True)
            service.file.parent.write_text("")
        answers: list[Any] = []
        for name, hash_, *add in asked["calls"]:
            if add:
                service.add(name, hash_)
                answers.append(None)
            else:
                answers.append(service.knows(name, hash_))
        try:
            left: str | None = service.file.read_text()
        except OSError:
            left = None
        here = sorted(each.name for each in service.file.parent.glob("*"))
        return [answers, left, here]


_SHAPES: Final[dict[str, JsonObject]] = {
    "text": {"type": "string"},
    "object": {
        "type": "object",
        "properties": {
            "answer": {"type": "string"},
            "list": {"type": "array", "items": {"type": "number"}},
        },
        "required": ["answer", "list"],
        "additionalProperties": False,
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {},
    },
}


def completed(asked: dict[str, Any]) -> Any:
    """The submission of an agent's output, or why it is refused."""
    kind = asked["output"]
    output = kind and OutputConfig(name="report", description="d", schema=_SHAPES[kind])
    process = (lambda value: f"<{value}>") if asked.get("process") else None
    tool = CompleteTaskTool(output, process)
    about = [tool.name, tool.display_name, tool.description, str(tool.kind), tool.declaration()]
    try:
        call = tool.build(asked["params"])
    except InvalidToolParams as error:
        return [about if asked["params"] == {} else None, str(error)]
    execution = ToolExecution(call_id="c", signal=AbortController().signal)
    done = asyncio.run(call.execute(execution))
    shown = [call.description(), done.llm_content, done.return_display, dict(done.data or {})]
    return [about if asked["params"] == {"result": "x"} else None, shown]


SUBJECTS: Final = (
    Subject("agents.completed", completed),
    Subject("agents.sanitised", sanitised),
    Subject("agents.run", run),
    Subject("agents.events", events),
    Subject("agents.known", known),
)

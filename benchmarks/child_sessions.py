"""A session that starts agents, for measuring: the model answers at once, every agent completes."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

from agent_protocol.agent import AgentProtocol, MessageSend
from agent_protocol.content import TextPart
from agent_protocol.events import AgentEvent
from benchmarks.figures import MeasurementError
from benchmarks.model import USAGE
from harness.replay.envelope import open_envelope
from runtimes.contract import Runtime
from runtimes.registry import open_runtime
from services.abort import AbortController
from services.bundle import Services
from services.clock import SystemClock
from services.compose import open_services
from services.ids import RandomIds
from services.model.generator import ChunkStream, EmbedRequest, LlmRole, ModelRequest
from services.settings import Settings
from services.state import ApprovalMode
from services.tools.contract import ToolExecution
from services.wire import JsonObject, Part

__all__ = ["ChildSession", "open_children"]

_AGENT: Final = """\
---
name: helper
description: Helps.
tools: [read_file, list_directory]
---
You help.
"""
_INVOKE: Final = {"agent_name": "helper", "prompt": "Have a look."}


class _Model:
    """Answers agents with `complete_task`, and the parent with text or with calls of agents."""

    def __init__(self) -> None:
        self.to_call = 0
        """How many agents the next answer to the parent calls."""
        self.asked_by_child = 0.0
        """When an agent's latest request came, in seconds of CPU."""

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        if request.role is LlmRole.SUBAGENT:
            self.asked_by_child = time.process_time()
            return _answer(_call("complete_task", result="Nothing there."))
        calls, self.to_call = self.to_call, 0
        parts = [_call("invoke_agent", **_INVOKE) for _ in range(calls)]
        return _answer(*(parts or [{"text": "Looked at it."}]))

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        raise RuntimeError("not part of a turn")

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        raise RuntimeError("not part of a turn")

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        raise RuntimeError("not part of a turn")


class ChildSession:
    """One conversation, and the agents that are started in its session."""

    def __init__(self, services: Services, runtime: Runtime, model: _Model) -> None:
        self._services = services
        self._runtime = runtime
        self._model = model
        self._agent: AgentProtocol = runtime.agent()
        self._count = 0
        self._problem: str | None = None
        self._agent.subscribe(self._on_event)

    async def turn(self, children: int = 0) -> None:
        """A send, answered with words; before that, by calling so many agents at once.

        Raises:
            MeasurementError: the stream, or an agent's call, did not end as it should.
        """
        self._model.to_call = children
        await self._agent.send(MessageSend(content=(TextPart(text="Have a look."),)))
        await self._runtime.settled()
        if self._problem is not None:
            raise MeasurementError(self._problem)

    async def child(self) -> tuple[float, float]:
        """Run one agent by itself: CPU seconds to its first model request, and to its end.

        Raises:
            MeasurementError: it failed.
        """
        tool = self._services.tools.get("invoke_agent")
        if tool is None:
            raise MeasurementError("the session has no tool that invokes agents")
        self._count += 1
        begun = time.process_time()
        result = await tool.build(dict(_INVOKE)).execute(
            ToolExecution(
                call_id=f"call-{self._count}",
                signal=AbortController().signal,
                update_output=lambda _: None,
            )
        )
        ended = time.process_time()
        if "Nothing there." not in str(result.llm_content):
            raise MeasurementError(f"an agent failed: {result.llm_content}")
        return self._model.asked_by_child - begun, ended - begun

    def _on_event(self, event: AgentEvent) -> None:
        if event.type == "agent_end" and event.reason != "completed":
            self._problem = f"a stream ended with {event.reason}"
        elif event.type == "tool_response" and event.is_error:
            self._problem = "a call of an agent failed"


@asynccontextmanager
async def open_children(runtime_name: str, *, real: bool = False) -> AsyncIterator[ChildSession]:
    """A session in a folder of its own, with one agent defined.

    Args:
        runtime_name: whose.
        real: with the machine's clock and random ids, which remember nothing, instead of a
            replay's.
    """
    model = _Model()
    with open_envelope() as envelope:
        agents = envelope.workspace.home / ".gemini" / "agents"
        agents.mkdir(parents=True)
        (agents / "helper.md").write_text(_AGENT, "utf-8")
        setup = replace(
            envelope.setup("gemini-2.5-flash", model),
            approval_mode=ApprovalMode.YOLO,
            # The model says the same every time, which is what loop detection is there to end.
            settings=Settings(disable_loop_detection=True),
        )
        if real:
            setup = replace(setup, clock=SystemClock(), ids=RandomIds())
        async with (
            open_services(setup) as services,
            open_runtime(runtime_name, services) as runtime,
        ):
            yield ChildSession(services, runtime, model)


def _call(name: str, **args: str) -> Part:
    return {"functionCall": {"name": name, "args": args}}


async def _answer(*parts: Part) -> ChunkStream:
    content = {"role": "model", "parts": list(parts)}
    yield {
        "candidates": [{"content": content, "index": 0, "finishReason": "STOP"}],
        "usageMetadata": dict(USAGE),
    }

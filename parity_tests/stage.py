"""A stage for conformance tests: one runtime, a scripted model, virtual time, a fresh folder."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from agent_protocol.agent import AgentProtocol, MessageSend
from agent_protocol.content import TextPart
from agent_protocol.events import AgentEvent
from harness.replay.envelope import open_envelope
from runtimes.contract import Runtime
from runtimes.registry import open_runtime
from services.bundle import Services
from services.clock import virtual_loop
from services.compose import open_services
from services.model.replay.generator import ReplayedContentGenerator
from services.model.replay.steps import parse_steps
from services.settings import Settings
from services.state import ApprovalMode

Step = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Stage:
    """What a test may touch."""

    runtime: Runtime
    agent: AgentProtocol
    services: Services
    model: ReplayedContentGenerator

    async def say(self, text: str) -> list[AgentEvent]:
        """Send `text`, wait for the stream's end, return the stream's events."""
        stream_id = await self.agent.send(message(text))
        assert stream_id is not None
        await self.runtime.settled()
        return [event for event in self.agent.events if event.stream_id == stream_id]


def message(text: str) -> MessageSend:
    return MessageSend(content=(TextPart(text=text),))


def answer(text: str, *, delay_ms: float = 0) -> Step:
    return {"text": text, "delay_ms": delay_ms}


def chunks(*texts: str) -> Step:
    """A stream with one chunk per text; the last one finishes."""
    stream: list[dict[str, Any]] = [
        {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "index": 0}]}
        for text in texts
    ]
    stream[-1]["candidates"][0]["finishReason"] = "STOP"
    return {"stream": stream}


def calls(*wanted: tuple[str, dict[str, Any]]) -> Step:
    """A stream of one chunk that asks for tools."""
    parts = [{"functionCall": {"name": name, "args": args}} for name, args in wanted]
    candidate = {"content": {"role": "model", "parts": parts}, "index": 0, "finishReason": "STOP"}
    return {"stream": [{"candidates": [candidate]}]}


@asynccontextmanager
async def stage(
    runtime_name: str,
    *steps: Step,
    mode: ApprovalMode = ApprovalMode.DEFAULT,
    settings: Settings | None = None,
    files: dict[str, str] | None = None,
) -> AsyncIterator[Stage]:
    """Open `runtime_name` over a model that answers with `steps`, in order."""
    with open_envelope() as envelope:
        for name, text in (files or {}).items():
            (envelope.workspace.root / name).write_text(text)
        model = ReplayedContentGenerator(
            parse_steps(list(steps)),
            clock=envelope.clock,
        )
        setup = replace(
            envelope.setup("gemini-2.5-flash", model),
            approval_mode=mode,
            settings=settings or Settings(),
        )
        async with (
            open_services(setup) as services,
            open_runtime(runtime_name, services) as runtime,
        ):
            yield Stage(runtime=runtime, agent=runtime.agent(), services=services, model=model)


def play(scene: Callable[[], Awaitable[None]]) -> None:
    """Run an async scene in virtual time."""

    async def whole() -> None:
        async with asyncio.timeout(30):
            await scene()

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        runner.run(whole())

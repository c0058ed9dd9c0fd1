"""A session over the real services, with a model that answers from a script."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from agent_protocol.agent import AgentProtocol, MessageSend
from agent_protocol.content import TextPart
from agent_protocol.events import AgentEvent
from runtimes.contract import Runtime
from runtimes.registry import open_runtime
from services.bundle import Services
from services.clock import VirtualClock, virtual_loop
from services.compose import ServicesSetup, open_services
from services.environment import Environment
from services.ids import CountingIds, CountingProcessIds, FixedRandom
from services.model.generator import ChunkStream, ModelRequest
from services.settings import PARAMETERS, Settings, settings_from_parameters
from services.state import ApprovalMode, RetryAttempt
from services.wire import JsonObject
from services.workspace import Workspace

HANG = object()
"""In a script's stream: nothing more comes until the request is aborted."""


class ScriptedModel:
    """Answers each request with the next step: chunks, a whole answer's JSON, or an exception."""

    def __init__(self, clock: VirtualClock, steps: Sequence[Any]) -> None:
        self._clock = clock
        self._steps = list(steps)
        self.requests: list[ModelRequest] = []
        self.utility: list[ModelRequest] = []
        self.open_streams = 0
        self.counted = 0

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        request.signal.raise_if_aborted()
        self.requests.append(request)
        self._clock.advance(1)
        await asyncio.sleep(0)
        step = self._steps.pop(0)
        if isinstance(step, BaseException):
            raise step
        return self._stream(step, request)

    async def _stream(self, step: Sequence[Any], request: ModelRequest) -> ChunkStream:
        self.open_streams += 1
        try:
            for chunk in step:
                if isinstance(chunk, BaseException):
                    raise chunk
                if chunk is HANG:
                    await request.signal.wait()
                    request.signal.raise_if_aborted()
                yield copy.deepcopy(chunk)
                await asyncio.sleep(0)
        finally:
            self.open_streams -= 1

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        self.counted += 1
        return {"totalTokens": 5_000_000}

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        step = self._steps.pop(0)
        assert isinstance(step, dict), "the script has no whole answer here"
        self.utility.append(request)
        return copy.deepcopy(step)

    async def embed_content(self, request: object) -> JsonObject:
        raise AssertionError("the script has no embeddings")


def parts_chunk(*parts: JsonObject, finish: str | None = None, **more: Any) -> JsonObject:
    candidate: JsonObject = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], **more}


def text(words: str, finish: str | None = None, **more: Any) -> JsonObject:
    return parts_chunk({"text": words}, finish=finish, **more)


def json_answer(**fields: Any) -> JsonObject:
    return text(json.dumps(fields), "STOP")


def call(name: str, args: JsonObject, *, id: str | None = None) -> JsonObject:
    made: JsonObject = {"name": name, "args": args}
    if id is not None:
        made["id"] = id
    return {"functionCall": made}


def message(words: str, display: str | None = None) -> MessageSend:
    return MessageSend(content=(TextPart(text=words),), display_content=display)


@dataclass
class Played:
    """What was seen of a run."""

    services: Services
    model: ScriptedModel
    events: list[Any] = field(default_factory=list)
    """`AgentEvent`s; a test reads the fields of the kind that it expects."""
    retries: list[RetryAttempt] = field(default_factory=list)
    transcript: list[JsonObject] = field(default_factory=list)

    @property
    def kinds(self) -> list[str]:
        return [event.type for event in self.events]

    @property
    def ends(self) -> list[tuple[str, Any]]:
        return [(e.reason, e.data) for e in self.events if e.type == "agent_end"]

    @property
    def errors(self) -> list[Any]:
        return [event for event in self.events if event.type == "error"]

    @property
    def texts(self) -> list[str]:
        return [
            part.text
            for event in self.events
            if event.type == "message" and event.role == "agent"
            for part in event.content
            if part.type == "text"
        ]

    @property
    def shapes(self) -> list[list[str]]:
        """Of each request: `role:part+part` per content."""
        return [[shape(content) for content in r.contents] for r in self.model.requests]

    @property
    def lines(self) -> list[JsonObject]:
        """The chat recording's lines."""
        files = sorted((self.services.workspace.project_temp / "chats").glob("*.jsonl"))
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def shape(content: JsonObject) -> str:
    kinds = [
        next(k for k in ("functionCall", "functionResponse", "inlineData", "text") if k in part)
        for part in content["parts"]
    ]
    return f"{content['role']}:{'+'.join(kinds)}"


def _settings(fields: Mapping[str, Any], interactive: bool) -> Settings:
    """Settings by the names of their fields; the engine in another program gets them too.

    Each value is as a user writes it: `hooks` are mappings. Whether a session is `interactive` is
    no setting of a user's.
    """
    names = {parameter.field: parameter.name for parameter in PARAMETERS}
    parameters: JsonObject = {}
    for name, value in fields.items():
        *groups, key = names[name].split(".")
        inner = parameters
        for group in groups:
            inner = inner.setdefault(group, {})
        inner[key] = value
    return settings_from_parameters(parameters, interactive=interactive)


Script = Callable[[Played, Runtime], Awaitable[None]]


class Kit:
    """Everything a test needs; see `play`."""

    HANG = HANG
    parts_chunk = staticmethod(parts_chunk)
    text = staticmethod(text)
    json = staticmethod(json_answer)
    call = staticmethod(call)
    message = staticmethod(message)
    shape = staticmethod(shape)

    def __init__(self, engine: str, folder: Path) -> None:
        self.engine = engine
        self._folder = folder
        self._count = 0

    @asynccontextmanager
    async def services(
        self,
        steps: Sequence[Any] = (),
        *,
        model: str = "gemini-2.5-flash",
        approval_mode: ApprovalMode = ApprovalMode.DEFAULT,
        interactive: bool = False,
        **settings: Any,
    ) -> AsyncIterator[Played]:
        self._count += 1
        root = self._folder / f"run{self._count}"
        workspace = Workspace.at(root / "ws", root / "home")
        workspace.root.mkdir(parents=True)
        workspace.home.mkdir()
        (workspace.root / "a.txt").write_text("alpha\n")
        clock = VirtualClock()
        scripted = ScriptedModel(clock, steps)
        setup = ServicesSetup(
            session_id="5e551017-0000-4000-8000-000000000000",
            model=model,
            workspace=workspace,
            clock=clock,
            ids=CountingIds(),
            rng=FixedRandom(),
            process_ids=CountingProcessIds(),
            environment=Environment.for_replay(home=str(workspace.home)),
            content_generator=scripted,
            approval_mode=approval_mode,
            settings=_settings(settings, interactive),
        )
        async with open_services(setup) as services:
            played = Played(services, scripted)

            def note(event: object) -> None:
                if isinstance(event, RetryAttempt):
                    played.retries.append(event)

            services.events.subscribe(note)
            yield played

    def run(self, script: Script, steps: Sequence[Any], **options: Any) -> Played:
        """Run `script` over an open runtime, in virtual time."""

        async def go() -> Played:
            async with self.services(steps, **options) as played:
                async with open_runtime(self.engine, played.services) as runtime:
                    await script(played, runtime)
                    played.transcript = runtime.transcript()
                return played

        with asyncio.Runner(loop_factory=virtual_loop) as runner:
            return runner.run(go())

    def play(
        self,
        steps: Sequence[Any],
        *sends: str | MessageSend,
        on_event: Callable[[AgentEvent, AgentProtocol], None] | None = None,
        own_prompt_ids: bool = False,
        **options: Any,
    ) -> Played:
        """Send each message after the stream before it has ended."""

        async def script(played: Played, runtime: Runtime) -> None:
            agent: AgentProtocol | None = None
            for number, payload in enumerate(sends or ("hello",)):
                if agent is None or own_prompt_ids:
                    prompt_id = f"prompt-{number}" if own_prompt_ids else None
                    agent = runtime.agent(prompt_id=prompt_id)
                    self.listen(agent, played, on_event)
                await agent.send(message(payload) if isinstance(payload, str) else payload)
                await runtime.settled()

        return self.run(script, steps, **options)

    @staticmethod
    def listen(
        agent: AgentProtocol,
        played: Played,
        on_event: Callable[[AgentEvent, AgentProtocol], None] | None = None,
    ) -> None:
        def hear(event: AgentEvent) -> None:
            played.events.append(event)
            if on_event is not None:
                on_event(event, agent)

        agent.subscribe(hear)

    @staticmethod
    def abort(agent: AgentProtocol) -> None:
        """Abort now, from inside a subscriber; the call itself never waits."""
        with_abort: Any = agent.abort()
        with pytest.raises(StopIteration):
            with_abort.send(None)

    @staticmethod
    def in_loop(work: Callable[[], Awaitable[Any]]) -> Any:
        """Run a coroutine function in a fresh virtual loop."""

        async def go() -> Any:
            return await work()

        with asyncio.Runner(loop_factory=virtual_loop) as runner:
            return runner.run(go())

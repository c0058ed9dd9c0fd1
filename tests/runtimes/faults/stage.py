"""A whole run for the tests of faults: a cassette that the test writes, through either runtime."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from harness.cassette.load import build_cassette
from harness.replay import runner
from harness.replay.models import scripted_model
from harness.replay.observation import Observation
from harness.replay.trace import to_trace
from services.bundle import Services
from services.compose import ServicesSetup, open_services
from services.mcp.manager import McpManager
from services.mcp.wiring import SessionServers
from services.model.generator import ChunkStream, ModelRequest
from services.state import UserFeedback
from services.wire import JsonObject, js_json
from services.workspace import Workspace

HALF = "\ue000"
"""In an answer of the model: half a surrogate pair, which no cassette can hold."""
SERVERS = Path(__file__).parents[2] / "services" / "mcp" / "servers"


def call(name: str, **arguments: Any) -> JsonObject:
    """A function call, as a part of an answer."""
    return {"functionCall": {"name": name, "args": arguments}}


def answer(*parts: JsonObject) -> JsonObject:
    """A step of a cassette's model."""
    content = {"role": "model", "parts": list(parts)}
    return {"stream": [{"candidates": [{"content": content, "finishReason": "STOP"}]}]}


def hook(command: str, **more: Any) -> list[JsonObject]:
    """The definitions of one event with one hook."""
    return [{"hooks": [{"type": "command", "command": command, "name": "h", **more}]}]


class Stage:
    """Plays cassettes in one runtime, and keeps the messages for the user."""

    def __init__(self, runtime: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.runtime = runtime
        self.feedback: list[UserFeedback] = []
        self.prepare: Callable[[Workspace], None] = lambda _: None
        """Called with the run's folders before anything starts."""
        self.before_request: dict[int, Callable[[], Awaitable[object]]] = {}
        """What to do before the n-th request of the model is answered."""
        self.damage: Callable[[Path], None] = lambda _: None
        """Called with the recording that a run resumes from, before it is read."""
        self._servers: list[SessionServers] = []
        monkeypatch.setattr(runner, "open_services", self._open_services)
        monkeypatch.setattr(runner._Run, "_resumed", self._resumed(runner._Run._resumed))
        monkeypatch.setattr("services.compose.SessionServers", self._new_servers)

    @property
    def manager(self) -> McpManager:
        """The run's MCP servers."""
        manager = self._servers[-1].manager
        assert manager is not None
        return manager

    def play(self, *answers: JsonObject, **keys: Any) -> Observation:
        """Run a cassette whose model answers so, and check what must hold of any run."""
        document = {
            "cassette": 1,
            "name": "faults/case",
            "session": {
                "model": "gemini-2.5-flash",
                "approval_mode": "yolo",
                "settings": keys.pop("settings", {}),
                **keys.pop("session", {}),
            },
            "script": [{"send": "x"}],
            "model": list(answers),
            **keys,
        }
        root = Path(__file__).parent
        cassette = build_cassette(document, root / "faults" / "case.yaml", root)
        seen = runner.run_cassette(cassette, self.runtime, deadline_s=60, model=self._model)
        assert seen.error is None
        assert_valid(seen)
        return seen

    def _model(self, *arguments: Any) -> Any:
        return _Interrupted(scripted_model(*arguments), self.before_request)

    @asynccontextmanager
    async def _open_services(self, setup: ServicesSetup) -> AsyncIterator[Services]:
        self.prepare(setup.workspace)

        def hear(event: object) -> None:
            if isinstance(event, UserFeedback):
                self.feedback.append(event)

        setup.events.subscribe(hear)
        async with open_services(setup) as services:
            yield services

    def _resumed(self, inner: Callable[[Any], Path | None]) -> Callable[[Any], Path | None]:
        def resumed(run: Any) -> Path | None:
            file = inner(run)
            if file is not None:
                self.damage(file)
            return file

        return resumed

    def _new_servers(self) -> SessionServers:
        self._servers.append(SessionServers())
        return self._servers[-1]


class _Interrupted:
    """A model before whose answers something else happens."""

    def __init__(self, inner: Any, before: Mapping[int, Callable[[], Awaitable[object]]]) -> None:
        self._inner = inner
        self._before = before
        self._asked = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        asked, self._asked = self._asked, self._asked + 1
        if asked in self._before:
            await self._before[asked]()
        return _with_halves(await self._inner.generate_content_stream(request))


async def _with_halves(stream: ChunkStream) -> ChunkStream:
    async for chunk in stream:
        yield json.loads(js_json(chunk).replace(HALF, "\\ud800"))


def assert_valid(seen: Observation) -> None:
    """The run ended by itself, and all it shows is valid UTF-8 and JSON."""
    assert seen.events[-1]["type"] == "agent_end"
    requests = to_trace(seen)["requests"]
    for values in (seen.events, seen.transcript, requests, dict(seen.recording)):
        assert json.loads(js_json(values).encode()) == values


def responses(seen: Observation) -> list[JsonObject]:
    """What the model was answered, call by call."""
    return [
        part["functionResponse"]["response"]
        for content in seen.transcript
        for part in content["parts"]
        if "functionResponse" in part
    ]


def reason(seen: Observation) -> str:
    """Why the last stream ended."""
    return str(seen.events[-1]["reason"])

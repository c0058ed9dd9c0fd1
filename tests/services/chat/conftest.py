"""A session's real services, over a model that nothing asks unless a test scripts its answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from services.bundle import Services
from services.clock import VirtualClock, virtual_loop
from services.compose import ServicesSetup, open_services
from services.environment import Environment
from services.ids import CountingIds, CountingProcessIds, FixedRandom
from services.settings import Settings
from services.wire import JsonObject
from services.workspace import Workspace


class Summaries:
    """A model that answers each whole-answer request with the next text."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = list(texts)

    async def generate_content(self, request: object) -> JsonObject:
        content = {"role": "model", "parts": [{"text": self._texts.pop(0)}]}
        return {"candidates": [{"content": content, "index": 0, "finishReason": "STOP"}]}

    async def count_tokens(self, request: object) -> JsonObject:
        return {"totalTokens": 1}

    async def generate_content_stream(self, request: object) -> Any:
        raise AssertionError("no test here asks for a stream")

    async def embed_content(self, request: object) -> JsonObject:
        raise AssertionError("no test here asks for embeddings")


class Stage:
    """Runs a test's function over open services, in virtual time."""

    def __init__(self, folder: Path) -> None:
        self._workspace = Workspace.at(folder / "ws", folder / "home")
        self._workspace.root.mkdir(parents=True)
        self._workspace.home.mkdir()

    def run(
        self, script: Callable[[Services], Any], *summaries: str, model: str = "gemini-2.5-flash"
    ) -> None:
        """Call `script` with the services; a coroutine that it returns is awaited."""

        async def go() -> None:
            setup = ServicesSetup(
                session_id="5e551017-0000-4000-8000-000000000000",
                model=model,
                workspace=self._workspace,
                clock=VirtualClock(),
                ids=CountingIds(),
                rng=FixedRandom(),
                process_ids=CountingProcessIds(),
                environment=Environment.for_replay(home=str(self._workspace.home)),
                content_generator=Summaries(summaries),
                settings=Settings(),
            )
            async with open_services(setup) as services:
                waiting = script(services)
                if waiting is not None:
                    await waiting

        with asyncio.Runner(loop_factory=virtual_loop) as runner:
            runner.run(go())

    @property
    def files(self) -> list[Path]:
        """The chat recordings on disk, by name."""
        return sorted((self._workspace.project_temp / "chats").glob("*.jsonl"))

    @property
    def lines(self) -> list[JsonObject]:
        """The lines of all chat recordings."""
        return [json.loads(line) for file in self.files for line in file.read_text().splitlines()]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)

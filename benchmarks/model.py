"""A model that answers at once, and a gate that lets one request through at a time."""

from __future__ import annotations

import asyncio
from typing import Final, Literal

from benchmarks.figures import MeasurementError
from services.model.generator import ChunkStream, EmbedRequest, ModelRequest
from services.wire import JsonObject

__all__ = ["TEXTS", "TOOL", "TOOL_ARGS", "USAGE", "Gate", "InstantModel", "Kind"]

Kind = Literal["text", "tool"]
"""`text`: every turn is a send. `tool`: every turn is a round of one long tool loop."""

TEXTS: Final = ("Looking ", "at ", "it.")
"""What a plain answer streams; the third piece of a tool turn is the call."""
TOOL: Final = "list_directory"
TOOL_ARGS: Final = {"dir_path": "."}
USAGE: Final = {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}


class Gate:
    """Holds a loop at its model request, until the next turn is asked for."""

    def __init__(self) -> None:
        self._arrived = asyncio.Event()
        self._go = asyncio.Event()
        self._problem: str | None = None
        self.last = False
        """The next answer is the loop's last: plain text."""

    async def hold(self) -> None:
        """The model's side: wait here for leave to answer."""
        self._arrived.set()
        await self._go.wait()
        self._go.clear()

    async def arrival(self) -> None:
        """Return when the loop has made a request.

        Raises:
            MeasurementError: it ended instead.
        """
        await self._arrived.wait()
        if self._problem is not None:
            raise MeasurementError(self._problem)

    async def turn(self) -> None:
        """Let the held request be answered; returns when the one after it is made."""
        self._arrived.clear()
        self._go.set()
        await self.arrival()

    def release(self) -> None:
        """Let the loop end with its next answer."""
        self.last = True
        self._go.set()

    def fail(self, problem: str) -> None:
        """The loop ended by itself: stop waiting for its next request."""
        self._problem = problem
        self._arrived.set()


class InstantModel:
    """A `ContentGenerator` with the same three chunks every time. Needs no script, keeps nothing.

    With a gate, answers call a tool until the gate is at its last; without one they are plain.
    """

    def __init__(self, gate: Gate | None = None) -> None:
        self._gate = gate

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        """Answer with three chunks."""
        gate = self._gate
        if gate is not None:
            await gate.hold()
        return _chunks(calls=gate is not None and not gate.last)

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        """Not part of a turn."""
        raise RuntimeError("not part of a turn")

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        """Not part of a turn."""
        raise RuntimeError("not part of a turn")

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        """Not part of a turn."""
        raise RuntimeError("not part of a turn")


async def _chunks(*, calls: bool) -> ChunkStream:
    first, second, third = TEXTS
    yield _chunk({"text": first})
    yield _chunk({"text": second})
    last = {"functionCall": {"name": TOOL, "args": dict(TOOL_ARGS)}} if calls else {"text": third}
    chunk = _chunk(last)
    chunk["candidates"][0]["finishReason"] = "STOP"
    chunk["usageMetadata"] = dict(USAGE)
    yield chunk


def _chunk(part: JsonObject) -> JsonObject:
    return {"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]}

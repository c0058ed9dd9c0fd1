"""A conversation with all services on: large tool outputs, masking, loop detection, recording.

A turn is a prompt, a call of `read_file` with a large output, and an answer: two model requests.
Nothing that is said repeats itself, or loop detection would end it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from agent_protocol.agent import MessageSend
from agent_protocol.content import TextPart
from agent_protocol.events import AgentEvent
from benchmarks.figures import MeasurementError
from benchmarks.model import USAGE
from harness.replay.envelope import open_envelope
from runtimes.contract import Runtime
from runtimes.registry import open_runtime
from services.compose import open_services
from services.model.generator import ChunkStream, EmbedRequest, LlmRole, ModelRequest
from services.settings import settings_from_parameters
from services.wire import JsonObject

__all__ = [
    "BusyConversation",
    "BusyModel",
    "Equipment",
    "core_plan",
    "large_file",
    "open_busy",
    "sentence",
]

OUTPUT_LINES: Final = 640
"""Of each file: about 36,000 characters, a quarter of what masking begins with."""
FILES: Final = 8
_WORDS: Final = (
    "amber barrel copper damson elder fennel ginger hazel indigo juniper kettle lantern marble "
    "nettle orchid pepper quartz rosemary saffron thistle umber velvet walnut yarrow zinc"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Equipment:
    """What a conversation is given beside the defaults."""

    hooks: int = 0
    """How many `BeforeTool` hooks there are; each is a process."""
    outputs: bool = True
    """Whether each prompt leads to a large tool output."""
    loop_detection: bool = True
    rules: int = 20
    """Rules of policy in front of the default ones; none of them fits."""

    def parameters(self) -> JsonObject:
        """The core's configuration parameters."""
        found: JsonObject = {
            "disableLoopDetection": not self.loop_detection,
            "policyRules": [
                {"toolName": f"tool_{number}", "decision": "deny", "priority": 3.5}
                for number in range(self.rules)
            ],
        }
        if self.hooks:
            hook = {"type": "command", "command": "true"}
            found["hooks"] = {"BeforeTool": [{"matcher": "*", "hooks": [hook] * self.hooks}]}
        return found


def sentence(*about: object, words: int = 12) -> str:
    """Words that depend on what they are about."""
    known = _WORDS.split()
    digest = hashlib.sha256(repr(about).encode()).digest()
    return " ".join(known[byte % len(known)] for byte in digest[:words])


def large_file(number: int) -> str:
    """What a tool call reads."""
    return "".join(
        f"line {line}: {sentence(number, line, words=7)}\n" for line in range(OUTPUT_LINES)
    )


def core_plan(turns: Sequence[int], window: int) -> JsonObject:
    """What `core_turns.mjs` needs for the like of it with the published core."""
    return {
        "way": "busy",
        "turns": list(turns),
        "window": window,
        "words": _WORDS.split(),
        "usage": dict(USAGE),
        "rules": Equipment().parameters()["policyRules"],
        "files": [f"store_{number}.txt" for number in range(FILES)],
        "lines": OUTPUT_LINES,
    }


class BusyModel:
    """A `ContentGenerator` that reads a file and says something new with every prompt."""

    def __init__(self, *, outputs: bool = True) -> None:
        self._outputs = outputs
        self.requests = 0

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        """A call for the first request of a turn, words for the second."""
        number = self.requests
        self.requests += 1
        return _chunks(number, calls=self._outputs and number % 2 == 0)

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        """The question whether this is a loop: it is none."""
        if request.role is not LlmRole.UTILITY_LOOP_DETECTOR:
            raise RuntimeError("not part of a turn")
        verdict = {"unproductive_state_analysis": "No.", "unproductive_state_confidence": 0.1}
        content = {"role": "model", "parts": [{"text": json.dumps(verdict)}]}
        return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        """Not part of a turn."""
        raise RuntimeError("not part of a turn")

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        """Not part of a turn."""
        raise RuntimeError("not part of a turn")


async def _chunks(number: int, *, calls: bool) -> ChunkStream:
    for chunk in answer_chunks(number, calls=calls):
        yield chunk


def answer_chunks(number: int, *, calls: bool) -> list[JsonObject]:
    """What is answered to the request of that number, counted from 0."""
    said: list[JsonObject] = [
        {"text": f"{sentence('said', number, piece)}. "} for piece in range(3)
    ]
    if calls:
        path = f"store_{number // 2 % FILES}.txt"
        said[-1] = {"functionCall": {"name": "read_file", "args": {"file_path": path}}}
    chunks: list[JsonObject] = [
        {"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]}
        for part in said
    ]
    chunks[-1]["candidates"][0]["finishReason"] = "STOP"
    chunks[-1]["usageMetadata"] = dict(USAGE)
    return chunks


class BusyConversation:
    """One agent over one engine; a `turn` is a prompt and all that follows."""

    def __init__(self, name: str, runtime: Runtime, model: BusyModel, per_turn: int) -> None:
        self._name = name
        self._runtime = runtime
        self._model = model
        self._per_turn = per_turn
        self._agent = runtime.agent()
        self._agent.subscribe(self._on_event)
        self._outcome = "nothing yet"
        self._turns = 0

    async def turn(self) -> None:
        """A send, its stream, and what is done after it.

        Raises:
            MeasurementError: it did not go as a turn goes.
        """
        before = self._model.requests
        text = f"Prompt {self._turns}: {sentence('asked', self._turns)}"
        self._turns += 1
        await self._agent.send(MessageSend(content=(TextPart(text=text),)))
        await self._runtime.settled()
        asked = self._model.requests - before
        if self._outcome != "completed" or asked != self._per_turn:
            raise MeasurementError(
                f"{self._name}: turn {self._turns} ended with {self._outcome}, {asked} requests"
            )

    async def turns(self, count: int) -> None:
        """`count` turns."""
        for _ in range(count):
            await self.turn()

    def masked(self) -> int:
        """How many outputs of the history are masked."""
        return sum(
            _is_masked(part) for content in self._runtime.transcript() for part in content["parts"]
        )

    def history_size(self) -> int:
        """Characters of the history as JSON."""
        return len(json.dumps(self._runtime.transcript()))

    def _on_event(self, event: AgentEvent) -> None:
        if event.type == "agent_end":
            self._outcome = event.reason


def _is_masked(part: JsonObject) -> bool:
    response: Any = part.get("functionResponse", {}).get("response", {}).get("output", "")
    return isinstance(response, str) and response.startswith("<tool_output_masked>")


@asynccontextmanager
async def open_busy(
    runtime_name: str, equipment: Equipment = Equipment()
) -> AsyncIterator[BusyConversation]:
    """A conversation in a folder of its own, under a virtual clock, the model instant.

    Raises:
        MeasurementError: the conversation went wrong.
    """
    model = BusyModel(outputs=equipment.outputs)
    with open_envelope() as envelope:
        for number in range(FILES):
            (envelope.workspace.root / f"store_{number}.txt").write_text(large_file(number))
        setup = replace(
            envelope.setup("gemini-2.5-flash", model),
            settings=settings_from_parameters(equipment.parameters()),
        )
        async with (
            open_services(setup) as services,
            open_runtime(runtime_name, services) as runtime,
        ):
            yield BusyConversation(runtime_name, runtime, model, 2 if equipment.outputs else 1)

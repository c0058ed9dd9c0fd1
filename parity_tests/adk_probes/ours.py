"""A probe's run under the adk runtime."""

from __future__ import annotations

import asyncio
import copy
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from io import StringIO
from typing import Any

from google.adk.events.event import Event

from agent_protocol.agent import AgentProtocol, MessageSend
from agent_protocol.codec import to_wire
from agent_protocol.content import ContentPart, MediaPart, TextPart
from agent_protocol.events import AgentEvent
from harness.replay.envelope import Envelope, open_envelope
from harness.replay.unfinished import unfinished_work
from parity_tests.adk_probes.clients import of_agent_events
from parity_tests.adk_probes.probe import OVER, Again, Answer, Operation, Probe, Seen, notes_of
from parity_tests.adk_probes.watching import Counting, merged, shown_event, watched_runners
from runtimes.adk import open_runtime
from runtimes.contract import Runtime
from services.clock import VirtualClock, virtual_loop
from services.compose import open_services
from services.interaction.interaction import Handlers, Interaction
from services.interaction.questions import FallbackIntent, FallbackQuestion
from services.model.generator import ChunkStream, EmbedRequest, ModelRequest
from services.settings import Settings
from services.state import ApprovalMode
from services.wire import JsonObject

__all__ = ["ScriptedGenerator", "run_ours"]


class ScriptedGenerator:
    """Answers each streamed request with the next answer of a script."""

    def __init__(self, clock: VirtualClock, script: Sequence[Answer]) -> None:
        self._clock = clock
        self._answers = list(script)
        self.requests: list[JsonObject] = []

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        """The next answer's chunks, or its error."""
        asked = {"model": request.model, "contents": request.contents, **request.config}
        self.requests.append(copy.deepcopy(asked))
        self._clock.advance(1)
        answer = self._answers.pop(0) if self._answers else OVER
        if isinstance(answer, Again) and (answer.connected or answer.said):
            return self._chunks(answer.said, answer.error)
        if isinstance(answer, Again):
            raise answer.error
        if isinstance(answer, Exception):
            raise answer
        return self._chunks(answer)

    async def _chunks(
        self, answer: Sequence[JsonObject], error: Exception | None = None
    ) -> ChunkStream:
        for chunk in answer:
            yield copy.deepcopy(chunk)
        if error is not None:
            raise error

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        """A small number."""
        return {"totalTokens": 10}

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        """A summary, for compression; of JSON, that the model speaks next."""
        part = {"text": "<state_snapshot>what was said</state_snapshot>"}
        if request.config.get("responseMimeType") == "application/json":
            part = {"text": '{"reasoning": "a rule", "next_speaker": "model"}'}
        content = {"role": "model", "parts": [part]}
        return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        """Nothing here asks for it."""
        raise AssertionError("a probe embeds nothing")


def run_ours(probe: Probe) -> Seen:
    """Run `probe` in virtual time, in a folder of its own."""

    async def go() -> Seen:
        with open_envelope() as envelope:
            return await _run(probe, envelope)

    with (
        asyncio.Runner(loop_factory=virtual_loop) as runner,
        unfinished_work(runner.get_loop()) as left,
    ):
        seen = runner.run(go())
        seen.client += left.sentences
        return seen


async def _run(probe: Probe, envelope: Envelope) -> Seen:
    seen, counting, plugins, printed = Seen(), Counting(), probe.plugins(), StringIO()
    events: list[JsonObject] = []
    clients: list[AgentEvent] = []
    for name, content in {"a.txt": "alpha\n", **probe.files}.items():
        (envelope.workspace.root / name).write_text(content)
    generator = ScriptedGenerator(envelope.clock, probe.script)
    settings: dict[str, Any] = {"core_tools": ("read_file",), **probe.settings}
    setup = replace(
        envelope.setup(probe.model, generator),
        approval_mode=ApprovalMode.YOLO,
        settings=Settings(**settings),
        interaction=Interaction(Handlers(fallback=_agree) if probe.falls_back else None),
    )

    begun = envelope.clock.now_ms()

    def note(event: Event) -> None:
        events.append(shown_event(event))
        if not begun <= event.timestamp * 1000 <= envelope.clock.now_ms():
            seen.client.append("an event has a time that is not the session's")

    async with (
        open_services(setup) as services,
        open_runtime(
            services,
            plugins=[counting, *plugins] if probe.counted else plugins,
            arrange_flow=probe.arrange_flow,
        ) as runtime,
    ):
        agent = runtime.agent()
        agent.subscribe(clients.append)
        if probe.aborts_at is not None:
            agent.subscribe(_aborting(agent, *probe.aborts_at))
        async with watched_runners(note, seen.state, seen.session):
            with redirect_stdout(printed):
                for message in probe.messages:
                    await _send(runtime, agent, message)
    seen.requests = generator.requests
    seen.events = merged(events)
    seen.asked = counting.asked
    seen.result = of_agent_events(clients)
    seen.callbacks = counting.counts
    seen.notes = notes_of(probe, plugins, printed.getvalue())
    seen.emitted = [to_wire(event) for event in clients]
    emitted = str(seen.emitted)
    seen.client += [f"does not see {words!r}" for words in probe.shown if words not in emitted]
    seen.client += [f"sees {words!r}" for words in probe.hidden if words in emitted]
    return _placeless(seen, str(envelope.folder))


def _aborting(agent: AgentProtocol, kind: str, number: int) -> Callable[[AgentEvent], None]:
    seen = Counter[str]()

    def abort(event: AgentEvent) -> None:
        seen[event.type] += 1
        if event.type == kind and seen[kind] == number:
            with suppress(StopIteration):
                # It returns at once; the end of the stream follows.
                agent.abort().send(None)

    return abort


async def _agree(_: FallbackQuestion) -> FallbackIntent:
    return FallbackIntent.RETRY_ALWAYS


async def _send(
    runtime: Runtime, agent: AgentProtocol, message: str | Sequence[JsonObject] | Operation
) -> None:
    if isinstance(message, Operation):
        await message.apply(runtime)
        return
    parts = [{"text": message}] if isinstance(message, str) else message
    await agent.send(MessageSend(content=tuple(_content(part) for part in parts)))
    await runtime.settled()


def _content(part: JsonObject) -> ContentPart:
    inline = part.get("inlineData")
    if inline is not None:
        return MediaPart(data=inline["data"], mime_type=inline["mimeType"])
    return TextPart(text=part["text"])


def _placeless(seen: Seen, folder: str) -> Seen:
    """The same without the run's own folder."""

    def without(value: Any) -> Any:
        if isinstance(value, str):
            return value.replace(folder, "<RUN>")
        if isinstance(value, list):
            return [without(each) for each in value]
        if isinstance(value, dict):
            return {key: without(each) for key, each in value.items()}
        return value

    for name in ("requests", "events", "asked", "session", "state", "result", "notes", "emitted"):
        setattr(seen, name, without(getattr(seen, name)))
    return seen

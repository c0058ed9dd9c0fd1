"""`Barrier`: holds model answers and ended tool calls until it is their turn.

Everything that is ready waits. When nothing else can happen, which the virtual loop knows for
certain, and no answer is on its way, the barrier releases one place. Its consequences follow, up to
the next wait. An impossible order therefore does not block the run: it shows in what was released.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Final, TypeVar

from harness.canonical import canonical, sha256_hex
from harness.cassette.format import Cassette
from harness.orders.model_clock import ModelClock
from harness.orders.order import Order, Schedule
from harness.orders.places import Kind, Place, path_of, path_text
from harness.orders.shared import ANSWERS, CLIENT, MODE, MODEL, SCRIPT, Touches, Trace
from harness.replay.models import ModelSource, ReplayedModel
from services.abort import AbortSignal
from services.bundle import Services
from services.clock import VirtualClock
from services.message_bus import ToolCallsUpdate
from services.model.errors import ModelError
from services.model.generator import ChunkStream, EmbedRequest, LlmRole, ModelRequest
from services.model.replay.generator import ObservedRequest, ReplayNote
from services.scheduler.execution import Ending, RunCall
from services.scheduler.states import ToolCall
from services.state import ApprovalModeChanged, CoreEvent, ModelChanged
from services.threads import ThreadPaths, executing_call
from services.tools.registry import ToolRegistry
from services.wire import JsonObject

__all__ = ["PATIENCE_MS", "Barrier"]

T = TypeVar("T")

PATIENCE_MS: Final = 10_000
"""How long, in virtual time, a choice waits for an answer that is on its way."""

_TURNS: Final = frozenset({LlmRole.MAIN, LlmRole.SUBAGENT})


class Barrier:
    """Imposes one order on one run: it stands between the run and its model and tools."""

    def __init__(self, order: Order | None = None, *, tools: bool = True) -> None:
        """Impose `order`, or the default order.

        Without `tools` it holds only model answers, as for an engine with tools of its own.
        """
        self.schedule = Schedule(order or Order())
        self._tools = tools
        self._held: dict[Place, asyncio.Future[None]] = {}
        self._counts: Counter[tuple[str, Kind, str]] = Counter()
        self._paths = ThreadPaths()
        self._clock: ModelClock | None = None
        self._since_ms: float | None = None
        self.touches = Touches()
        self._asked: set[str] = set()
        self._begun: set[str] = set()
        self._answers: dict[str, str] = {}
        self._meanwhile = False
        self._addressed: frozenset[str | None] = frozenset()

    @property
    def trace(self) -> Trace:
        """What the run's threads shared, and in which order they accessed it."""
        self.touches.whole(SCRIPT, dict(self._answers))
        if self._meanwhile:
            self.touches.whole(CLIENT, self.schedule.went)
        return self.touches.trace

    def model(self, source: ModelSource) -> ModelSource:
        """A source of models whose answers the barrier holds."""

        def held(
            cassette: Cassette,
            clock: VirtualClock,
            on_request: Callable[[ObservedRequest], None],
            on_chunk: Callable[[int, int], None],
        ) -> ReplayedModel:
            self._clock = ModelClock(clock)
            self._meanwhile = bool(cassette.during)
            self._addressed = frozenset(step.thread for step in cassette.steps)
            clock.before_waking = self._let_go
            inner = source(cassette, self._clock, on_request, on_chunk)
            return _HeldModel(inner, self)

        return held

    @property
    def around_tools(self) -> Callable[[RunCall], RunCall] | None:
        """Wraps the run of a call so that its end is held."""
        return self._around if self._tools else None

    def watch(self, services: Services) -> None:
        """Subscribe to what the run's threads share."""
        self._paths = services.subagents.threads
        self.touches.root = str(services.workspace.root)
        services.events.subscribe(self._core_event)
        services.bus.subscribe(ToolCallsUpdate, self._look_at_questions)
        if not self._tools:
            services.bus.subscribe(
                ToolCallsUpdate, lambda update: self._look_at_calls(update, services.tools)
            )

    def asked(self, request: ModelRequest) -> Place:
        """The place of the answer to a request that the run is making."""
        thread = request.thread
        if self._tools and request.role not in _TURNS and (call := executing_call()) is not None:
            thread = self._paths.of_call(call)
        role = "" if request.role in _TURNS else str(request.role)
        place = self._place(thread, "answer", role)
        self.touches.read(MODEL, str(place))
        return place

    def answered(self, place: Place, answer: str) -> None:
        """Record the answer at a place, if the order decided which step answers."""
        addressed = not place.path or path_text(place.path) in self._addressed
        if place.role or not addressed:
            self._answers[str(place)] = answer

    def failed(self, place: Place) -> None:
        """Record a failure of the model: the available models may have changed."""
        self.touches.write(MODEL, str(place))

    @property
    def chunks(self) -> bool:
        """Whether chunks after the first are held, too."""
        return self.schedule.order.chunks

    async def hold(self, place: Place, signal: AbortSignal) -> None:
        """Return when it is the turn of `place`, or when `signal` is aborted."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._held[place] = turn
        off = signal.on_abort(lambda: _open(turn))
        try:
            await turn
        finally:
            off()
            self._held.pop(place, None)

    def _let_go(self) -> bool:
        """Release one place, since nothing else can happen; false when time may pass."""
        waiting = {place: turn for place, turn in self._held.items() if not turn.done()}
        if not waiting or self._worth_waiting():
            return False
        self._since_ms = None
        _open(waiting[self.schedule.next(waiting)])
        return True

    def _worth_waiting(self) -> bool:
        """Whether an answer will arrive soon enough to be among the choices."""
        assert self._clock is not None
        due = self._clock.next_due_ms
        if due is None:
            return False
        if self._since_ms is None:
            self._since_ms = self._clock.now_ms()
        return due - self._since_ms <= PATIENCE_MS

    def _place(self, thread: str, kind: Kind, role: str = "") -> Place:
        key = (thread, kind, role)
        number = self._counts[key]
        self._counts[key] += 1
        return Place(path=path_of(thread), kind=kind, number=number, role=role)

    def _around(self, run: RunCall) -> RunCall:
        async def held(call: ToolCall, signal: AbortSignal) -> Ending:
            place = self._place(self._paths.of_call(call.call_id), "call")
            if call.tool is not None:
                self.touches.tool(call.tool, call.request.args, str(place))
            ending = await run(call, signal)
            if not signal.aborted:
                await self.hold(place, signal)
            return ending

        return held

    def _core_event(self, event: CoreEvent) -> None:
        call = executing_call()
        who = self._paths.of_call(call) if call is not None else "main"
        if isinstance(event, ModelChanged):
            self.touches.write(MODEL, who)
        elif isinstance(event, ApprovalModeChanged):
            self.touches.write(MODE, who)

    def _look_at_questions(self, update: ToolCallsUpdate) -> None:
        for call in update.calls:
            question = call.correlation_id
            if question is not None and question not in self._asked:
                self._asked.add(question)
                self.touches.write(ANSWERS, self._paths.of_call(call.call_id))

    def _look_at_calls(self, update: ToolCallsUpdate, tools: ToolRegistry) -> None:
        """Record the tools of calls that an engine runs by itself."""
        for call in update.calls:
            tool = tools.get(call.name)
            if call.status != "executing" or tool is None or call.call_id in self._begun:
                continue
            self._begun.add(call.call_id)
            self.touches.tool(tool, None, self._paths.of_call(call.call_id))


class _HeldModel:
    """Answers as `inner` does, each answer at its turn. Embeddings are not held."""

    def __init__(self, inner: ReplayedModel, barrier: Barrier) -> None:
        self._inner = inner
        self._barrier = barrier

    @property
    def notes(self) -> Sequence[ReplayNote]:
        """Requests that found no step."""
        return self._inner.notes

    def unused_steps(self) -> list[int]:
        """Indices of the steps that no request used."""
        return self._inner.unused_steps()

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        """One response."""
        return await self._value(request, self._inner.generate_content)

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        """A number of tokens."""
        return await self._value(request, self._inner.count_tokens)

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        """Embeddings."""
        return await self._inner.embed_content(request)

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        """A stream of chunks."""
        place = self._barrier.asked(request)
        stream = await self._held(place, request, self._inner.generate_content_stream)
        return self._chunks(place, stream, request.signal)

    async def _value(
        self, request: ModelRequest, ask: Callable[[ModelRequest], Awaitable[JsonObject]]
    ) -> JsonObject:
        place = self._barrier.asked(request)
        value = await self._held(place, request, ask)
        self._barrier.answered(place, sha256_hex(canonical(value)))
        return value

    async def _held(
        self, place: Place, request: ModelRequest, ask: Callable[[ModelRequest], Awaitable[T]]
    ) -> T:
        """The answer or the error of `ask`, at its turn.

        Raises:
            AbortError: the request was aborted before that.
        """
        try:
            answer = await ask(request)
        except ModelError as failure:
            await self._turn(place, request.signal)
            self._barrier.failed(place)
            self._barrier.answered(place, str(failure))
            raise
        await self._turn(place, request.signal)
        return answer

    async def _turn(self, place: Place, signal: AbortSignal) -> None:
        await self._barrier.hold(place, signal)
        signal.raise_if_aborted()

    async def _chunks(
        self, place: Place, stream: ChunkStream, signal: AbortSignal
    ) -> AsyncGenerator[JsonObject, None]:
        number = 0
        async with aclosing(stream):
            try:
                async for chunk in stream:
                    if not number:
                        self._barrier.answered(place, sha256_hex(canonical(chunk)))
                    elif self._barrier.chunks:
                        await self._barrier.hold(replace(place, kind="chunk", chunk=number), signal)
                    number += 1
                    yield chunk
            except ModelError:
                self._barrier.failed(place)
                raise


def _open(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)

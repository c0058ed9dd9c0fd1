"""The tool scheduler: runs batches of calls in waves, one batch at a time.

A wave is a sequence of calls that may run at the same time. All its calls are confirmed, then all
are executed, then all are finished, before the next wave begins.

Source: core `scheduler/scheduler.ts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Final, cast

from services.abort import AbortController, AbortSignal
from services.hooks.system import HookSystem
from services.ids import IdSource
from services.mcp.progress import McpProgress
from services.message_bus import MessageBus, ToolConfirmationRequest, ToolConfirmationResponse
from services.policy.engine import PolicyEngine
from services.scheduler.approvals import EDIT_TOOLS
from services.scheduler.call_hooks import CallHooks
from services.scheduler.calls import CallStatus, CompletedToolCall, ToolCallRequest
from services.scheduler.confirmation import Confirmer, SaveCheckpoint
from services.scheduler.execution import RunCall, ToolExecutor
from services.scheduler.states import CallStore, ExecutingPatch, ToolCall
from services.scheduler.style import BatchStyle
from services.scheduler.truncation import OutputLimiter
from services.scheduler.turns import BatchTurns, ScheduleRejected
from services.scheduler.validation import Registry, Resolver, Validator
from services.session import Session
from services.threads import within_call
from services.tools.contract import CallProgress
from services.wire import Json, JsonObject, js_text

__all__ = [
    "MAX_TAIL_CALLS",
    "MOST_AT_ONCE",
    "ROOT_SCHEDULER_ID",
    "ScheduleRejected",
    "ToolScheduler",
    "is_parallelizable",
]

ROOT_SCHEDULER_ID: Final = "root"
MAX_TAIL_CALLS: Final = 100
"""The most calls with which hooks may replace one call, each replacing the one before it."""
MOST_AT_ONCE: Final = 64
"""The most calls of one batch that the store holds at a time. Every change of a call publishes all
calls in the store, so the work would grow with the square of the size of a batch."""

_TOPIC_TOOL: Final = "update_topic"
_ALONE: Final = EDIT_TOOLS | {_TOPIC_TOOL}


def is_parallelizable(request: ToolCallRequest) -> bool:
    """Whether a call may share a wave; the kind of its tool does not matter."""
    if request.name in _ALONE:
        return False
    args: Json = request.args
    wait = args.get("wait_for_previous") if isinstance(args, dict) else None
    return not wait if isinstance(wait, bool) else True


def _topics_first(requests: list[ToolCallRequest]) -> list[ToolCallRequest]:
    """Put the topics first, the last one at the front.

    Source: core `scheduler/scheduler.ts`, `_startBatch`: its comparison puts a topic before
    everything, other topics included.
    """
    topics = [request for request in requests if request.name == _TOPIC_TOOL]
    return topics[::-1] + [request for request in requests if request.name != _TOPIC_TOOL]


class ToolScheduler:
    """Runs batches of tool calls, one after the other, and publishes every change of a call."""

    def __init__(
        self,
        session: Session,
        *,
        registry: Registry,
        policy: PolicyEngine,
        bus: MessageBus,
        scheduler_id: str = ROOT_SCHEDULER_ID,
        limiter: OutputLimiter | None = None,
        hooks: HookSystem | None = None,
        around: Callable[[RunCall], RunCall] | None = None,
        subagent: str | None = None,
        waiting: Callable[[bool], None] | None = None,
        checkpoint: SaveCheckpoint | None = None,
        style: BatchStyle | None = None,
    ) -> None:
        """Make a scheduler; `derived` makes those of subagents.

        Args:
            session: the session; a subagent's has its own ids.
            registry: the tools.
            policy: decides which calls may run.
            bus: receives every change, and answers confirmation requests.
            scheduler_id: the id in every update.
            limiter: shortens outputs.
            hooks: the session's hooks.
            around: wraps the function that runs a call.
            subagent: the agent that makes the calls; rules may name it.
            waiting: receives True when a confirmation begins to wait for the user, False when the
                user has answered.
            checkpoint: saves a checkpoint before the user is asked about an edit.
            style: how batches run; by default, and for subagents, as in the core's scheduler.
        """
        self._style = style or BatchStyle()
        self.scheduler_id = scheduler_id
        clock, state, settings = session.clock, session.state, session.settings
        self._session = session
        self._derive = partial(
            ToolScheduler,
            policy=policy,
            limiter=limiter,
            hooks=hooks,
            around=around,
            checkpoint=checkpoint,
        )
        self._derived: list[ToolScheduler] = []
        self._store = CallStore(bus, clock, scheduler_id)
        self._resolver = Resolver(registry, clock, scheduler_id, self._style)
        call_hooks = CallHooks(hooks, settings.mcp_servers)
        run = ToolExecutor(self._store, state, limiter, call_hooks).run
        self._run_call = run if around is None else around(run)
        self._validator = Validator(
            store=self._store,
            policy=policy,
            confirmer=Confirmer(
                store=self._store,
                bus=bus,
                policy=policy,
                state=state,
                events=session.events,
                clock=clock,
                ids=session.ids,
                hooks=call_hooks,
                waiting=waiting,
                checkpoint=checkpoint,
            ),
            state=state,
            bus=bus,
            settings=settings,
            hooks=call_hooks,
            subagent=subagent,
            style=self._style,
        )
        self._turns = BatchTurns()
        self._cancelling = False
        self._prompts = AbortController()
        self._off = bus.subscribe(ToolConfirmationRequest, self._leave_to_the_user)
        self._bus = bus

    @contextmanager
    def derived(
        self,
        *,
        registry: Registry,
        bus: MessageBus,
        ids: IdSource,
        scheduler_id: str,
        subagent: str,
        waiting: Callable[[bool], None],
    ) -> Iterator[ToolScheduler]:
        """A scheduler for a subagent's calls, with batches of its own.

        It receives the notices of progress that this one receives.
        """
        scheduler = self._derive(
            replace(self._session, ids=ids),
            registry=registry,
            bus=bus,
            scheduler_id=scheduler_id,
            subagent=subagent,
            waiting=waiting,
        )
        self._derived.append(scheduler)
        try:
            yield scheduler
        finally:
            self._derived.remove(scheduler)
            scheduler.dispose()

    async def schedule(
        self, requests: Sequence[ToolCallRequest], signal: AbortSignal
    ) -> list[CompletedToolCall]:
        """Run a batch after the batches before it; return its calls in the order of their ends.

        When the task is cancelled, its tools are cancelled and awaited, and the next batch starts.

        Raises:
            ScheduleRejected: the batch was in the queue when `signal` was aborted or `cancel_all`
                was called.
        """
        await self._turns.take(signal)
        try:
            return await self._run_batch(list(requests), signal)
        finally:
            self._turns.end()

    def note_progress(self, notice: McpProgress) -> None:
        """Publish the progress of an executing call; ignore a notice about any other call."""
        for scheduler in self._derived:
            scheduler.note_progress(notice)
        total = notice.total if notice.total is not None and notice.total > 0 else None
        progress = CallProgress(
            done=notice.progress,
            total=total,
            percent=None if total is None else min(100, notice.progress / total * 100),
            message=notice.message,
        )
        self._store.patch(notice.call_id, ExecutingPatch(progress=progress))

    def cancel_all(self) -> None:
        """Reject the queued batches and cancel every call.

        Running tools go on, and their results are ignored. Calling this again has no effect until
        a new batch begins.
        """
        if self._cancelling:
            return
        self._cancelling = True
        self._turns.reject_waiting("Operation cancelled by user")
        self._store.cancel_active("Operation cancelled by user")
        self._store.cancel_queued("Operation cancelled by user")
        self._prompts.abort()

    def dispose(self) -> None:
        """Unsubscribe from the bus."""
        self._off()

    async def _run_batch(
        self, requests: list[ToolCallRequest], signal: AbortSignal
    ) -> list[CompletedToolCall]:
        self._cancelling = False
        self._prompts = AbortController()
        off = signal.on_abort(self._prompts.abort)
        mode = self._session.state.approval_mode
        try:
            ordered = requests if self._style.one_by_one else _topics_first(requests)
            calls = [self._resolver.resolve(request, mode) for request in ordered]
            completed: list[CompletedToolCall] = []
            for start in range(0, max(len(calls), 1), MOST_AT_ONCE):
                self._store.clear_completed()
                self._store.enqueue(calls[start : start + MOST_AT_ONCE])
                while self._store.busy and not self._interrupted(signal):
                    await self._run_wave(signal)
                completed += [call.completed() for call in self._store.completed]
            return completed
        finally:
            off()
            self._sweep()

    def _interrupted(self, signal: AbortSignal) -> bool:
        """Whether the batch ends early; if so, cancel its queued calls."""
        if not signal.aborted and not self._cancelling:
            return False
        self._finalise()
        self._store.cancel_queued("Operation cancelled")
        return True

    async def _run_wave(self, signal: AbortSignal) -> None:
        if self._next_wave():
            async with asyncio.TaskGroup() as group:
                for call in self._in_status(CallStatus.VALIDATING):
                    group.create_task(self._validator.validate(call, signal, self._prompts.signal))
            async with asyncio.TaskGroup() as group:
                for call in self._in_status(CallStatus.SCHEDULED):
                    group.create_task(self._execute(call, signal))
        self._finalise()

    def _next_wave(self) -> bool:
        """Dequeue the calls of a wave; `False` for one call that has already failed."""
        first = self._store.dequeue()
        if first.status is CallStatus.ERROR:
            return False
        if not self._style.one_by_one and is_parallelizable(first.request):
            while (peeked := self._store.peek()) and is_parallelizable(peeked.request):
                self._store.dequeue()
        return True

    def _in_status(self, status: CallStatus) -> list[ToolCall]:
        return [call for call in self._store.active if call.status is status]

    async def _execute(self, call: ToolCall, signal: AbortSignal) -> None:
        if self._store.get(call.call_id) is None:
            return
        if signal.aborted:
            self._store.transition(call.call_id, CallStatus.CANCELLED, "Operation cancelled")
            return
        self._store.transition(call.call_id, CallStatus.EXECUTING)
        with within_call(call.call_id):
            ending = await self._run_call(call, signal)
        if ending.tail is None or call.request.tails >= MAX_TAIL_CALLS:
            self._store.transition(call.call_id, ending.status, ending.response)
        else:
            self._store.replace_by_tail(call.call_id, self._tail_call(call, ending.tail))

    def _tail_call(self, call: ToolCall, tail: JsonObject) -> ToolCall:
        """The call `tail` of a hook, which replaces `call` under the same id.

        The hook's values are not checked before: building the call refuses arguments that are no
        object.
        """
        request = call.request
        asked = request.original_request_args
        following = ToolCallRequest(
            call_id=request.call_id,
            name=js_text(tail.get("name", "undefined")),
            args=cast("JsonObject", tail.get("args")),
            original_request_name=request.shown_name,
            original_request_args=request.args if asked is None else asked,
            is_client_initiated=request.is_client_initiated,
            prompt_id=request.prompt_id,
            parent_call_id=request.parent_call_id,
            tails=request.tails + 1,
        )
        return self._resolver.resolve(following, call.approval_mode)

    def _finalise(self) -> None:
        for call in self._store.active:
            self._store.finalise(call.call_id)

    def _sweep(self) -> None:
        """Empty the store, also after a batch that was cancelled."""
        self._finalise()
        self._store.cancel_active("Operation cancelled")
        self._store.cancel_queued("Operation cancelled")
        self._store.clear_completed()

    def _leave_to_the_user(self, request: ToolConfirmationRequest) -> None:
        """Answer a request for a confirmation: only the user can decide it."""
        self._bus.publish(
            ToolConfirmationResponse(
                correlation_id=request.correlation_id,
                confirmed=False,
                requires_user_confirmation=True,
            )
        )

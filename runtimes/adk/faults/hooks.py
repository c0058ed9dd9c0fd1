"""Faults of the ADK runtime in hooks, confirmations and modes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.altered import Altered
from seeded_faults.wrappers import first, instead, passing, result, returns
from services.scheduler.calls import CallStatus
from services.tools.contract import ToolErrorType

fault = Faults(Site.ADK, Behaviour.HOOKS)
held_out = Faults(Site.ADK, Behaviour.HOOKS, held_out=True)
held_out_approval = Faults(Site.ADK, Behaviour.APPROVAL, held_out=True)
_AFTER_CHUNK: Final = "runtimes.adk.plugins.hook_bridge:HookBridgePlugin.after_chunk"


def _ending_on_refusal(verdict: Any) -> Any:
    def ended(call: Any) -> Any:
        if call.status is not CallStatus.CANCELLED:
            return call
        error = call.response.error or "cancelled"
        kind = ToolErrorType.STOP_EXECUTION
        return replace(call, response=replace(call.response, error=error, error_type=kind))

    def broken(completed: Any) -> Any:
        return verdict([ended(call) for call in completed])

    return broken


@instead
async def _a_moment_later(after_agent: Any, /, self: Any, stream: Any, run: Any) -> Any:
    if run.calls._hooks._hooks is not None:
        await self._services.clock.sleep(10)
    return await after_agent(self, stream, run)


before_agent_per_tool_round = fault.wrap(
    "services.hooks.prompt_calls:PromptCalls.enter",
    first(lambda self, *args: self._hooks.forget(self._prompt_id)),
    says="BeforeAgent fires again for the results of tools.",
    origin="google-adk's callbacks, which fire per invocation and not per prompt",
)
after_agent_told_last_answer = fault.wrap(
    "services.hooks.prompt_calls:PromptCalls.note_answer",
    returns(None),
    says="AfterAgent gets the answer of the last request, not that of the whole prompt.",
    origin="google-adk passes the last event to a callback",
)
after_agent_delayed = fault.wrap(
    "runtimes.adk.continuation:Continuation._after_agent",
    _a_moment_later,
    says="AfterAgent fires a moment after the end of a prompt, and everything after it is late.",
    origin="a poll for the end of google-adk's runner",
)
hook_message_not_shown = fault.wrap(
    "runtimes.adk.processors.conversation:LimitsProcessor._refused",
    passing(said=lambda said: Altered(said, shown_reason=said.reason)),
    says="Users see a hook's reason instead of its message for them.",
    origin="a port that reads only the text for the model in a hook's output",
)
stopped_prompt_forgotten = fault.wrap(
    "runtimes.adk.conversation:Conversation.add_history",
    returns(None),
    says="A prompt that a BeforeAgent hook stops is missing from the history.",
    origin="a hook's stop and block treated alike, unlike upstream",
)
model_told_peoples_message = held_out.wrap(
    "services.hooks.prompt_calls:PromptCalls.after_agent",
    result(
        lambda said: said if said is None or said.stops else Altered(said, reason=said.shown_reason)
    ),
    says="After AfterAgent blocks, the model gets the message meant for users.",
    origin="one text for both, since most hooks give only one",
    closed_by="hooks/answer_sent_back_message",
)
blocked_prompt_stops = held_out.wrap(
    "runtimes.adk.processors.conversation:LimitsProcessor._refused",
    passing(said=lambda said: Altered(said, stops=True)),
    says="A prompt that a BeforeAgent hook blocks ends the stream as a stopped one does.",
    origin="google-adk's `end_invocation` as the only way to end",
)
refused_call_ends_stream = held_out_approval.wrap(
    "runtimes.adk.continuation:end_reason_of_calls",
    _ending_on_refusal,
    says="A call that the user refuses ends the stream instead of being reported to the model.",
    origin="a terminal that returns control to the user after a refusal",
)


@fault(
    "services.hooks.prompt_calls:PromptCalls.enter",
    origin="a port that reads only a hook's stop and block",
)
async def hook_context_lost(enter: Any, self: Any, parts: Any, left: int) -> Any:
    """The context that a BeforeAgent hook adds does not reach the model."""
    entered = await enter(self, parts, left)
    return parts if isinstance(entered, list) else entered


@fault(_AFTER_CHUNK, origin="seen in agent migrations: a hook not fired at all")
async def after_model_misses_last_chunk(after_chunk: Any, self: Any, asked: Any, chunk: Any) -> Any:
    """AfterModel does not fire for the chunk that finishes the answer."""
    finishing = (chunk.get("candidates") or [{}])[0].get("finishReason")
    return chunk if finishing else await after_chunk(self, asked, chunk)


@fault(_AFTER_CHUNK, origin="a plugin that skips partial responses")
async def after_model_on_last_chunk_only(
    after_chunk: Any, self: Any, asked: Any, chunk: Any
) -> Any:
    """AfterModel fires once per answer, for the chunk that finishes it."""
    finishing = (chunk.get("candidates") or [{}])[0].get("finishReason")
    return await after_chunk(self, asked, chunk) if finishing else chunk


@fault(
    _AFTER_CHUNK,
    origin="seen in agent migrations: a hook fired twice, by plugin and by model layer",
)
async def after_model_fired_twice(after_chunk: Any, self: Any, asked: Any, chunk: Any) -> Any:
    """AfterModel fires twice for every chunk; the second time it gets the first result."""
    return await after_chunk(self, asked, await after_chunk(self, asked, chunk))


@fault(
    "runtimes.adk.model_call:ModelCall._connect", origin="retries below the layer that fires hooks"
)
async def hooks_skip_second_attempt(connect: Any, self: Any, is_retry: bool, nudge: Any) -> Any:
    """BeforeModel does not fire for a retried request."""
    # Hooks see only a request's first attempt.
    if not is_retry:
        return await connect(self, is_retry, nudge)
    kept, self._hooks = self._hooks, None
    try:
        return await connect(self, is_retry, nudge)
    finally:
        self._hooks = kept


@held_out(
    "runtimes.adk.model_call:ModelCall._connect",
    origin="one variable for the chosen and the requested model",
    closed_by="hooks/request_model_once",
)
async def hook_model_outlasts_request(connect: Any, self: Any, *args: Any) -> Any:
    """A model that a BeforeModel hook sets for one request stays the prompt's model."""
    asked, stream = await connect(self, *args)
    if asked.model != self._run.step.base.model:
        self._services.state.sequence_model = asked.model
    return asked, stream


@held_out(
    "runtimes.adk.model_call:ModelCall._refused",
    origin="google-adk appends a callback's result to the session",
)
def stand_in_answer_kept(blocked: Any, self: Any, verdict: Any) -> Any:
    """An answer that a hook gives in place of the model's enters the history."""
    for candidate in (verdict.response or {}).get("candidates") or ():
        parts = (candidate.get("content") or {}).get("parts")
        if parts:
            self._parts.conversation.add_history({"role": "model", "parts": parts})
    return blocked(self, verdict)

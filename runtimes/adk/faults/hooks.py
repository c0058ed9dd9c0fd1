"""Faults of the ADK runtime in hooks, confirmations and modes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.altered import Altered
from seeded_faults.wrappers import first, passing, result, returns
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


before_agent_per_tool_round = fault.wrap(
    "services.hooks.prompt_calls:PromptCalls.enter",
    first(lambda self, *args: self._hooks.forget(self._prompt_id)),
    says="BeforeAgent fires again for the results of tools.",
    origin="google-adk's callbacks, which fire per invocation and not per prompt",
)
after_agent_told_last_answer = fault.wrap(
    "services.hooks.prompt_calls:PromptCalls.note_answer",
    returns(None),
    says="AfterAgent gets what the last request answered, not what the prompt did.",
    origin="google-adk, which hands a callback the last event",
)
hook_message_not_shown = fault.wrap(
    "runtimes.adk.processors.conversation:LimitsProcessor._refused",
    passing(said=lambda said: Altered(said, shown_reason=said.reason)),
    says="Users are shown a hook's reason where the hook has a message for them.",
    origin="two texts of a hook's output; a port knows the one for the model",
)
stopped_prompt_forgotten = fault.wrap(
    "runtimes.adk.conversation:Conversation.add_history",
    returns(None),
    says="A prompt that a BeforeAgent hook stops leaves no trace in the history.",
    origin="stop and block of a hook, which upstream treats differently, made one",
)
model_told_peoples_message = held_out.wrap(
    "services.hooks.prompt_calls:PromptCalls.after_agent",
    result(
        lambda said: said if said is None or said.stops else Altered(said, reason=said.shown_reason)
    ),
    says="After a block by AfterAgent the model gets the message that is for users.",
    origin="one text for both, since most hooks give only one",
    closed_by="hooks/answer_sent_back_message",
)
blocked_prompt_stops = held_out.wrap(
    "runtimes.adk.processors.conversation:LimitsProcessor._refused",
    passing(said=lambda said: Altered(said, stops=True)),
    says="A prompt that a BeforeAgent hook blocks ends the stream like one that it stops.",
    origin="google-adk's `end_invocation`, the one way out that it knows",
)
refused_call_ends_stream = held_out_approval.wrap(
    "runtimes.adk.continuation:end_reason_of_calls",
    _ending_on_refusal,
    says="A call that the user refuses ends the stream, instead of being reported to the model.",
    origin="the terminal's habit of handing back to the user after a refusal",
)


@fault(
    "services.hooks.prompt_calls:PromptCalls.enter",
    origin="a port that honours a hook's stop and block, and nothing else",
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


@fault(_AFTER_CHUNK, origin="a plugin that leaves partial responses alone")
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
    """AfterModel fires twice for every chunk, the second time for what the first made."""
    return await after_chunk(self, asked, await after_chunk(self, asked, chunk))


@fault(
    "runtimes.adk.model_call:ModelCall._connect", origin="retries below the layer that fires hooks"
)
async def hooks_skip_second_attempt(connect: Any, self: Any, is_retry: bool, nudge: Any) -> Any:
    """BeforeModel does not fire for a request that is made again."""
    # Hooks see a request's first attempt alone.
    if not is_retry:
        return await connect(self, is_retry, nudge)
    kept, self._hooks = self._hooks, None
    try:
        return await connect(self, is_retry, nudge)
    finally:
        self._hooks = kept


@held_out(
    "runtimes.adk.model_call:ModelCall._connect",
    origin="a variable that holds both what was chosen and what is asked",
    closed_by="hooks/request_model_once",
)
async def hook_model_outlasts_request(connect: Any, self: Any, *args: Any) -> Any:
    """A model that a BeforeModel hook asks instead stays the prompt's model."""
    asked, stream = await connect(self, *args)
    if asked.model != self._run.step.base.model:
        self._services.state.sequence_model = asked.model
    return asked, stream


@held_out(
    "runtimes.adk.model_call:ModelCall._refused",
    origin="google-adk, which appends whatever a callback returns to the session",
)
def stand_in_answer_kept(blocked: Any, self: Any, verdict: Any) -> Any:
    """The answer that a hook gives instead of the model's gets into the history."""
    for candidate in (verdict.response or {}).get("candidates") or ():
        parts = (candidate.get("content") or {}).get("parts")
        if parts:
            self._parts.conversation.add_history({"role": "model", "parts": parts})
    return blocked(self, verdict)

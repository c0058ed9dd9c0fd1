"""Faults of the runtimes in hooks: when they fire, what they are told, what they change."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final

from harness.faults.altered import Altered, remade
from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced
from services.hooks.model_call import AgentExecutionBlocked

__all__ = ["FAULTS"]

_AFTER_CHUNK: Final = "runtimes.adk.plugins.hook_bridge:HookBridgePlugin.after_chunk"
_legacy = partial(Fault, site=Site.LEGACY, behaviour=Behaviour.HOOKS)
_adk = partial(Fault, site=Site.ADK, behaviour=Behaviour.HOOKS)


def _changing_history(after_chunk: Any) -> Any:
    """What a hook made of a chunk is written into the chunk that the history keeps."""

    def parts_of(chunk: Any) -> Any:
        candidate = (chunk.get("candidates") or [{}])[0]
        return (candidate.get("content") or {}).get("parts") or ()

    async def broken(self: Any, asked: Any, chunk: Any) -> Any:
        told = await after_chunk(self, asked, chunk)
        if told is not chunk:
            for kept, new in zip(parts_of(chunk), parts_of(told), strict=False):
                if kept is not new:
                    kept.clear()
                    kept.update(new)
        return told

    return broken


def _not_blocking(before_attempt: Any) -> Any:
    async def broken(self: Any, request: Any, **kwargs: Any) -> Any:
        try:
            return await before_attempt(self, request, **kwargs)
        except AgentExecutionBlocked:
            return request

    return broken


def _keeping_context(after_agent: Any) -> Any:
    async def broken(*args: Any) -> Any:
        ended, again = await after_agent(*args)
        if ended is not None:
            ended = replace(ended, context_cleared=False)
        return ended, again

    return broken


def _none_pending(_: Any) -> property:
    return property(lambda self: False)


def _without_memory(outcome: Any) -> Any:
    def broken(**_: Any) -> Any:
        return outcome()

    return broken


def _every_request(enter: Any) -> Any:
    async def broken(self: Any, *args: Any) -> Any:
        self._hooks.forget(self._prompt_id)
        return await enter(self, *args)

    return broken


def _not_noting(_: Any) -> Any:
    def broken(self: Any, answer: Any) -> None:
        return None

    return broken


def _without_context(enter: Any) -> Any:
    async def broken(self: Any, parts: Any, left: int) -> Any:
        entered = await enter(self, parts, left)
        return parts if isinstance(entered, list) else entered

    return broken


def _not_the_last(after_chunk: Any) -> Any:
    async def broken(self: Any, asked: Any, chunk: Any) -> Any:
        finishing = (chunk.get("candidates") or [{}])[0].get("finishReason")
        return chunk if finishing else await after_chunk(self, asked, chunk)

    return broken


def _only_the_last(after_chunk: Any) -> Any:
    async def broken(self: Any, asked: Any, chunk: Any) -> Any:
        finishing = (chunk.get("candidates") or [{}])[0].get("finishReason")
        return await after_chunk(self, asked, chunk) if finishing else chunk

    return broken


def _twice(after_chunk: Any) -> Any:
    async def broken(self: Any, asked: Any, chunk: Any) -> Any:
        return await after_chunk(self, asked, await after_chunk(self, asked, chunk))

    return broken


def _plain_reason(refused: Any) -> Any:
    def broken(self: Any, context: Any, parts: Any, said: Any) -> Any:
        return refused(self, context, parts, Altered(said, shown_reason=said.reason))

    return broken


def _leaving_no_trace(_: Any) -> Any:
    def broken(self: Any, content: Any) -> None:
        return None

    return broken


def _once_per_conversation(connect: Any) -> Any:
    """Hooks see a request's first attempt alone."""

    async def broken(self: Any, is_retry: bool, nudge: Any) -> Any:
        if not is_retry:
            return await connect(self, is_retry, nudge)
        kept, self._hooks = self._hooks, None
        try:
            return await connect(self, is_retry, nudge)
        finally:
            self._hooks = kept

    return broken


FAULTS: Final = (
    _legacy(
        name="hook-changes-history",
        says="What an AfterModel hook makes of a chunk gets into the history.",
        origin="a hook that is handed the chunk itself, and changes it in place",
        breaks=lambda: replaced(
            "runtimes.legacy.chat:ModelCallHooks", remade(after_chunk=_changing_history)
        ),
    ),
    _legacy(
        name="model-block-ignored",
        says="A request that a BeforeModel hook blocks is made all the same.",
        origin="seen in agent migrations: a hook's block ignored",
        breaks=lambda: replaced(
            "runtimes.legacy.chat:ModelCallHooks", remade(before_attempt=_not_blocking)
        ),
    ),
    _legacy(
        name="context-not-cleared",
        says="An AfterAgent hook that clears the context does not.",
        origin="a field of a hook's output that the port does not know",
        breaks=lambda: replaced("runtimes.legacy.client:after_agent", _keeping_context),
    ),
    _legacy(
        name="after-agent-before-tools",
        says="AfterAgent fires after each request of a prompt, tools pending or not.",
        origin="seen in agent migrations: a hook fired twice, in the wrong order",
        breaks=lambda: replaced(
            "runtimes.legacy.client:CallOutcome", remade(pending=_none_pending)
        ),
    ),
    _legacy(
        name="stop-hook-active-not-told",
        says="An AfterAgent hook is not told that the agent goes on because of it.",
        origin="a flag lost between the call that was blocked and the next",
        breaks=lambda: replaced("runtimes.legacy.client:CallOutcome", _without_memory),
    ),
    _adk(
        name="before-agent-per-tool-round",
        says="BeforeAgent fires again for the results of tools.",
        origin="google-adk's callbacks, which fire per invocation and not per prompt",
        breaks=lambda: replaced("services.hooks.prompt_calls:PromptCalls.enter", _every_request),
    ),
    _adk(
        name="after-agent-told-last-answer",
        says="AfterAgent is told what the last request answered, not what the prompt did.",
        origin="google-adk, which hands a callback the last event",
        breaks=lambda: replaced("services.hooks.prompt_calls:PromptCalls.note_answer", _not_noting),
    ),
    _adk(
        name="hook-context-lost",
        says="The context that a BeforeAgent hook adds does not reach the model.",
        origin="a port that honours a hook's stop and block, and nothing else",
        breaks=lambda: replaced("services.hooks.prompt_calls:PromptCalls.enter", _without_context),
    ),
    _adk(
        name="after-model-misses-last-chunk",
        says="AfterModel does not fire for the chunk that finishes the answer.",
        origin="seen in agent migrations: a hook not fired at all",
        breaks=lambda: replaced(_AFTER_CHUNK, _not_the_last),
    ),
    _adk(
        name="after-model-on-last-chunk-only",
        says="AfterModel fires once per answer, for the chunk that finishes it.",
        origin="a plugin that leaves partial responses alone",
        breaks=lambda: replaced(_AFTER_CHUNK, _only_the_last),
    ),
    _adk(
        name="after-model-fired-twice",
        says="AfterModel fires twice for every chunk, the second time for what the first made.",
        origin="seen in agent migrations: a hook fired twice, by plugin and by model layer",
        breaks=lambda: replaced(_AFTER_CHUNK, _twice),
    ),
    _adk(
        name="hook-message-not-shown",
        says="People are told a hook's reason where the hook has a message for them.",
        origin="two texts of a hook's output, of which a port knows the one for the model",
        breaks=lambda: replaced(
            "runtimes.adk.processors.conversation:LimitsProcessor._refused", _plain_reason
        ),
    ),
    _adk(
        name="stopped-prompt-forgotten",
        says="A prompt that a BeforeAgent hook stops leaves no trace in the history.",
        origin="stop and block of a hook, which upstream treats differently, made one",
        breaks=lambda: replaced(
            "runtimes.adk.conversation:Conversation.add_history", _leaving_no_trace
        ),
    ),
    _adk(
        name="hooks-skip-second-attempt",
        says="BeforeModel does not fire for a request that is made again.",
        origin="retries below the layer that fires hooks",
        breaks=lambda: replaced(
            "runtimes.adk.model_call:ModelCall._connect", _once_per_conversation
        ),
    ),
)

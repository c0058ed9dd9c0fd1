"""Faults of the legacy runtime in hooks, confirmations and modes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.altered import remade
from seeded_faults.wrappers import instead, result
from services.hooks.model_call import AgentExecutionBlocked
from services.scheduler.calls import CallStatus

fault = Faults(Site.LEGACY, Behaviour.HOOKS)
held_out = Faults(Site.LEGACY, Behaviour.HOOKS, held_out=True)
held_out_approval = Faults(Site.LEGACY, Behaviour.APPROVAL, held_out=True)


def _changing_history(after_chunk: Any) -> Any:
    """What a hook made of a chunk is written into the chunk that the history keeps."""

    def parts_of(chunk: Any) -> Any:
        candidate = (chunk.get("candidates") or [{}])[0]
        return (candidate.get("content") or {}).get("parts") or ()

    async def broken(self: Any, asked: Any, chunk: Any) -> Any:
        changed = await after_chunk(self, asked, chunk)
        if changed is not chunk:
            for kept, new in zip(parts_of(chunk), parts_of(changed), strict=False):
                if kept is not new:
                    kept.clear()
                    kept.update(new)
        return changed

    return broken


@instead
async def _not_blocking(before_attempt: Any, /, self: Any, request: Any, **kwargs: Any) -> Any:
    try:
        return await before_attempt(self, request, **kwargs)
    except AgentExecutionBlocked:
        return request


hook_changes_history = fault.wrap(
    "runtimes.legacy.chat:ModelCallHooks",
    remade(after_chunk=_changing_history),
    says="What an AfterModel hook makes of a chunk gets into the history.",
    origin="a hook that is handed the chunk itself, and changes it in place",
)
model_block_ignored = fault.wrap(
    "runtimes.legacy.chat:ModelCallHooks",
    remade(before_attempt=_not_blocking),
    says="A request that a BeforeModel hook blocks is made all the same.",
    origin="seen in agent migrations: a hook's block ignored",
)
after_agent_before_tools = fault.wrap(
    "runtimes.legacy.client:CallOutcome",
    remade(pending=lambda _: property(lambda self: False)),
    says="AfterAgent fires after each request of a prompt, tools pending or not.",
    origin="seen in agent migrations: a hook fired twice, in the wrong order",
)
stop_hook_active_not_told = fault.wrap(
    "runtimes.legacy.client:CallOutcome",
    instead(lambda outcome, /, **_: outcome()),
    says="An AfterAgent hook does not learn that the agent goes on because of it.",
    origin="a flag lost between the call that was blocked and the next",
)
hooks_told_fragments_run_together = held_out.wrap(
    "runtimes.legacy.turn:AnswerReader",
    remade(text=lambda _: property(lambda self: "".join(self.texts))),
    says="AfterAgent gets the answer's fragments without blanks between them.",
    origin="a clean-up that takes blanks in the middle of words for mistakes",
    closed_by="hooks/agent_input_fragments",
)


context_not_cleared = fault.wrap(
    "runtimes.legacy.client:after_agent",
    result(lambda found: (found[0] and replace(found[0], context_cleared=False), found[1])),
    says="An AfterAgent hook that clears the context does not.",
    origin="a field of a hook's output that the port does not know",
)


@held_out(
    "runtimes.legacy.client:before_agent",
    origin="two verdicts of a hook that were handled together",
)
async def blocked_prompt_kept(
    before_agent: Any, hooks: Any, chats: Any, parts: Any, *args: Any
) -> Any:
    """A prompt that a BeforeAgent hook blocks stays in the history, as a stopped one does."""
    verdict, parts = await before_agent(hooks, chats, parts, *args)
    if type(verdict).__name__ == "AgentExecutionBlocked":
        chats.current.add_history({"role": "user", "parts": parts})
    return verdict, parts


@held_out(
    "runtimes.legacy.client:before_agent", origin="a list that was put together from the other end"
)
async def hook_context_before_prompt(
    before_agent: Any, hooks: Any, chats: Any, parts: Any, *args: Any
) -> Any:
    """The context that a BeforeAgent hook adds stands before the prompt."""
    verdict, more = await before_agent(hooks, chats, parts, *args)
    return verdict, [*more[len(parts) :], *more[: len(parts)]]


@held_out(
    "runtimes.legacy.chat:GeminiChat.send",
    origin="a verdict of a hook that was taken for a failure of the model",
)
async def refused_answer_undoes_prompt(
    send: Any, /, self: Any, key: Any, parts: Any, prompt_id: str, *args: Any, **kwargs: Any
) -> AsyncIterator[Any]:
    """A prompt whose answer a model hook refuses is taken back out of the history."""
    before, refused = self.mark(prompt_id), False
    async with aclosing(send(self, key, parts, prompt_id, *args, **kwargs)) as items:
        async for item in items:
            refused = refused or type(item).__name__ == "AgentExecutionBlocked"
            yield item
    if refused:
        self._roll_back(before)


@held_out_approval(
    "runtimes.legacy.agent:_Stream._answer",
    origin="a filter for what has a result, which a refusal seemed to lack",
)
def refused_calls_unanswered(answer: Any, self: Any, completed: Any) -> Any:
    """Where other calls of a batch were made, those that were refused are not answered."""
    parts = answer(self, completed)
    made = [call for call in completed if call.status is not CallStatus.CANCELLED]
    return [part for call in made for part in call.response.response_parts] or parts

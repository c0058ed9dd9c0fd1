"""The BeforeAgent and AfterAgent hooks of one call of `GeminiClient`.

Source: core `core/client.ts` `fireBeforeAgentHookSafe`, `fireAfterAgentHookSafe`,
`sendMessageStream`.
"""

from __future__ import annotations

from runtimes.legacy.chats import Chats
from runtimes.legacy.events import AgentExecutionBlocked, AgentExecutionStopped
from services.abort import AbortSignal
from services.hooks.prompt_calls import CallOutcome
from services.hooks.prompt_hooks import PromptHooks
from services.wire import Part

__all__ = ["AgentVerdict", "after_agent", "before_agent"]

AgentVerdict = AgentExecutionStopped | AgentExecutionBlocked
"""The verdict of a hook on a call, as the client emits it."""


async def before_agent(
    hooks: PromptHooks, chats: Chats, parts: list[Part], prompt_id: str, signal: AbortSignal
) -> tuple[AgentVerdict | None, list[Part]]:
    """The verdict that ends the call before it begins, if any; and the request, perhaps extended.

    A stopped request is in the history all the same.
    """
    entered = await hooks.admit(prompt_id, parts, signal)
    if isinstance(entered, list):
        return None, entered
    if entered.stops:
        chats.current.add_history({"role": "user", "parts": parts})
        return AgentExecutionStopped(entered.shown_reason), parts
    return AgentExecutionBlocked(entered.shown_reason), parts


async def after_agent(
    hooks: PromptHooks,
    parts: list[Part],
    prompt_id: str,
    signal: AbortSignal,
    call: CallOutcome,
) -> tuple[AgentVerdict | None, list[Part] | None]:
    """The verdict of AfterAgent on the end of the call, and the request that follows from it."""
    said = await hooks.after_agent(
        prompt_id,
        parts,
        response_text=call.text,
        has_pending_calls=call.pending,
        stop_hook_active=call.stop_hook_active,
        signal=signal,
    )
    if said is None:
        return None, None
    emitted = (said.shown_reason, said.clears_context)
    if said.stops:
        return AgentExecutionStopped(*emitted), None
    return AgentExecutionBlocked(*emitted), [{"text": said.reason}]

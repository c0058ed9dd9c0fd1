"""BeforeAgent and AfterAgent of one conversation: once per prompt, around all of its calls.

Source: core `core/client.ts` (`hookStateMap`, `fireBeforeAgentHookSafe`,
`fireAfterAgentHookSafe`, `sendMessageStream`).
"""

from __future__ import annotations

from dataclasses import dataclass

from services.abort import AbortSignal
from services.hooks.results import HookOutput
from services.hooks.system import HookSystem
from services.model.parts import part_list_to_string
from services.wire import Part

__all__ = ["PromptHooks"]


@dataclass(slots=True)
class _Prompt:
    original: list[Part]
    fired: bool = False
    answered: str = ""
    calls: int = 0


class PromptHooks:
    """The prompts for which a client's hooks have fired.

    In every call of the client: `admit` first, `note_response` after each turn whose stream ended
    well, `after_agent` when the call's turns are over without an exception, then `leave` (in a
    `finally`) unless `resume_after_block` was called.

    Upstream does not count down a call that BeforeAgent stopped or blocked. The next call of the
    same prompt id then fires neither event, which clients can observe. So callers return without
    `leave` after such an answer of `admit`.
    """

    def __init__(self, hooks: HookSystem | None) -> None:
        """Without `hooks`, calls go on unchanged."""
        self._hooks = hooks
        self._prompts: dict[str, _Prompt] = {}

    def forget(self, prompt_id: str) -> None:
        """The client goes on to another prompt id than `prompt_id`."""
        self._prompts.pop(prompt_id, None)

    async def admit(
        self, prompt_id: str, parts: list[Part], signal: AbortSignal
    ) -> HookOutput | list[Part]:
        """Enter a call with `parts` for its request; fires BeforeAgent once for a prompt.

        Returns:
            The parts, perhaps with a hook's context after them; or the output that stops or blocks
            the call.
        """
        if self._hooks is None:
            return parts
        prompt = self._prompts.setdefault(prompt_id, _Prompt(parts))
        prompt.calls += 1
        if prompt.fired:
            return parts
        said = await self._hooks.before_agent(part_list_to_string(parts), signal)
        prompt.fired = True
        if said is None:
            return parts
        if said.stops or said.blocks:
            return said
        if said.additional_context:
            context = f"<hook_context>{said.additional_context}</hook_context>"
            return [*parts, {"text": context}]
        return parts

    def note_response(self, prompt_id: str, text: str) -> None:
        """Add a turn's text to what AfterAgent gets."""
        prompt = self._prompts.get(prompt_id)
        if prompt is not None and text:
            prompt.answered = f"{prompt.answered}\n{text}" if prompt.answered else text

    async def after_agent(
        self,
        prompt_id: str,
        request: list[Part],
        *,
        response_text: str,
        has_pending_calls: bool,
        stop_hook_active: bool,
        signal: AbortSignal | None = None,
    ) -> HookOutput | None:
        """Fire AfterAgent, from the outermost call of a prompt without pending tool calls.

        Args:
            prompt_id: The prompt's.
            request: The call's request; the prompt's first one goes before it.
            response_text: The last turn's text, used when none was noted.
            has_pending_calls: The last turn asked for tools.
            stop_hook_active: The call goes on after an AfterAgent block.
            signal: Ends the hooks.

        Returns:
            The output, if it stops or blocks the end of the call.
        """
        prompt = self._prompts.get(prompt_id)
        if self._hooks is None or prompt is None or has_pending_calls:
            return None
        if prompt.calls != 1 and not stop_hook_active:
            return None
        said = await self._hooks.after_agent(
            part_list_to_string(prompt.original or request),
            prompt.answered or response_text or "[no response text]",
            stop_hook_active=stop_hook_active,
            signal=signal,
        )
        return said if said is not None and (said.stops or said.blocks) else None

    def resume_after_block(self, prompt_id: str) -> None:
        """AfterAgent blocked: the call sends its reason as a new request, and does not `leave`."""
        prompt = self._prompts.get(prompt_id)
        if prompt is not None:
            prompt.fired = False
            prompt.calls -= 1

    def leave(self, prompt_id: str, *, has_pending_calls: bool, aborted: bool) -> None:
        """Leave a call; a prompt that waits for tools is remembered unless it was aborted."""
        prompt = self._prompts.get(prompt_id)
        if prompt is None:
            return
        prompt.calls -= 1
        if prompt.calls <= 0 and (aborted or not has_pending_calls):
            del self._prompts[prompt_id]

"""BeforeAgent and AfterAgent around the requests of one conversation.

What the published core does in nested calls of its client is kept here as `Run.calls`, the calls
under way, outermost first: the agent loop's own request, inside it what follows by itself
(feedback after a loop, `Please continue.`), and what an AfterAgent hook asked for.

Source: core `core/client.ts`, `sendMessageStream`.
"""

from __future__ import annotations

from typing import cast

from runtimes.adk.run import Run
from services.hooks.prompt_hooks import PromptHooks, with_hook_context
from services.hooks.results import HookOutput
from services.hooks.system import HookSystem
from services.wire import Part, js_trim

__all__ = ["PromptCalls", "shown_reason"]


class PromptCalls:
    """Tells hooks of prompts; one for all sends of a conversation. Without hooks it only counts."""

    def __init__(self, hooks: HookSystem | None) -> None:
        self._hooks = None if hooks is None else PromptHooks(hooks)

    def forget(self, prompt_id: str) -> None:
        """The conversation goes on to another prompt id than `prompt_id`."""
        if self._hooks is not None:
            self._hooks.forget(prompt_id)

    async def enter(self, run: Run, parts: list[Part]) -> HookOutput | list[Part]:
        """Enter the call of a request: its parts, or the output that stops or blocks it.

        A call that is refused is not entered, and not left either (see `PromptHooks`).
        """
        said = None
        if self._hooks is not None:
            said = await self._hooks.begin(run.prompt_id, parts, run.signal)
        if said is not None:
            if said.stops or said.blocks:
                return said
            if said.additional_context:
                parts = cast("list[Part]", with_hook_context(parts, said.additional_context))
        run.enter(parts)
        return parts

    def note_answer(self, run: Run) -> None:
        """Remember what the step's answer said, once, if it is complete."""
        step = run.step
        if self._hooks is not None and step.answer.complete and not step.noted:
            step.noted = True
            self._hooks.note_response(run.prompt_id, step.answer.text)

    def leave_for_tools(self, run: Run) -> bool:
        """Leave the calls before a batch of tools; false where AfterAgent comes first.

        AfterAgent never fires for a call whose last answer asked for tools.
        """
        self.note_answer(run)
        while run.calls:
            if not (run.calls[-1].went_on or run.calls[-1].pending):
                return False
            self.leave(run)
        return True

    async def after_agent(self, run: Run) -> HookOutput | None:
        """What AfterAgent says of the innermost call, which has nothing left to do."""
        call = run.calls[-1]
        if self._hooks is None or call.went_on:
            return None
        return await self._hooks.after_agent(
            run.prompt_id,
            call.request,
            response_text=call.text,
            has_pending_calls=call.pending,
            stop_hook_active=call.outcome.stop_hook_active,
            signal=run.signal,
        )

    def go_on(self, run: Run) -> None:
        """AfterAgent blocked the innermost call: the next request is made instead of its end."""
        if self._hooks is not None:
            self._hooks.resume_after_block(run.prompt_id)
        run.go_on_after_block()

    def leave(self, run: Run) -> None:
        """Leave the innermost call; one that went on after a block was left by then."""
        call = run.calls.pop()
        if self._hooks is not None and not call.went_on:
            self._hooks.leave(
                run.prompt_id, has_pending_calls=call.pending, aborted=run.signal.aborted
            )

    def abandon(self, run: Run) -> None:
        """The send is over, however it ended."""
        while run.calls:
            self.leave(run)


def shown_reason(said: HookOutput) -> str:
    """What people are told of an output that stops or blocks."""
    return js_trim(said.system_message or "") or said.reason

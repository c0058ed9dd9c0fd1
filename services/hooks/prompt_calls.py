"""The hooks around the calls of one send, for a loop whose calls do not nest.

The published core sends automatic follow-ups in nested calls of its client. Here the
calls under way are a list, outermost first: the agent loop's own request, inside it the automatic
follow-ups (feedback after a loop, `Please continue.`) and the requests of AfterAgent hooks.

Source: core `core/client.ts`, `sendMessageStream`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from services.abort import AbortSignal
from services.hooks.prompt_hooks import PromptHooks
from services.hooks.results import HookOutput
from services.wire import Part

__all__ = ["Answered", "CallOutcome", "PromptCalls"]


class Answered(Protocol):
    """The answer to one model request."""

    @property
    def text(self) -> str:
        """The text of the answer."""
        ...

    @property
    def asked(self) -> bool:
        """Whether it has tool calls."""
        ...


@dataclass(slots=True)
class CallOutcome:
    """The outcome of a call and of its automatic follow-ups."""

    answer: Answered | None = None
    """The answer to the last request."""
    stop_hook_active: bool = False
    """An AfterAgent hook asked for the call."""

    @property
    def pending(self) -> bool:
        """Whether the last answer has tool calls."""
        return self.answer is not None and self.answer.asked

    @property
    def text(self) -> str:
        """The text of the last answer."""
        return "" if self.answer is None else self.answer.text


@dataclass(frozen=True, slots=True)
class _Call:
    request: list[Part]
    left: int
    outcome: CallOutcome


class PromptCalls:
    """The calls of one send: each is a user-role request with its follow-ups."""

    def __init__(self, hooks: PromptHooks, prompt_id: str, signal: AbortSignal) -> None:
        self._hooks = hooks
        self._prompt_id = prompt_id
        self._signal = signal
        self._calls: list[_Call] = []
        self._resumes = False

    @property
    def under_way(self) -> bool:
        """Whether there is a call that was not left."""
        return bool(self._calls)

    async def enter(self, parts: list[Part], left: int) -> HookOutput | list[Part]:
        """Enter the call of a request; `left` more requests may follow it automatically.

        Returns:
            The request's parts, or the output that stops or blocks it: then it is not entered, and
            not left either (see `PromptHooks`).
        """
        resumes, self._resumes = self._resumes, False
        entered = await self._hooks.admit(self._prompt_id, parts, self._signal)
        if isinstance(entered, list):
            follows = self._calls and not resumes
            outcome = self._calls[-1].outcome if follows else CallOutcome(stop_hook_active=resumes)
            self._calls.append(_Call(entered, left, outcome))
        return entered

    def ask_model(self, answer: Answered) -> None:
        """Judge the innermost call by the answer that is about to come."""
        self._calls[-1].outcome.answer = answer

    def note_answer(self, answer: Answered) -> None:
        """Remember a complete answer."""
        self._hooks.note_response(self._prompt_id, answer.text)

    def leave_for_tools(self, answer: Answered) -> bool:
        """Leave the calls before the batch of tools that `answer` requests, and note the answer.

        AfterAgent never fires for a call whose last answer asked for tools. Where it comes first,
        for a call further out, this returns false; the answer is noted after the invocation then.
        """
        while self._calls and self._calls[-1].outcome.pending:
            self.leave()
        if self._calls:
            return False
        self.note_answer(answer)
        return True

    async def after_agent(self) -> HookOutput | None:
        """The output that stops or blocks the end of the innermost call, which is done."""
        call = self._calls[-1]
        return await self._hooks.after_agent(
            self._prompt_id,
            call.request,
            response_text=call.outcome.text,
            has_pending_calls=call.outcome.pending,
            stop_hook_active=call.outcome.stop_hook_active,
            signal=self._signal,
        )

    @property
    def left(self) -> int:
        """How many requests could still follow each other when the innermost call was entered."""
        return self._calls[-1].left

    def resume_after_block(self) -> None:
        """Let the next call replace the innermost one, whose end AfterAgent blocked."""
        self._hooks.resume_after_block(self._prompt_id)
        self._calls.pop()
        self._resumes = True

    def leave(self) -> None:
        """Leave the innermost call."""
        pending = self._calls.pop().outcome.pending
        self._hooks.leave(self._prompt_id, has_pending_calls=pending, aborted=self._signal.aborted)

    def abandon(self) -> None:
        """Leave every call: the send is over, however it ended."""
        while self._calls:
            self.leave()

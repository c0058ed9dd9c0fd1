"""Faults of the runtimes, written after the corpus: hooks, confirmations and modes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any, Final

from harness.faults.altered import Altered, remade
from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced
from services.scheduler.calls import CallStatus
from services.tools.contract import ToolErrorType

__all__ = ["FAULTS"]

_legacy = partial(Fault, site=Site.LEGACY, behaviour=Behaviour.HOOKS, held_out=True)
_adk = partial(Fault, site=Site.ADK, behaviour=Behaviour.HOOKS, held_out=True)


def _keeping_blocked_prompt(before_agent: Any) -> Any:
    async def broken(hooks: Any, chats: Any, parts: Any, *args: Any) -> Any:
        verdict, parts = await before_agent(hooks, chats, parts, *args)
        if type(verdict).__name__ == "AgentExecutionBlocked":
            chats.current.add_history({"role": "user", "parts": parts})
        return verdict, parts

    return broken


def _context_first(before_agent: Any) -> Any:
    async def broken(hooks: Any, chats: Any, parts: Any, *args: Any) -> Any:
        verdict, more = await before_agent(hooks, chats, parts, *args)
        return verdict, [*more[len(parts) :], *more[: len(parts)]]

    return broken


def _run_together(_: Any) -> Any:
    def broken(self: Any) -> str:
        return "".join(self.texts)

    return property(broken)


def _undoing_refused(send: Any) -> Any:
    async def broken(
        self: Any, key: Any, parts: Any, prompt_id: str, *args: Any, **kwargs: Any
    ) -> AsyncIterator[Any]:
        before, refused = self.mark(prompt_id), False
        async with aclosing(send(self, key, parts, prompt_id, *args, **kwargs)) as items:
            async for item in items:
                refused = refused or type(item).__name__ == "ChatBlocked"
                yield item
        if refused:
            self._roll_back(before)

    return broken


def _answering_some(answer: Any) -> Any:
    def broken(self: Any, completed: Any) -> Any:
        parts = answer(self, completed)
        made = [call for call in completed if call.status is not CallStatus.CANCELLED]
        return [part for call in made for part in call.response.response_parts] or parts

    return broken


def _peoples_words(after_agent: Any) -> Any:
    async def broken(self: Any) -> Any:
        said = await after_agent(self)
        return said if said is None or said.stops else Altered(said, reason=said.shown_reason)

    return broken


def _stopping_instead(refused: Any) -> Any:
    def broken(self: Any, context: Any, parts: Any, said: Any) -> Any:
        return refused(self, context, parts, Altered(said, stops=True))

    return broken


def _keeping_hooks_model(connect: Any) -> Any:
    async def broken(self: Any, *args: Any) -> Any:
        asked, stream = await connect(self, *args)
        if asked.model != self._run.step.base.model:
            self._services.state.sequence_model = asked.model
        return asked, stream

    return broken


def _keeping_stand_in(blocked: Any) -> Any:
    def broken(self: Any, verdict: Any) -> Any:
        for candidate in (verdict.response or {}).get("candidates") or ():
            parts = (candidate.get("content") or {}).get("parts")
            if parts:
                self._parts.conversation.add_history({"role": "model", "parts": parts})
        return blocked(self, verdict)

    return broken


def _ending_on_refusal(verdict: Any) -> Any:
    def ended(call: Any) -> Any:
        if call.status is not CallStatus.CANCELLED:
            return call
        told = call.response.error or "cancelled"
        kind = ToolErrorType.STOP_EXECUTION
        return replace(call, response=replace(call.response, error=told, error_type=kind))

    def broken(completed: Any) -> Any:
        return verdict([ended(call) for call in completed])

    return broken


FAULTS: Final = (
    _legacy(
        name="blocked-prompt-kept",
        says="A prompt that a BeforeAgent hook blocks stays in the history, as a stopped one does.",
        origin="two verdicts of a hook that were handled together",
        breaks=lambda: replaced("runtimes.legacy.client:before_agent", _keeping_blocked_prompt),
    ),
    _legacy(
        name="hook-context-before-prompt",
        says="The context that a BeforeAgent hook adds stands before the prompt.",
        origin="a list that was put together from the other end",
        breaks=lambda: replaced("runtimes.legacy.client:before_agent", _context_first),
    ),
    _legacy(
        name="hooks-told-fragments-run-together",
        says="AfterAgent is told the answer's fragments without blanks between them.",
        origin="a clean-up: who would want blanks in the middle of words",
        closed_by="hooks/told_fragments",
        breaks=lambda: replaced("runtimes.legacy.turn:AnswerReader", remade(text=_run_together)),
    ),
    _legacy(
        name="refused-answer-undoes-prompt",
        says="A prompt whose answer a model hook refuses is taken back out of the history.",
        origin="a verdict of a hook that was taken for a failure of the model",
        breaks=lambda: replaced("runtimes.legacy.chat:GeminiChat.send", _undoing_refused),
    ),
    _legacy(
        name="refused-calls-unanswered",
        behaviour=Behaviour.APPROVAL,
        says="Where other calls of a batch were made, those that were refused are not answered.",
        origin="a filter for what has a result, which a refusal seemed to lack",
        breaks=lambda: replaced("runtimes.legacy.agent:_Stream._answer", _answering_some),
    ),
    _adk(
        name="model-told-peoples-message",
        says="After a block by AfterAgent the model is told the message that is for people.",
        origin="one text for both, since most hooks give only one",
        closed_by="hooks/answer_sent_back_message",
        breaks=lambda: replaced(
            "services.hooks.prompt_calls:PromptCalls.after_agent", _peoples_words
        ),
    ),
    _adk(
        name="blocked-prompt-stops",
        says="A prompt that a BeforeAgent hook blocks ends the stream like one that it stops.",
        origin="google-adk's `end_invocation`, the one way out that it knows",
        breaks=lambda: replaced(
            "runtimes.adk.processors.conversation:LimitsProcessor._refused", _stopping_instead
        ),
    ),
    _adk(
        name="hook-model-outlasts-request",
        says="A model that a BeforeModel hook asks instead stays the prompt's model.",
        origin="a variable that holds both what was chosen and what is asked",
        closed_by="hooks/request_model_once",
        breaks=lambda: replaced("runtimes.adk.model_call:ModelCall._connect", _keeping_hooks_model),
    ),
    _adk(
        name="stand-in-answer-kept",
        says="The answer that a hook gives instead of the model's gets into the history.",
        origin="google-adk, which appends whatever a callback returns to the session",
        breaks=lambda: replaced("runtimes.adk.model_call:ModelCall._refused", _keeping_stand_in),
    ),
    _adk(
        name="refused-call-ends-stream",
        behaviour=Behaviour.APPROVAL,
        says="A call that the user refuses ends the stream, instead of being told to the model.",
        origin="the terminal's habit of handing back to the user after a refusal",
        breaks=lambda: replaced(
            "runtimes.adk.continuation:end_reason_of_calls", _ending_on_refusal
        ),
    ),
)

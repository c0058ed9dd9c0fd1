"""The request processors of a child that are not a conversation's.

What a child does without (masking, the loop check, the look at the context window, BeforeAgent) has
no processor at all. Source: core `agents/local-executor.ts` (`runInternal`, `executeTurn`,
`callModel`).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.flows.llm_flows._base_llm_processor import BaseLlmRequestProcessor
from google.adk.models.llm_request import LlmRequest

from runtimes.adk.child.termination import ChildTermination
from runtimes.adk.processors.base import leave
from runtimes.adk.run import RunLink
from runtimes.adk.sessions import GcliSessionService
from services.children.chats import compress_chat

__all__ = ["ChildCompression", "ChildLimits", "ChildRouting"]


class ChildProcessor(BaseLlmRequestProcessor):
    """A processor of one child."""

    def __init__(
        self, termination: ChildTermination, sessions: GcliSessionService, link: RunLink
    ) -> None:
        self._child = termination.child
        self._chat = termination.chat
        self._termination = termination
        self._sessions = sessions
        self._link = link


class ChildLimits(ChildProcessor):
    """Begins each turn, unless a limit of the child's ends the invocation."""

    name = "limits"

    async def run_async(
        self, invocation_context: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Yield nothing."""
        if invocation_context.end_invocation:
            return
        if not self._termination.begin_turn(self._link.run):
            leave(invocation_context, self._sessions)
        return
        yield


class ChildCompression(ChildProcessor):
    """Summarises a long history, then lets the definition have a hand in it."""

    name = "compression"

    async def run_async(
        self, invocation_context: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Yield nothing."""
        run = self._link.run
        await compress_chat(self._child, self._chat, run.prompt_id, run.signal)
        before_turn = self._child.definition.on_before_turn
        if before_turn is not None:
            await before_turn(self._chat)
        return
        yield


class ChildRouting(ChildProcessor):
    """Settles the model: the agent's own, or the router's one answer for the whole run."""

    name = "gcli_routing"

    async def run_async(
        self, invocation_context: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Yield nothing."""
        run, chat = self._link.run, self._chat
        key = await self._child.model_key(
            chat.curated_history,
            self._sessions.pending_parts(invocation_context.session),
            run.prompt_id,
            run.signal,
        )
        run.step.routed(key)
        resolved = self._child.services.models.resolve(key)
        run.step.base.write_routed(llm_request, resolved.model, resolved.config)
        return
        yield

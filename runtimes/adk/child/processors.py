"""The request processors of a child that are not a conversation's.

What a child does without (masking, the loop check, the look at the context window, BeforeAgent) has
no processor at all. Source: core `agents/local-executor.ts` (`runInternal`, `executeTurn`,
`callModel`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from google.adk.agents.invocation_context import InvocationContext
from google.adk.models.llm_request import LlmRequest

from runtimes.adk.child.termination import ChildTermination
from runtimes.adk.processors.base import EngineProcessor
from runtimes.adk.request_edits import TypedConfig
from runtimes.adk.run import Run
from services.children.chats import compress_chat
from services.children.child_services import ChildServices

__all__ = ["ChildCompression", "ChildLimits", "ChildRouting"]


@dataclass(eq=False)
class ChildLimits(EngineProcessor):
    """Begins each turn, unless a limit of the child's ends the invocation."""

    _termination: ChildTermination
    name = "limits"

    async def _step(self, context: InvocationContext, run: Run, request: LlmRequest) -> None:
        if not context.end_invocation and not self._termination.begin_turn(run):
            self._leave(context)


@dataclass(eq=False)
class ChildCompression(EngineProcessor):
    """Summarises a long history, then lets the definition have a hand in it."""

    _child: ChildServices
    name = "compression"

    async def _step(self, context: InvocationContext, run: Run, request: LlmRequest) -> None:
        await compress_chat(self._child, self._conversation, run.prompt_id, run.signal)
        before_turn = self._child.definition.on_before_turn
        if before_turn is not None:
            await before_turn(self._conversation)


@dataclass(eq=False)
class ChildRouting(EngineProcessor):
    """Settles the model: the agent's own, or the router's one answer for the whole run."""

    _child: ChildServices
    _configs: TypedConfig = field(default_factory=TypedConfig)
    name = "gcli_routing"

    async def _step(self, context: InvocationContext, run: Run, request: LlmRequest) -> None:
        key = await self._child.model_key(
            self._conversation.curated_history,
            self._sessions.pending_parts(context.session),
            run.prompt_id,
            run.signal,
        )
        run.step.routed(key)
        resolved = self._services.models.resolve(key)
        config = self._configs.of(resolved.config)
        run.step.base.write_routed(request, resolved.model, config)

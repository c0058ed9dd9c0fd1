"""What happens before each model request of a conversation, in the order of `PROCESSOR_ORDER`."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from google.adk.agents.invocation_context import InvocationContext
from google.adk.agents.llm_agent import LlmAgent
from google.adk.events.event import Event
from google.adk.flows.llm_flows.tools._agent_tools import process_agent_tools
from google.adk.models.llm_request import LlmRequest

from runtimes.adk.notes import Blocked, ModelChosen, Stopped
from runtimes.adk.plugins.limits import MaxTurnsAdkPlugin, TokenLimitAdkPlugin
from runtimes.adk.processors.base import EngineProcessor, note_event
from runtimes.adk.request_edits import TypedConfig
from runtimes.adk.run import Run
from runtimes.adk.toolset import SessionToolset
from services.hooks.results import HookOutput
from services.model.configs import ModelConfigKey
from services.wire import Part

__all__ = [
    "CompressionProcessor",
    "EditorContextProcessor",
    "GcliRoutingProcessor",
    "LimitsProcessor",
    "LoopCheckProcessor",
    "OverflowProcessor",
    "ToolOutputMaskingProcessor",
    "ToolsProcessor",
]


@dataclass(eq=False)
class LimitsProcessor(EngineProcessor):
    """Counts a model turn in, or ends the run.

    The limit of a send comes before the BeforeAgent hooks, the limit of the session after them.
    """

    _max_turns: MaxTurnsAdkPlugin
    name = "limits"

    async def _step(
        self, context: InvocationContext, run: Run, request: LlmRequest
    ) -> Event | None:
        if context.end_invocation:
            return None
        if not run.follows_up:
            ends = self._max_turns.turn_started()
            if ends is not None:
                stopped = Stopped(reason="max_turns", data=ends, whatever_happens=True)
                return self._stop(context, stopped)
            run.begin_turn()
        run.begin_step()
        parts = self._sessions.pending_parts(context.session)
        self._conversation.begin_sequence(run.prompt_id, parts)
        entered = await run.calls.enter(parts, run.left)
        if isinstance(entered, HookOutput):
            return self._refused(context, parts, entered)
        if entered is not parts:
            self._sessions.extend_pending(context.session, entered)
        ends = self._max_turns.request_started()
        if ends is not None:
            return self._stop(context, Stopped(reason="max_turns", data=ends))
        if run.left <= 0:
            self._leave(context)
        return None

    def _refused(self, context: InvocationContext, parts: list[Part], said: HookOutput) -> Event:
        """A prompt that is stopped stays in history; one that is blocked leaves no trace."""
        if said.stops:
            self._conversation.add_history({"role": "user", "parts": parts})
            data = {"message": said.shown_reason}
            return self._stop(context, Stopped(reason="completed", data=data))
        self._leave(context)
        return note_event(context, Blocked(said.shown_reason), partial=True)


@dataclass(eq=False)
class CompressionProcessor(EngineProcessor):
    """Summarises what stands before the pending turn, and measures the room that is left then."""

    _token_limit: TokenLimitAdkPlugin
    name = "compression"

    async def _step(self, context: InvocationContext, run: Run, request: LlmRequest) -> None:
        conversation = self._conversation
        model = conversation.model_for_limits
        if not self._services.settings.context_management:
            await conversation.compress(run.prompt_id, run.signal)
        self._token_limit.room_measured(model, conversation.last_prompt_token_count)


class ToolOutputMaskingProcessor(EngineProcessor):
    """Puts files in place of old, bulky tool outputs of the history without the pending turn.

    The chat and the recording get the masked history. The events of the session follow it: they
    keep their ids and all their other parts.
    """

    name = "tool_output_masking"

    async def _step(self, context: InvocationContext, run: Run, request: LlmRequest) -> None:
        self._conversation.mask()


@dataclass(eq=False)
class OverflowProcessor(EngineProcessor):
    """Has `TokenLimitAdkPlugin` measure the pending turn; ends the run where there is no room."""

    _token_limit: TokenLimitAdkPlugin
    name = "context_overflow"

    async def _step(
        self, context: InvocationContext, run: Run, request: LlmRequest
    ) -> Event | None:
        parts = self._sessions.pending_parts(context.session)
        error = await self._token_limit.request_measured(parts, run.signal, run.prompt_id)
        if error is None:
            return None
        stopped = Stopped(reason="failed", status="RESOURCE_EXHAUSTED", error=error)
        return self._stop(context, stopped)


class EditorContextProcessor(EngineProcessor):
    """Adds what is new in the user's editor to the history that the request carries."""

    name = "editor_context"

    async def _step(self, context: InvocationContext, run: Run, request: LlmRequest) -> None:
        self._conversation.note_editor()


class LoopCheckProcessor(EngineProcessor):
    """Ends the invocation where a model, asked now and then, finds the prompt in a loop."""

    name = "loop_check"

    async def _step(self, context: InvocationContext, run: Run, request: LlmRequest) -> None:
        verdict = await self._conversation.loops.turn_started(run.signal)
        if verdict.count:
            run.step.loop = verdict
            self._leave(context)


@dataclass(eq=False)
class GcliRoutingProcessor(EngineProcessor):
    """Settles the model, announces a new one, and rewrites the request for it.

    The product's own router and model selection decide, ADK's routed model plays no part. The
    choice sticks to the sequence of requests under one prompt id (see
    `SessionState.sequence_model`). The model layer resolves `Step.key` again for every attempt.
    """

    _configs: TypedConfig = field(default_factory=TypedConfig)
    name = "gcli_routing"

    async def run_async(
        self, invocation_context: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Yield the choice when there was none for this sequence yet; it holds from then on."""
        services, state, run = self._services, self._services.state, self._link.run
        run.calls.ask_model(run.step.answer)
        sticky = state.sequence_model
        parts = self._sessions.pending_parts(invocation_context.session)
        wanted = await self._conversation.wanted_model(parts, run.signal, run.prompt_id)
        key = ModelConfigKey(model=wanted, is_chat_model=True)
        selection = services.availability.select(key, consume_attempt=False)
        if sticky is None and not run.signal.aborted:
            yield note_event(invocation_context, ModelChosen(selection.model), partial=True)
        state.sequence_model = selection.model
        run.step.key = key
        config = self._configs.of(selection.config)
        run.step.base.write_routed(llm_request, selection.model, config)


@dataclass(eq=False)
class ToolsProcessor(EngineProcessor):
    """Fills the request's tools and its table of them, for the model that it was routed to.

    `SessionToolset` declares the product's tools. ADK asks the toolsets of an agent in tasks of
    their own, which takes a turn of the event loop: agents that begin together would not ask
    together, as the core's do. So ADK asks only where there are other tools as well.
    """

    name = "agent_tools"

    async def _step(self, context: InvocationContext, run: Run, request: LlmRequest) -> None:
        assert isinstance(context.agent, LlmAgent)
        tools = context.agent.tools
        if len(tools) == 1 and isinstance(tools[0], SessionToolset):
            tools[0].declare(request)
            context.canonical_tools_cache = []
        else:
            await process_agent_tools(context, request)
        run.asked = context, request

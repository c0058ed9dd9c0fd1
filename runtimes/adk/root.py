"""`GeminiCliAgent`: the root that keeps ADK on its lock-step path.

With an `LlmAgent` as root, ADK runs the agent in a task of its own behind an unbounded queue:
consumers lag the model, and exceptions arrive changed. With any other root, events come in step
with the model's stream. So the root is a shell around one `LlmAgent` of the same name.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import ClassVar, Final

from google.adk.agents.base_agent import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.agents.llm_agent import LlmAgent, ToolUnion
from google.adk.agents.readonly_context import ReadonlyContext
from google.adk.events.event import Event
from google.adk.flows.llm_flows._base_llm_processor import BaseLlmRequestProcessor
from pydantic import PrivateAttr

from runtimes.adk.flow import RuntimeFlow
from runtimes.adk.llm import GcliAgentModel
from runtimes.adk.session_events import AGENT_NAME

__all__ = ["AGENT_NAME", "APP_NAME", "GeminiCliAgent", "HostedAgent"]

APP_NAME: Final = "gemini_cli"


class HostedAgent(LlmAgent):
    """The `LlmAgent` inside the shell, with a flow of ours."""

    _flow: RuntimeFlow = PrivateAttr()

    @property
    def _llm_flow(self) -> RuntimeFlow:
        return self._flow

    @property
    def request_processors(self) -> list[BaseLlmRequestProcessor]:
        """What makes its requests, in order; others may be added."""
        processors: list[BaseLlmRequestProcessor] = self._flow.request_processors
        return processors

    @classmethod
    def make(
        cls,
        model: GcliAgentModel,
        flow: RuntimeFlow,
        instruction: Callable[[], str],
        tools: list[ToolUnion],
    ) -> HostedAgent:
        """Make the agent. `instruction` is asked at every step; it is taken as it is."""

        def provide(_: ReadonlyContext) -> str:
            return instruction()

        agent = cls(name=AGENT_NAME, model=model, instruction=provide, tools=tools)
        agent._flow = flow
        return agent


class GeminiCliAgent(BaseAgent):
    """The root agent: hosts one `LlmAgent` under its own name.

    It has no callbacks and no lifecycle of its own: an agent's callbacks come once, for the hosted
    agent.
    """

    # ADK guesses an application's name from where its agent's class lives; say it instead.
    _adk_origin_app_name: ClassVar[str] = APP_NAME
    _adk_origin_path: ClassVar[Path] = Path(__file__).parent

    _hosted: LlmAgent = PrivateAttr()

    @classmethod
    def around(cls, hosted: LlmAgent) -> GeminiCliAgent:
        """The shell around `hosted`, which is not one of its sub-agents."""
        shell = cls(name=hosted.name)
        shell._hosted = hosted
        return shell

    async def run_async(self, parent_context: InvocationContext) -> AsyncGenerator[Event, None]:
        """Run the hosted agent. `GcliRunner` does so by itself."""
        async with aclosing(self._hosted.run_async(parent_context)) as events:
            async for event in events:
                yield event

    def _iter_static_children(self) -> Iterator[BaseAgent]:
        """The hosted agent, so that closing the Runner closes its toolsets."""
        yield self._hosted

"""google-adk as it comes: an `App` with an `LlmAgent`, a scripted model, sessions in memory."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from google.adk.agents._streaming_mode import StreamingMode
from google.adk.agents.llm_agent import LlmAgent
from google.adk.agents.run_config import RunConfig
from google.adk.apps.app import App
from google.adk.events.event import Event
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import Runner
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.genai import types
from pydantic import PrivateAttr

__all__ = ["Stock", "answer", "call", "content"]


def content(*parts: types.Part, role: str = "model") -> types.Content:
    return types.Content(role=role, parts=list(parts))


def answer(words: str, **fields: Any) -> LlmResponse:
    return LlmResponse(content=content(types.Part(text=words)), **fields)


def call(name: str, /, **args: Any) -> LlmResponse:
    part = types.Part(function_call=types.FunctionCall(name=name, args=args))
    return LlmResponse(content=content(part))


class ScriptedLlm(BaseLlm):
    """Answers each request with the next step: a list of responses, or an exception."""

    _steps: list[Any] = PrivateAttr()
    _requests: list[list[types.Content]] = PrivateAttr(default_factory=list)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self._requests.append(list(llm_request.contents))
        step = self._steps.pop(0)
        if isinstance(step, Exception):
            raise step
        for response in step:
            yield response.model_copy(deep=True)


class Stock:
    """A conversation with a stock agent."""

    def __init__(
        self,
        steps: Sequence[Any],
        *plugins: BasePlugin,
        tools: Sequence[Any] = (),
        streams: bool = False,
    ) -> None:
        self._model = ScriptedLlm(model="gemini-2.5-flash")
        self._model._steps = list(steps)
        agent = LlmAgent(name="stock", model=self._model, tools=list(tools))
        self._runner = Runner(
            app=App(name="stock", root_agent=agent, plugins=list(plugins)),
            session_service=InMemorySessionService(),
            auto_create_session=True,
        )
        mode = StreamingMode.SSE if streams else StreamingMode.NONE
        self._config = RunConfig(streaming_mode=mode)

    @property
    def requests(self) -> list[list[types.Content]]:
        """The contents of each request that the model got."""
        return self._model._requests

    async def send(self, words: str, seen: list[Event] | None = None) -> list[Event]:
        """The events of one invocation, put into `seen` as they come."""
        seen = [] if seen is None else seen
        events = self._runner.run_async(
            user_id="u",
            session_id="s",
            new_message=content(types.Part(text=words), role="user"),
            run_config=self._config,
        )
        async with aclosing(events):
            async for event in events:
                seen.append(event)
        return seen

    async def close(self) -> None:
        await self._runner.close()

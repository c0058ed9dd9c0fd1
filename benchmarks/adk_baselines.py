"""What ADK costs without us: a bare lean step, and a stock agent.

Both answer with the same pieces as `benchmarks.model`, have one tool, and run under the Runner.
*Lean*: a shell root around the agent, incremental contents, no telemetry, unused processors
removed, a live session. *Stock*: an `LlmAgent` as anybody would write it, default processors,
`InMemorySessionService`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any, Final

from google.adk.agents.base_agent import BaseAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.invocation_context import InvocationContext
from google.adk.agents.llm_agent import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps.app import App
from google.adk.events.event import Event
from google.adk.flows.llm_flows._base_llm_processor import BaseLlmRequestProcessor
from google.adk.flows.llm_flows.single_flow import SingleFlow
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions.base_session_service import (
    BaseSessionService,
    GetSessionConfig,
    ListSessionsResponse,
)
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.adk.sessions.session import Session
from google.adk.telemetry.context import TelemetryConfig
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types
from pydantic import PrivateAttr

from benchmarks.model import TEXTS, TOOL, TOOL_ARGS, Gate, Kind

__all__ = ["BareConversation", "open_lean", "open_stock"]

_APP: Final = "bench"
_USER: Final = "user"
_AGENT: Final = "agent"
_INSTRUCTION: Final = "Be brief."
_REMOVED: Final = (
    "identity",
    "auth",
    "request_confirmation",
    "compaction",
    "interactions",
    "context_cache",
    "nl_planning",
    "code_execution",
    "output_schema",
    "toolset_auth",
)


class _Model(BaseLlm):
    """Three partials, then the consolidated response."""

    _gate: Gate | None = PrivateAttr(default=None)
    _calls: int = PrivateAttr(default=0)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        gate = self._gate
        if gate is not None:
            await gate.hold()
        first, second, third = (types.Part(text=text) for text in TEXTS)
        if gate is not None and not gate.last:
            self._calls += 1
            call = types.FunctionCall(id=f"call-{self._calls}", name=TOOL, args=dict(TOOL_ARGS))
            third = types.Part(function_call=call)
            whole = [types.Part(text=TEXTS[0] + TEXTS[1]), third]
        else:
            whole = [types.Part(text="".join(TEXTS))]
        for part in (first, second, third):
            content = types.Content(role="model", parts=[part])
            yield LlmResponse(content=content, partial=True)
        yield LlmResponse(
            content=types.Content(role="model", parts=whole),
            finish_reason=types.FinishReason.STOP,
            usage_metadata=types.GenerateContentResponseUsageMetadata(
                prompt_token_count=100, candidates_token_count=10, total_token_count=110
            ),
        )


class _Nothing(BaseTool):
    """A tool that does nothing."""

    def __init__(self) -> None:
        super().__init__(name=TOOL, description="Lists a folder.")

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name,
            description=self.description,
            parameters_json_schema={
                "type": "object",
                "properties": {"dir_path": {"type": "string"}},
                "required": ["dir_path"],
            },
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        return {"output": "empty"}


class _Contents(BaseLlmRequestProcessor):
    """Keeps the request's contents; each event is looked at once."""

    name = "contents"

    def __init__(self) -> None:
        self._known: list[types.Content] = []
        self._seen = 0

    async def run_async(
        self, invocation_context: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        events = invocation_context.session.events
        for event in events[self._seen :]:
            if event.content is not None and event.content.parts:
                self._known.append(event.content)
        self._seen = len(events)
        llm_request.contents = list(self._known)
        return
        yield


class _LeanFlow(SingleFlow):
    """Only the processors that do something here, and no telemetry."""

    def __init__(self) -> None:
        super().__init__()
        self.replace_request_processor("contents", _Contents())
        for name in _REMOVED:
            self.remove_request_processor(name)
        self.response_processors.clear()

    async def _run_and_handle_error(
        self,
        response_generator: AsyncGenerator[LlmResponse, None],
        invocation_context: InvocationContext,
        llm_request: LlmRequest,
        model_response_event: Event,
        call_llm_span: Any = None,
    ) -> AsyncGenerator[LlmResponse, None]:
        try:
            async with aclosing(response_generator) as responses:
                async for response in responses:
                    yield response
        except Exception as error:
            context = CallbackContext(
                invocation_context, event_actions=model_response_event.actions
            )
            replaced = await invocation_context.plugin_manager.run_on_model_error_callback(
                callback_context=context, llm_request=llm_request, error=error
            )
            if replaced is None:
                raise
            yield replaced


class _LeanAgent(LlmAgent):
    _box: list[_LeanFlow] = PrivateAttr(default_factory=list)

    @property
    def _llm_flow(self) -> _LeanFlow:
        if not self._box:
            self._box.append(_LeanFlow())
        return self._box[0]


class _Shell(BaseAgent):
    """Any root but an `LlmAgent` keeps ADK on its lock-step path."""

    _inner: LlmAgent = PrivateAttr()

    @classmethod
    def around(cls, inner: LlmAgent) -> _Shell:
        shell = cls(name=inner.name)
        shell._inner = inner
        return shell

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        async with aclosing(self._inner.run_async(ctx)) as events:
            async for event in events:
                yield event


class _LiveSessions(BaseSessionService):
    """One session, handed out as it is."""

    def __init__(self) -> None:
        self._session: Session | None = None

    async def create_session(
        self,
        *,
        app_name: str,
        user_id: str,
        state: dict[str, Any] | None = None,
        session_id: str | None = None,
    ) -> Session:
        self._session = Session(id=session_id or "s", app_name=app_name, user_id=user_id)
        return self._session

    async def get_session(
        self,
        *,
        app_name: str,
        user_id: str,
        session_id: str,
        config: GetSessionConfig | None = None,
    ) -> Session | None:
        return self._session

    async def list_sessions(
        self, *, app_name: str, user_id: str | None = None
    ) -> ListSessionsResponse:
        return ListSessionsResponse()

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        self._session = None


class BareConversation:
    """A conversation under the Runner alone; a `turn` is what it is for our runtimes."""

    def __init__(self, runner: Runner, session: Session, gate: Gate | None) -> None:
        self._runner = runner
        self._session = session
        self._gate = gate
        self._loop: asyncio.Task[None] | None = None
        self._config = RunConfig(
            streaming_mode=StreamingMode.SSE,
            max_llm_calls=1_000_000_000,
            telemetry=TelemetryConfig(),
        )

    async def begin(self) -> None:
        """Get to where the first turn can be asked for."""
        gate = self._gate
        if gate is not None:
            self._loop = asyncio.create_task(self._send())
            self._loop.add_done_callback(lambda task: gate.fail("ADK's loop ended by itself"))
            await gate.arrival()

    async def turn(self) -> None:
        """A send, or a round of the tool loop up to the next model request."""
        if self._gate is not None:
            await self._gate.turn()
        else:
            await self._send()

    async def turns(self, count: int) -> None:
        """`count` turns."""
        for _ in range(count):
            await self.turn()

    async def end(self) -> None:
        """Finish the loop."""
        if self._gate is not None and self._loop is not None:
            self._gate.release()
            await self._loop
        await self._runner.close()

    async def _send(self) -> None:
        message = types.Content(role="user", parts=[types.Part(text="Have a look.")])
        events = self._runner.run_async(
            user_id=_USER, session_id=self._session.id, new_message=message, run_config=self._config
        )
        async with aclosing(events):
            async for _ in events:
                pass


def _model(gate: Gate | None) -> _Model:
    model = _Model(model="instant")
    model._gate = gate
    return model


@asynccontextmanager
async def open_lean(kind: Kind) -> AsyncIterator[BareConversation]:
    """The bare lean step."""
    gate = Gate() if kind == "tool" else None
    inner = _LeanAgent(
        name=_AGENT, model=_model(gate), instruction=_INSTRUCTION, tools=[_Nothing()]
    )
    async with _conversation(_Shell.around(inner), _LiveSessions(), gate, events=0) as found:
        yield found


@asynccontextmanager
async def open_stock(kind: Kind, *, events: int) -> AsyncIterator[BareConversation]:
    """A stock agent whose session already holds `events` events, user's and model's by turns."""
    gate = Gate() if kind == "tool" else None
    agent = LlmAgent(name=_AGENT, model=_model(gate), instruction=_INSTRUCTION, tools=[_Nothing()])
    async with _conversation(agent, InMemorySessionService(), gate, events=events) as found:
        yield found


@asynccontextmanager
async def _conversation(
    root: BaseAgent, sessions: BaseSessionService, gate: Gate | None, *, events: int
) -> AsyncIterator[BareConversation]:
    runner = Runner(app=App(name=_APP, root_agent=root), session_service=sessions)
    session = await sessions.create_session(app_name=_APP, user_id=_USER, session_id="s")
    for index in range(events):
        await sessions.append_event(session, _event(index))
    conversation = BareConversation(runner, session, gate)
    await conversation.begin()
    yield conversation
    await conversation.end()


def _event(index: int) -> Event:
    of_user = index % 2 == 0
    return Event(
        invocation_id=f"seed-{index // 2}",
        author=_USER if of_user else _AGENT,
        content=types.Content(
            role="user" if of_user else "model",
            parts=[types.Part(text="Have a look." if of_user else "".join(TEXTS))],
        ),
    )

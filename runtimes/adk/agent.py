"""`AdkAgentProtocol`: the product's agent, with Google's ADK as its loop.

A send is one `Runner.run_async` per user-role request: the message, then perhaps requests that the
user did not write. The tool rounds happen inside it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps.app import App
from google.adk.events.event import Event
from google.adk.flows.llm_flows._base_llm_processor import BaseLlmRequestProcessor
from google.adk.flows.llm_flows.base_llm_flow import BaseLlmFlow
from google.adk.platform import time as platform_time
from google.adk.platform import uuid as platform_uuid
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.telemetry.context import TelemetryConfig
from google.genai import types

from agent_protocol.agent import AgentSend, MessageSend
from agent_protocol.errors import UnsupportedSend
from runtimes.adk.continuation import Continuation
from runtimes.adk.flow import Batch, RuntimeFlow
from runtimes.adk.llm import GcliAgentModel
from runtimes.adk.model_call import ModelParts
from runtimes.adk.plugins.hook_bridge import HookBridgePlugin
from runtimes.adk.plugins.steering import SteeringAdkPlugin
from runtimes.adk.root import APP_NAME, GeminiCliAgent, HostedAgent
from runtimes.adk.run import End, Run, RunLink
from runtimes.adk.runner import GcliRunner
from runtimes.adk.sessions import GcliSessionService
from runtimes.adk.stream import Stream
from runtimes.adk.tools import Toolbox
from runtimes.adk.toolset import SessionToolset
from services.background import BackgroundTasks
from services.bundle import Services
from services.chat import StreamingAgent
from services.history.transforms import has_function_response
from services.model.errors import EmptyMessageError, InvalidStreamError
from services.model.sdk_contents import WireContent
from services.model.stream import AskedCall
from services.presentation.content import content_to_parts
from services.presentation.errors import map_error, model_failure
from services.wire import JsonObject, Part

__all__ = ["USER_ID", "AdkAgentProtocol", "AdkConfig", "ArrangeFlow", "Invoke", "Reader"]

USER_ID: Final = "user"

ArrangeFlow = Callable[[BaseLlmFlow], None]
"""Places request processors of others by the public methods of an agent's flow."""

Reader = Callable[[Event], bool]
"""Takes in ADK's events as they come; false leaves the invocation at once."""

Invoke = Callable[[Run, list[Part], Reader], Awaitable[None]]
"""`AdkAgentProtocol.invoke`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdkConfig:
    """What an agent is built over, and what makes it the kind of agent that it is."""

    services: Services
    """The session's, or the child's."""
    tasks: BackgroundTasks
    link: RunLink
    """Shared with the request processors: there they find the send under way."""
    session_id: str
    batch: Batch
    """Runs a turn's calls."""
    child_call: Callable[[JsonObject], AskedCall] | None = None
    """In a child: what its batch runs for a function call of the model's."""
    arrange_flow: ArrangeFlow | None = None
    """Called with the flow."""
    continuation: Continuation | None = None
    """What follows an invocation; a child has none, as its `ChildTermination` sends for it."""


class AdkAgentProtocol(StreamingAgent):
    """One `LlmAgent` on ADK's Runner, over one session: a conversation's, or a child's."""

    def __init__(
        self,
        config: AdkConfig,
        instruction_provider: Callable[[], str],
        tools: Toolbox,
        plugins: list[BasePlugin],
        request_processors: Sequence[BaseLlmRequestProcessor],
        session_service: GcliSessionService,
    ) -> None:
        """Build the agent and open its session.

        Args:
            config: what it stands on.
            instruction_provider: the system instruction, asked for at each request.
            tools: what requests declare.
            plugins: ADK plugins, in order.
            request_processors: ours; `PROCESSOR_ORDER` says where each goes.
            session_service: gets the session, and has the conversation.
        """
        super().__init__(config.tasks)
        self._config = config
        self._sessions = session_service
        self._session = session_service.open(
            app_name=APP_NAME, user_id=USER_ID, session_id=config.session_id
        )
        model = GcliAgentModel.over(
            ModelParts(
                services=config.services,
                conversation=session_service.conversation,
                pending=lambda: session_service.pending(self._session),
                link=config.link,
                tools=tools,
                instruction=instruction_provider,
                hooks=next((each for each in plugins if isinstance(each, HookBridgePlugin)), None),
                steering=next(
                    (each for each in plugins if isinstance(each, SteeringAdkPlugin)), None
                ),
                child_call=config.child_call,
            )
        )
        flow = RuntimeFlow(request_processors, config.batch)
        if config.arrange_flow is not None:
            config.arrange_flow(flow)
        link = config.link
        hosted = HostedAgent.make(
            model,
            flow,
            lambda: link.run.step.base.write_instruction(instruction_provider()),
            [SessionToolset(tools, link)],
        )
        app = App(name=APP_NAME, root_agent=GeminiCliAgent.around(hosted), plugins=plugins)
        self._runner = GcliRunner(hosted, app, session_service)
        # Agents share the plugins of others, which the engine closes.
        self._runner.plugin_manager.set_skip_closing_plugins(True)
        self._run_config = RunConfig(
            streaming_mode=StreamingMode.SSE,
            # The product has limits of its own. ADK logs a warning where its limit is 0, "none".
            max_llm_calls=1_000_000_000,
            telemetry=TelemetryConfig(),
        )

    async def send(self, payload: AgentSend) -> str | None:
        """Start a stream with a user's message.

        Raises:
            UnsupportedSend: anything but a message, or a child, whose session takes its messages.
            StreamActive: a stream is running.
        """
        continuation = self._config.continuation
        if not isinstance(payload, MessageSend) or continuation is None:
            raise UnsupportedSend(
                "AdkAgentProtocol.send() only supports message sends for the moment."
            )
        self._refuse_second("AdkAgentProtocol")
        continuation.max_turns.send_started()
        self._stream = stream = Stream(self._config.services, self._log)
        stream.emit_user_message(payload)
        return self._start(
            stream,
            lambda: self._drive(stream, payload, continuation),
            name=f"adk stream {stream.id}",
            after=self._config.services.steering.main.stream_ended,
        )

    async def close(self) -> None:
        """Let go of what ADK holds. The agent must be idle."""
        await self._runner.close()

    async def invoke(self, run: Run, parts: list[Part], read: Reader) -> None:
        """Make one user-role request of `parts`, and the tool rounds that follow from it.

        ADK calls the processors, plugins and model of this agent without the run; they find it in
        the link, which holds it from here to the end of this method.

        Raises:
            Exception: whatever the invocation raised; `Run.step.failure`, where the model failed.
        """
        # For this task only: our clock, and ids that are the same in every run.
        clock = self._config.services.clock
        platform_time.set_time_provider(lambda: clock.now_ms() / 1000)
        platform_uuid.set_id_provider(self._sessions.next_id)
        self._session = await self._sessions.current(self._session)
        self._sessions.refresh(self._session)
        self._config.link.begin(run)
        try:
            async with aclosing(
                self._runner.run_async(
                    user_id=USER_ID,
                    session_id=self._session.id,
                    new_message=_sendable(parts),
                    run_config=self._run_config,
                )
            ) as events:
                async for event in events:
                    if not read(event):
                        return
        finally:
            self._config.link.finish()
            self._sessions.settle(self._session)

    async def _drive(
        self, stream: Stream, payload: MessageSend, continuation: Continuation
    ) -> None:
        """Send the message, and the requests that follow from it."""
        run = Run(
            prompt_id=continuation.prompt_id,
            signal=stream.controller.signal,
            display_content=payload.display_content,
            hooks=self._sessions.conversation.hooks,
        )
        parts = content_to_parts(payload.content)
        try:
            while True:
                try:
                    await self.invoke(run, parts, lambda event: stream.read(event, run))
                except Exception as error:
                    if error is not run.step.failure:
                        raise
                    run.signal.raise_if_aborted()
                    _emit_failure(stream, error)
                if stream.ended:
                    return
                after = await continuation.after(stream, run)
                if isinstance(after, End):
                    stream.end(after.reason, after.data)
                    return
                parts = after
        finally:
            run.calls.abandon()


def _emit_failure(stream: Stream, error: Exception) -> None:
    """Emit the failure of a model request, and end the stream."""
    if isinstance(error, EmptyMessageError):
        raise error
    if isinstance(error, InvalidStreamError):
        stream.emit(stream.translator.invalid_stream(error.type, str(error)))
    else:
        stream.emit(stream.translator.error(map_error(model_failure(error))))
    stream.end("failed")


def _sendable(parts: list[Part]) -> WireContent:
    """The message for the Runner, which wants at least one part of its own.

    Of the results of calls it would want the calls too; those were in an answer that was given up.
    """
    message = {"role": "user", "parts": parts}
    content = WireContent.of(message)
    if not content.parts or has_function_response(message):
        content.parts = [types.Part()]
    return content

"""`AdkAgentProtocol`: the product's agent, with Google's ADK as its loop (`AgentLoop`).

A send is one `Runner.run_async` per user-role request: the message, then perhaps requests that the
user did not write. The tool rounds happen inside it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
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

from agent_protocol.agent import AgentSend, MessageSend
from agent_protocol.errors import UnsupportedSend
from runtimes.adk.continuation import Continuation
from runtimes.adk.conversation import Conversation
from runtimes.adk.flow import Batch, RuntimeFlow
from runtimes.adk.model_call import GcliAgentModel, ModelParts
from runtimes.adk.plugins.hook_bridge import HookBridgePlugin
from runtimes.adk.plugins.limits import MaxTurnsAdkPlugin
from runtimes.adk.root import APP_NAME, GeminiCliAgent, HostedAgent
from runtimes.adk.run import End, Run, RunLink
from runtimes.adk.runner import GcliRunner
from runtimes.adk.sessions import GcliSessionService
from runtimes.adk.stream import Stream
from runtimes.adk.tools import Toolbox
from services.background import BackgroundTasks
from services.bundle import Services
from services.chat import StreamingAgent
from services.history.transforms import has_function_response
from services.model.errors import EmptyMessageError, InvalidStreamError
from services.model.sdk_contents import WireContent
from services.model.stream import AskedCall
from services.presentation.content import content_to_parts
from services.presentation.errors import map_error, model_failure
from services.wire import Content, JsonObject

__all__ = ["USER_ID", "AdkAgentProtocol", "AgentLoop", "ArrangeFlow", "Invoke", "Reader"]

USER_ID: Final = "user"

ArrangeFlow = Callable[[BaseLlmFlow], None]
"""Places request processors of others by the public methods of an agent's flow."""

Reader = Callable[[Event], bool]
"""Takes in ADK's events as they come; false leaves the invocation at once."""

Invoke = Callable[[Run, Content, Reader], Awaitable[None]]
"""`AgentLoop.invoke`."""


class AgentLoop:
    """One `LlmAgent` on ADK's Runner, over one session: a conversation's, or a child's."""

    def __init__(
        self,
        services: Services,
        conversation: Conversation,
        sessions: GcliSessionService,
        link: RunLink,
        *,
        session_id: str,
        instruction: Callable[[], str],
        tools: Toolbox,
        plugins: Sequence[BasePlugin],
        request_processors: Sequence[BaseLlmRequestProcessor],
        batch: Batch,
        child_call: Callable[[JsonObject], AskedCall] | None = None,
        arrange_flow: ArrangeFlow | None = None,
    ) -> None:
        """Build the agent and open its session.

        Args:
            services: the session's, or the child's.
            conversation: what is settled of the session.
            sessions: gets the session.
            link: where the request processors find the run under way.
            session_id: the session's.
            instruction: the system instruction, asked for at each request.
            tools: what requests declare.
            plugins: ADK plugins, in order.
            request_processors: ours; `PROCESSOR_ORDER` says where each goes.
            batch: runs a turn's calls.
            child_call: in a child: what its batch runs for a function call of the model's.
            arrange_flow: called with the flow.
        """
        self._clock = services.clock
        self._sessions = sessions
        self._session = sessions.open(app_name=APP_NAME, user_id=USER_ID, session_id=session_id)
        sessions.attach(self._session, conversation)
        self._link = link
        model = GcliAgentModel.over(
            ModelParts(
                services=services,
                conversation=conversation,
                pending=lambda: sessions.pending(self._session),
                link=link,
                tools=tools,
                instruction=instruction,
                hooks=next((each for each in plugins if isinstance(each, HookBridgePlugin)), None),
                child_call=child_call,
            )
        )
        flow = RuntimeFlow(request_processors, batch)
        if arrange_flow is not None:
            arrange_flow(flow)
        hosted = HostedAgent.make(
            model, flow, lambda: link.run.step.base.write_instruction(instruction())
        )
        app = App(name=APP_NAME, root_agent=GeminiCliAgent.around(hosted), plugins=list(plugins))
        self._runner = GcliRunner(hosted, app, sessions)
        # Agents share the plugins of others, which the engine closes.
        self._runner.plugin_manager.set_skip_closing_plugins(True)
        self._run_config = RunConfig(
            streaming_mode=StreamingMode.SSE,
            # The product has limits of its own. ADK logs a warning where its limit is 0, "none".
            max_llm_calls=1_000_000_000,
            telemetry=TelemetryConfig(),
        )

    async def invoke(self, run: Run, message: Content, read: Reader) -> None:
        """Make one user-role request, and the tool rounds that follow from it.

        ADK calls the processors, plugins and model of this agent without the run; they find it in
        the link, which holds it from here to the end of this method.

        Raises:
            Exception: whatever the invocation raised; `Run.step.failure`, where the model failed.
        """
        # For this task only: our clock, and ids that are the same in every run.
        platform_time.set_time_provider(lambda: self._clock.now_ms() / 1000)
        platform_uuid.set_id_provider(self._sessions.next_id)
        # A resume or a rewind drops the session: its live events belong to another history.
        self._session = self._sessions.reopened(self._session)
        events = self._runner.run_async(
            user_id=USER_ID,
            session_id=self._session.id,
            new_message=_sendable(message),
            run_config=self._run_config,
        )
        self._link.begin(run)
        try:
            async with aclosing(events):
                async for event in events:
                    if not read(event):
                        return
        finally:
            self._link.finish()
            self._sessions.settle(self._session)

    async def close(self) -> None:
        """Let go of what ADK holds. The agent must be idle."""
        await self._runner.close()


class AdkAgentProtocol(StreamingAgent):
    """One agent over a conversation; one stream at a time."""

    def __init__(
        self,
        services: Services,
        tasks: BackgroundTasks,
        conversation: Conversation,
        loop: AgentLoop,
        continuation: Continuation,
        max_turns: MaxTurnsAdkPlugin,
        prompt_id: str,
    ) -> None:
        """`continuation` decides what follows an invocation; every send has the same prompt id."""
        super().__init__(tasks)
        self._services = services
        self._conversation = conversation
        self._loop = loop
        self._continuation = continuation
        self._max_turns = max_turns
        self._prompt_id = prompt_id

    async def send(self, payload: AgentSend) -> str | None:
        """Start a stream with a user's message.

        Raises:
            UnsupportedSend: anything but a message.
            StreamActive: a stream is running.
        """
        if not isinstance(payload, MessageSend):
            raise UnsupportedSend(
                "AdkAgentProtocol.send() only supports message sends for the moment."
            )
        self._refuse_second("AdkAgentProtocol")
        self._max_turns.send_started()
        self._stream = stream = Stream(self._services, self._log)
        stream.emit_user_message(payload)
        return self._start(
            stream, lambda: self._drive(stream, payload), name=f"adk stream {stream.id}"
        )

    async def close(self) -> None:
        """Let go of what ADK holds. The agent must be idle."""
        await self._loop.close()

    async def _drive(self, stream: Stream, payload: MessageSend) -> None:
        """Send the message, and the requests that follow from it."""
        run = Run(
            prompt_id=self._prompt_id,
            signal=stream.controller.signal,
            display_content=payload.display_content,
        )
        parts = content_to_parts(payload.content)
        try:
            while True:
                try:
                    await self._loop.invoke(
                        run,
                        {"role": "user", "parts": parts},
                        lambda event: stream.read(event, run),
                    )
                except Exception as error:
                    if error is not run.step.failure:
                        raise
                    run.signal.raise_if_aborted()
                    self._emit_failure(stream, error)
                if stream.ended:
                    return
                after = await self._continuation.after(stream, run)
                if isinstance(after, End):
                    stream.end(after.reason, after.data)
                    return
                parts = after
        finally:
            self._conversation.calls.abandon(run)

    def _emit_failure(self, stream: Stream, error: Exception) -> None:
        """Emit the failure of a model request, and end the stream."""
        if isinstance(error, EmptyMessageError):
            raise error
        if isinstance(error, InvalidStreamError):
            stream.emit(stream.translator.invalid_stream(error.type, str(error)))
        else:
            stream.emit(stream.translator.error(map_error(model_failure(error))))
        stream.end("failed")


def _sendable(message: Content) -> WireContent:
    """The message for the Runner, which wants at least one part of its own.

    Of the results of calls it would want the calls too; those were in an answer that was given up.
    """
    content = WireContent.of(message)
    if not content.parts or has_function_response(message):
        content.parts = WireContent.of({"parts": [{"text": ""}]}).parts
    return content

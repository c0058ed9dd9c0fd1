"""`AdkAgentProtocol`: the product's agent, with Google's ADK as its loop.

A send is one `Runner.run_async` per user-role request (the prompt, then perhaps one that nobody
typed); the tool rounds happen inside it. What a client sees is decided by the send handler that
the factory hands in; here it is one `agent_start`, one `agent_end` on every path, nothing after an
abort.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final

from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps.app import App
from google.adk.flows.llm_flows._base_llm_processor import BaseLlmRequestProcessor
from google.adk.flows.llm_flows.base_llm_flow import BaseLlmFlow
from google.adk.platform import time as platform_time
from google.adk.platform import uuid as platform_uuid
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.sessions.session import Session
from google.adk.telemetry.context import TelemetryConfig

from agent_protocol.agent import AgentProtocol, AgentSend, Subscriber, Unsubscribe
from agent_protocol.event_log import EventLog
from agent_protocol.events import AgentEvent
from runtimes.adk.flow import Batch, RuntimeFlow
from runtimes.adk.llm import GcliAgentModel
from runtimes.adk.model_parts import Asking, Instruction, ModelParts
from runtimes.adk.plugins.hook_bridge import HookBridgePlugin
from runtimes.adk.root import APP_NAME, GeminiCliAgent, HostedAgent
from runtimes.adk.run import Run, RunLink
from runtimes.adk.runner import GcliRunner
from runtimes.adk.send import ActiveSend, Reader, SendHandler
from runtimes.adk.sessions import GcliSessionService
from runtimes.adk.stream import OpenStream
from runtimes.adk.tools import Toolbox
from services.background import BackgroundTasks
from services.bundle import Services
from services.history.transforms import has_function_response
from services.model.sdk_contents import WireContent
from services.wire import Content

__all__ = ["USER_ID", "AdkAgentProtocol", "AdkConfig"]

USER_ID: Final = "user"
_NO_LIMIT: Final = 1_000_000_000
"""ADK's own limit of model calls per invocation is not used; 0 would make it log a warning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdkConfig:
    """What an agent is built over, and what makes it the kind of agent that it is."""

    services: Services
    session: Session
    """The live session, made and given its archive beforehand."""
    tasks: BackgroundTasks
    link: RunLink
    """Shared with the request processors: there they find the send under way."""
    handler: SendHandler
    """What a send starts, and how it goes on."""
    batch: Batch
    """How a turn's calls are run."""
    asking: Asking = field(default_factory=Asking)
    """How the model is asked."""
    arrange_flow: Callable[[BaseLlmFlow], None] | None = None
    """Called with the flow, to place request processors of others."""


class AdkAgentProtocol(AgentProtocol):
    """One agent over a conversation; one stream at a time. The whole ADK runtime sits in here."""

    def __init__(
        self,
        config: AdkConfig,
        instruction_provider: Callable[[], str],
        tools: Toolbox,
        plugins: Sequence[BasePlugin],
        request_processors: Sequence[BaseLlmRequestProcessor],
        session_service: GcliSessionService,
        parent_session_id: str | None = None,
    ) -> None:
        """Build the agent.

        Args:
            config: what it stands on.
            instruction_provider: the system instruction, asked for at each request.
            tools: the session's tools.
            plugins: ADK plugins, in order.
            request_processors: ours; `PROCESSOR_ORDER` says where each goes.
            session_service: holds the conversation.
            parent_session_id: the session whose tool call started this agent, if one did.
        """
        services, session, link = config.services, config.session, config.link
        self.parent_session_id = parent_session_id
        self._services = services
        self._session = session
        self._sessions = session_service
        self._tasks = config.tasks
        self._link = link
        self._handler = config.handler
        self._log = EventLog()
        self._stream: OpenStream | None = None
        instruction = Instruction(instruction_provider)
        model = GcliAgentModel.over(
            ModelParts(
                services=services,
                conversation=session_service.archive(session),
                pending=lambda: session_service.pending(self._session),
                link=link,
                tools=tools,
                instruction=instruction,
                hooks=next((each for each in plugins if isinstance(each, HookBridgePlugin)), None),
                asking=config.asking,
            )
        )
        flow = RuntimeFlow(request_processors, config.batch)
        if config.arrange_flow is not None:
            config.arrange_flow(flow)
        hosted = HostedAgent.make(model, flow, instruction)
        app = App(name=APP_NAME, root_agent=GeminiCliAgent.around(hosted), plugins=list(plugins))
        self._runner = GcliRunner(hosted, app, session_service)
        # Agents share the plugins of others, which the engine closes.
        self._runner.plugin_manager.set_skip_closing_plugins(True)
        self._run_config = RunConfig(
            streaming_mode=StreamingMode.SSE,
            max_llm_calls=_NO_LIMIT,
            telemetry=TelemetryConfig(),
        )

    @property
    def events(self) -> Sequence[AgentEvent]:
        """Everything emitted so far, oldest first."""
        return self._log.events

    def subscribe(self, callback: Subscriber) -> Unsubscribe:
        """Call `callback` with every event from now on."""
        return self._log.subscribe(callback)

    async def send(self, payload: AgentSend) -> str | None:
        """Start a stream, if that is what the payload means to this kind of session.

        Raises:
            UnsupportedSend: it takes no such payloads.
            StreamActive: a stream is running.
        """
        busy = self._stream is not None and self._stream.active
        active = self._handler.take(payload, self._log, busy=busy)
        if active is None:
            return None
        self._stream = active.stream
        active.announce()
        self._tasks.start(
            self._conduct(active),
            name=f"adk stream {active.stream.id}",
            unbegun=lambda: self._drop(active),
        )
        return active.stream.id

    async def abort(self) -> None:
        """Ask the active stream to end; its `agent_end` follows."""
        if self._stream is not None and self._stream.active:
            self._stream.controller.abort()

    async def close(self) -> None:
        """Let go of what ADK holds. The agent must be idle."""
        await self._runner.close()

    async def _conduct(self, active: ActiveSend) -> None:
        """Drive a stream from `agent_start` to exactly one `agent_end`."""
        stream = active.stream
        stream.start()
        try:
            self._pin_adk()
            await active.drive(self._invoke)
        except asyncio.CancelledError:
            stream.end("aborted")
            raise
        except Exception as error:  # noqa: BLE001 - whatever escaped becomes the stream's failure
            active.failed(error)
        finally:
            stream.active = False
            await active.over()

    def _drop(self, active: ActiveSend) -> None:
        """End a stream without having begun."""
        active.stream.start()
        active.stream.end("aborted")
        active.dropped()

    def _pin_adk(self) -> None:
        """Give ADK our clock, and ids that are the same in every run; for this task only."""
        clock = self._services.clock
        platform_time.set_time_provider(lambda: clock.now_ms() / 1000)
        platform_uuid.set_id_provider(self._sessions.next_id)

    async def _invoke(self, run: Run, message: Content, read: Reader) -> None:
        """One user-role request and the tool rounds that follow from it.

        ADK calls the processors, plugins and model of this agent without the run; they find it in
        the link, which holds it from here to the end of this method.
        """
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


def _sendable(message: Content) -> WireContent:
    """The message for the Runner, which wants at least one part of its own.

    Of the results of calls it would want the calls too; those were in an answer that was given up.
    """
    content = WireContent.of(message)
    if not content.parts or has_function_response(message):
        content.parts = WireContent.of({"parts": [{"text": ""}]}).parts
    return content

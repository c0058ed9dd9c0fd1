"""The session factory: the one place that constructs agents.

What an agent is, is put together here: which plugins and processors it has, how it asks the model
and runs its calls. A child's agent is the same `AdkAgentProtocol` with another set.
"""

from __future__ import annotations

from collections.abc import Sequence

from google.adk.plugins.base_plugin import BasePlugin

from runtimes.adk.agent import AdkAgentProtocol, AdkConfig, ArrangeFlow
from runtimes.adk.child.processors import ChildCompression, ChildLimits, ChildRouting
from runtimes.adk.child.session import AdkChild
from runtimes.adk.child.termination import ChildCall, ChildConversation, ChildTermination
from runtimes.adk.continuation import Continuation
from runtimes.adk.conversation import Conversation
from runtimes.adk.plugins.hook_bridge import hook_bridge
from runtimes.adk.plugins.limits import MaxTurnsAdkPlugin, TokenLimitAdkPlugin
from runtimes.adk.plugins.loop_detection import LoopDetectionAdkPlugin
from runtimes.adk.plugins.named import without_namesakes
from runtimes.adk.plugins.steering import SteeringAdkPlugin
from runtimes.adk.processors.contents import ContentsProcessor
from runtimes.adk.processors.conversation import (
    CompressionProcessor,
    EditorContextProcessor,
    GcliRoutingProcessor,
    LimitsProcessor,
    LoopCheckProcessor,
    OverflowProcessor,
    ToolOutputMaskingProcessor,
    ToolsProcessor,
)
from runtimes.adk.run import RunLink
from runtimes.adk.sessions import GcliSessionService
from runtimes.adk.tools import Toolbox
from services.background import BackgroundTasks
from services.bundle import Services
from services.chat import SessionTurns
from services.children.child_services import ChildServices
from services.children.declaring import ChildDeclarations
from services.children.session import ChildSession
from services.subagents.child import ChildRequest

__all__ = ["SessionFactory"]


class SessionFactory:
    """Makes the agents of one engine.

    `plugins` of others come after an agent's own. Children share them, as in ADK's `AgentTool`.
    """

    def __init__(
        self,
        services: Services,
        tasks: BackgroundTasks,
        sessions: GcliSessionService,
        plugins: Sequence[BasePlugin],
        arrange_flow: ArrangeFlow | None,
    ) -> None:
        self._services = services
        self._tasks = tasks
        self._sessions = sessions
        self._plugins = plugins
        self._arrange_flow = arrange_flow
        self._made = 0
        self._session_turns = SessionTurns()
        self.children: set[ChildSession] = set()
        """The children that run."""

    def conversation_agent(
        self, conversation: Conversation, tools: Toolbox, prompt_id: str
    ) -> AdkAgentProtocol:
        """An agent over a conversation, whose sends all have this prompt id."""
        services, sessions, link = self._services, self._sessions, RunLink()
        parts = (services, conversation, sessions, link)
        number, session_id = self._made, services.state.session_id
        self._made += 1
        max_turns = MaxTurnsAdkPlugin(
            services.settings.max_session_turns, self._session_turns, driven=True
        )
        token_limit = TokenLimitAdkPlugin(services.content_generator, driven=True)
        steering = SteeringAdkPlugin(services.steering.main, driven=True)
        continuation = Continuation(*parts, prompt_id, max_turns, steering)
        return AdkAgentProtocol(
            AdkConfig(
                services=services,
                tasks=self._tasks,
                link=link,
                session_id=f"{session_id}/{number}" if number else session_id,
                batch=continuation.run_tools,
                arrange_flow=self._arrange_flow,
                continuation=continuation,
            ),
            instruction_provider=services.prompts.system_instruction,
            tools=tools,
            plugins=self._with_others(
                max_turns,
                token_limit,
                LoopDetectionAdkPlugin(conversation.loops, link),
                steering,
            ),
            request_processors=(
                LimitsProcessor(*parts, max_turns),
                CompressionProcessor(*parts, token_limit),
                ToolOutputMaskingProcessor(*parts),
                OverflowProcessor(*parts, token_limit),
                EditorContextProcessor(*parts),
                ContentsProcessor(*parts),
                LoopCheckProcessor(*parts),
                GcliRoutingProcessor(*parts),
                ToolsProcessor(*parts),
            ),
            session_service=sessions,
        )

    def child(self, request: ChildRequest) -> AdkChild:
        """A child; see `services.subagents.child.ChildFactory`."""
        return AdkChild(self._services, request, self._tasks, self.children, self.child_agent)

    def child_agent(self, child: ChildServices) -> tuple[ChildTermination, AdkAgentProtocol]:
        """What runs a child's task, and its agent: with a Runner and a conversation of its own."""
        services, link = child.services, RunLink()
        chat = ChildConversation(services)
        sessions = GcliSessionService(chat, services.clock)
        parts = (services, chat, sessions, link)
        tools = Toolbox(ChildDeclarations(child.toolset))
        termination = ChildTermination(child, chat, link)
        return termination, AdkAgentProtocol(
            AdkConfig(
                services=services,
                tasks=self._tasks,
                link=link,
                session_id=child.agent_id,
                batch=termination.run_calls,
                child_call=ChildCall,
                arrange_flow=self._arrange_flow,
            ),
            instruction_provider=lambda: termination.instruction,
            tools=tools,
            plugins=self._with_others(*termination.plugins),
            request_processors=(
                ChildLimits(*parts, termination),
                ChildCompression(*parts, child),
                ContentsProcessor(*parts),
                ChildRouting(*parts, child),
                ToolsProcessor(*parts),
            ),
            session_service=sessions,
        )

    def _with_others(self, *ours: BasePlugin) -> list[BasePlugin]:
        return without_namesakes([*ours, *hook_bridge(self._services.hooks), *self._plugins])

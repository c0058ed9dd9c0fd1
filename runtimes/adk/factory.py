"""The session factory: the one place that constructs `AdkAgentProtocol`.

What an agent is, is put together here: which plugins and processors it has, which handler takes
its sends, how it asks the model and runs its calls. A child is the same class with another set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from google.adk.flows.llm_flows.base_llm_flow import BaseLlmFlow
from google.adk.plugins.base_plugin import BasePlugin

from runtimes.adk.agent import USER_ID, AdkAgentProtocol, AdkConfig
from runtimes.adk.child.calls import ChildBatch
from runtimes.adk.child.processors import ChildCompression, ChildLimits, ChildRouting
from runtimes.adk.child.session import AdkChild
from runtimes.adk.child.termination import (
    ChildCall,
    ChildConversation,
    ChildPlugins,
    ChildTermination,
)
from runtimes.adk.continuation import Continuation
from runtimes.adk.conversation import Conversation
from runtimes.adk.conversation_handler import ConversationHandler
from runtimes.adk.model_parts import Asking
from runtimes.adk.plugins.hook_bridge import hook_bridge
from runtimes.adk.plugins.limits import MaxTurnsAdkPlugin, SessionTurns, TokenLimitAdkPlugin
from runtimes.adk.plugins.loop_detection import LoopDetectionAdkPlugin
from runtimes.adk.plugins.named import without_namesakes
from runtimes.adk.processors.contents import ContentsProcessor
from runtimes.adk.processors.context import (
    CompressionProcessor,
    OverflowProcessor,
    ToolOutputMaskingProcessor,
)
from runtimes.adk.processors.limits import LimitsProcessor, LoopCheckProcessor
from runtimes.adk.processors.routing import GcliRoutingProcessor, ToolsProcessor
from runtimes.adk.root import APP_NAME
from runtimes.adk.run import RunLink
from runtimes.adk.sessions import GcliSessionService
from runtimes.adk.tool_batch import ToolBatch
from runtimes.adk.tools import Toolbox
from services.background import BackgroundTasks
from services.bundle import Services
from services.children.declaring import ChildDeclarations
from services.model.generator import LlmRole
from services.subagents.child import ChildRequest

__all__ = ["ArrangeFlow", "SessionFactory"]

ArrangeFlow = Callable[[BaseLlmFlow], None]
"""Places request processors by the public methods of an agent's flow."""

_AS_CHILD: Final = Asking(
    role=LlmRole.SUBAGENT,
    names_calls=False,
    outlives_stops=True,
    announces_retries=True,
    requested=lambda _services, _run: lambda call, _response_id: ChildCall(call),
)


class SessionFactory:
    """Makes the agents of one engine.

    `plugins` of others come after an agent's own. Children share them, as in ADK's `AgentTool`.
    """

    def __init__(
        self,
        services: Services,
        tasks: BackgroundTasks,
        sessions: GcliSessionService,
        *,
        plugins: Sequence[BasePlugin] = (),
        arrange_flow: ArrangeFlow | None = None,
    ) -> None:
        self._services = services
        self._tasks = tasks
        self._sessions = sessions
        self._plugins = tuple(plugins)
        self._arrange_flow = arrange_flow
        self._made = 0
        self._session_turns = SessionTurns()
        self._children: dict[str, AdkChild] = {}

    @property
    def children(self) -> list[AdkChild]:
        """The children that have not ended, or never begun."""
        return list(self._children.values())

    def conversation_agent(
        self, conversation: Conversation, tools: Toolbox, *, prompt_id: str | None = None
    ) -> AdkAgentProtocol:
        """An agent over a conversation; `prompt_id` is the session's own where there is none."""
        services, sessions, link = self._services, self._sessions, RunLink()
        number, session_id = self._made, services.state.session_id
        self._made += 1
        session = sessions.open(
            app_name=APP_NAME,
            user_id=USER_ID,
            session_id=f"{session_id}/{number}" if number else session_id,
        )
        sessions.attach(session, conversation)
        max_turns = MaxTurnsAdkPlugin(
            services.settings.max_session_turns, self._session_turns, driven=True
        )
        token_limit = TokenLimitAdkPlugin(services.content_generator, driven=True)
        batch = ToolBatch(services, sessions, link)
        parts = (services, conversation, sessions, link)
        continuation = Continuation(services, conversation, batch, max_turns)
        prompt_id = prompt_id or services.state.prompt_id
        return AdkAgentProtocol(
            AdkConfig(
                services=services,
                session=session,
                tasks=self._tasks,
                link=link,
                handler=ConversationHandler(
                    services, conversation, continuation, max_turns, prompt_id
                ),
                batch=batch.execute,
                arrange_flow=self._arrange_flow,
            ),
            instruction_provider=services.prompts.system_instruction,
            tools=tools,
            plugins=self._with_others(
                max_turns,
                token_limit,
                LoopDetectionAdkPlugin(conversation.loops, link),
                *hook_bridge(services.hooks),
            ),
            request_processors=(
                LimitsProcessor(*parts, max_turns),
                CompressionProcessor(*parts, token_limit),
                ToolOutputMaskingProcessor(*parts),
                ContentsProcessor(sessions, link),
                OverflowProcessor(*parts, token_limit),
                LoopCheckProcessor(*parts),
                GcliRoutingProcessor(*parts),
                ToolsProcessor(*parts, tools, batch.begin),
            ),
            session_service=sessions,
        )

    def child_agent(self, request: ChildRequest) -> AdkChild:
        """A child with a Runner, a session service and a conversation of its own."""
        made = AdkChild(self._services, request, self._release)
        child = made.child
        services, sessions = child.services, GcliSessionService(child.services.clock)
        link, plugins, chat = RunLink(), ChildPlugins(child), ChildConversation(services)
        session = sessions.open(app_name=APP_NAME, user_id=USER_ID, session_id=child.agent_id)
        sessions.attach(session, chat)
        tools = Toolbox(ChildDeclarations(child.toolset))
        termination = ChildTermination(child, chat, plugins)
        parts = (termination, sessions, link)
        agent = AdkAgentProtocol(
            AdkConfig(
                services=services,
                session=session,
                tasks=self._tasks,
                link=link,
                handler=made,
                batch=ChildBatch(termination, link).execute,
                asking=_AS_CHILD,
                arrange_flow=self._arrange_flow,
            ),
            instruction_provider=lambda: termination.instruction,
            tools=tools,
            plugins=self._with_others(*plugins.all, *hook_bridge(services.hooks)),
            request_processors=(
                ChildLimits(*parts),
                ChildCompression(*parts),
                ContentsProcessor(sessions, link),
                ChildRouting(*parts),
                ToolsProcessor(services, chat, sessions, link, tools),
            ),
            session_service=sessions,
            parent_session_id=services.state.session_id,
        )
        made.run_on(agent, termination)
        self._children[made.agent_id] = made
        return made

    async def _release(self, child: AdkChild) -> None:
        self._children.pop(child.agent_id, None)
        await child.close()

    def _with_others(self, *ours: BasePlugin) -> list[BasePlugin]:
        return without_namesakes([*ours, *self._plugins])

"""`ChildServices`: what a child is given: its parent's services, and a few of its own.

Shared with the parent: state, models, availability, clock, settings, policy, hooks, steering.
The child's own: tools, bus, ids, recording, compression.

Source: core `agents/local-executor.ts` (`create`, `executionContext`, `callModel`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from services.abort import AbortSignal
from services.bundle import Services
from services.chat_recording import ChatRecording
from services.ids import IdSource
from services.model.configs import ModelConfigKey
from services.model.names import DEFAULT_PRO
from services.routing.router import RoutingContext
from services.subagents.activity import ActivityType, SubagentActivity
from services.subagents.child import ChildRequest
from services.subagents.complete_task import CompleteTaskTool
from services.subagents.definition import LocalAgentDefinition
from services.subagents.prompt import ChildPrompt, augmented
from services.subagents.toolset import Toolset
from services.wire import Content, JsonObject, Part

__all__ = ["ChildServices", "child_services"]

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Choice:
    """The router's answer, which holds for the whole run."""

    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildServices:
    """One child, before anything has happened."""

    services: Services
    """`tools`, `bus`, `ids`, `compression` and `new_recording` are the child's. Calls go through
    `ChildCalls`, never straight to `services.scheduler`, which is the parent's."""
    request: ChildRequest
    """`on_activity` is told what `tell` is."""
    agent_id: str
    """The child's, and of its session and recording."""
    thread: str
    """Its path, `T/C`."""
    toolset: Toolset
    """`open` it before the first turn."""
    _choice: _Choice = field(default_factory=_Choice)

    @property
    def definition(self) -> LocalAgentDefinition:
        """The agent's."""
        return self.request.definition

    def prompt_id(self, turn: int) -> str:
        """The prompt id of model turn `turn`, from 0."""
        return f"{self.agent_id}#{turn}"

    def tell(self, type: ActivityType, data: JsonObject) -> None:
        """Tell an activity."""
        self.request.on_activity(
            SubagentActivity(agent_name=self.definition.name, type=type, data=data)
        )

    def prompt(self, inputs: JsonObject) -> ChildPrompt:
        """The texts of a run with `inputs`; the tools are to be open."""
        services = self.services
        return ChildPrompt(
            definition=self.definition,
            inputs=augmented(
                inputs,
                version=services.version,
                model=services.state.active_model,
                now_ms=services.clock.now_ms(),
            ),
            prompts=services.prompts,
            tools=services.tools,
            folders=services.workspace.folders,
        )

    def open_recording(self) -> ChatRecording:
        """Begin the child's recording, a file of its own in its parent's folder.

        Raises:
            OSError: the folder or file cannot be made, for another reason than a full disk.
            ValueError: a session id names no file.
        """
        services = self.services
        recording = services.new_recording()
        recording.initialize(
            "subagent",
            parent_session_id=services.state.session_id,
            directories=[str(folder) for folder in services.workspace.folders],
        )
        return recording

    async def model_key(
        self,
        history: Callable[[], Sequence[Content]],
        parts: Sequence[Part],
        prompt_id: str,
        signal: AbortSignal,
    ) -> ModelConfigKey:
        """Whose config the next turn is asked with: `override_scope` is the agent's name.

        Where the agent leaves the choice open, the router is asked once per child.

        Args:
            history: gives the curated one; asked only where the router is.
            parts: the message about to be sent.
            prompt_id: of the turn.
            signal: ends the routing.
        """
        name, models = self.definition.name, self.services.models
        alias = ModelConfigKey(model=f"{name}-config", override_scope=name)
        wanted = models.resolve(alias).model
        if models.is_auto(wanted):
            if self._choice.model is None:
                context = RoutingContext(
                    history=list(history()),
                    request=list(parts),
                    signal=signal,
                    requested_model=wanted,
                    prompt_id=prompt_id,
                )
                self._choice.model = await self._routed(context)
            wanted = self._choice.model
        return ModelConfigKey(model=wanted, override_scope=name)

    async def _routed(self, context: RoutingContext) -> str:
        try:
            return (await self.services.router.route(context)).model
        except Exception:  # some model has to be asked
            logger.warning("routing for agent %r failed", self.definition.name, exc_info=True)
            return DEFAULT_PRO

    @property
    def compression_model(self) -> str:
        """The model that `services.compression.compress(model=...)` is told: `inherit`, too."""
        return self.definition.model.model


def child_services(parent: Services, request: ChildRequest) -> ChildServices:
    """Make a child's services; cheap, and nothing is on disk yet.

    Args:
        parent: the session's.
        request: its `on_activity` is told of everything the child does.
    """
    definition = request.definition
    thread = parent.subagents.thread_of(request)
    ids = _ScopedIds(parent.ids, thread)
    agent_id = ids.uuid("agent")
    toolset = Toolset(
        definition,
        parent.tools,
        CompleteTaskTool(definition.output, definition.process_output),
        parent.agent_servers,
    )

    def new_recording() -> ChatRecording:
        return ChatRecording(
            services,
            find_tool=toolset.registry.get,
            session_id=agent_id,
        )

    services = replace(
        parent,
        ids=ids,
        tools=toolset.registry,
        bus=parent.bus.derive(definition.name),
        compression=parent.compression.for_agent(),
        new_recording=new_recording,
    )
    return ChildServices(
        services=services, request=request, agent_id=agent_id, thread=thread, toolset=toolset
    )


class _ScopedIds:
    """A child's ids: what else the session does, other children included, plays no part."""

    def __init__(self, inner: IdSource, thread: str) -> None:
        self._inner = inner
        self._thread = thread

    def uuid(self, scope: str) -> str:
        """The next id of a scope of the child's."""
        return self._inner.uuid(f"{self._thread}:{scope}")

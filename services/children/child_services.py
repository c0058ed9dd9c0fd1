"""`ChildServices`: the services of a subagent, most of them its parent's.

Shared with the parent: state, models, availability, clock, settings, policy, hooks, steering.
The subagent's own: tools, bus, ids, recording, compression.

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
    """The router's choice, which holds for the whole run."""

    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildServices:
    """One subagent."""

    services: Services
    """`tools`, `bus`, `ids`, `compression` and `new_recording` are the subagent's. Its calls go
    through `ChildCalls`: `services.scheduler` is the parent's."""
    request: ChildRequest
    """Its `on_activity` receives what `report` reports."""
    agent_id: str
    """The id of the subagent, its session and its recording."""
    thread: str
    """The subagent's path, `T/C`."""
    toolset: Toolset
    """`open` it before the first turn."""
    _choice: _Choice = field(default_factory=_Choice)

    @property
    def definition(self) -> LocalAgentDefinition:
        """The agent's definition."""
        return self.request.definition

    def prompt_id(self, turn: int) -> str:
        """The prompt id of model turn `turn`, from 0."""
        return f"{self.agent_id}#{turn}"

    def report(self, type: ActivityType, data: JsonObject) -> None:
        """Report an activity."""
        self.request.on_activity(SubagentActivity(type=type, data=data))

    def prompt(self, inputs: JsonObject) -> ChildPrompt:
        """The texts of a run with `inputs`; open the toolset before."""
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
        """Begin the subagent's recording, a separate file in its parent's folder.

        Raises:
            OSError: the folder or file cannot be created; a full disk is no error here.
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
        """The key of the config for the next turn; `override_scope` is the agent's name.

        If the definition leaves the choice of the model open, the router chooses once.

        Args:
            history: returns the curated history; called only for the router.
            parts: the message about to be sent.
            prompt_id: the turn's.
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
        except Exception:  # without a router's choice the run goes on with the default model
            logger.warning("routing for agent %r failed", self.definition.name, exc_info=True)
            return DEFAULT_PRO

    @property
    def compression_model(self) -> str:
        """The `model` for `services.compression.compress`, which accepts `inherit`."""
        return self.definition.model.model


def child_services(parent: Services, request: ChildRequest) -> ChildServices:
    """Make the services of a subagent of `parent`; this writes nothing to the disk."""
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
    """The ids of a subagent, independent of the rest of the session."""

    def __init__(self, inner: IdSource, thread: str) -> None:
        self._inner = inner
        self._thread = thread

    def uuid(self, scope: str) -> str:
        """The next id of the subagent's `scope`."""
        return self._inner.uuid(f"{self._thread}:{scope}")

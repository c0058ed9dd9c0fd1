"""The composition root of the services: from seams and settings to a `Services` bundle."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from services.availability.handler import FallbackModelHandler
from services.bundle import Services
from services.chat_recording import ChatRecording
from services.clock import Clock
from services.environment import Environment
from services.ids import IdSource, ProcessIds, RandomSource
from services.message_bus import MessageBus
from services.model.configs import ModelConfigs
from services.model.generator import ContentGenerator
from services.model.names import AccessFlags
from services.policy.defaults import default_rules
from services.policy.engine import PolicyEngine
from services.policy.from_settings import policy_rules_from_settings
from services.prompts import Prompts
from services.routing.router import ModelRouter
from services.scheduler.scheduler import ToolScheduler
from services.settings import Settings
from services.state import ApprovalMode, CoreEvents, SessionState
from services.tools.builtin import build_registry
from services.tools.host import ToolHost
from services.workspace import Workspace

__all__ = ["ServicesSetup", "open_services"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServicesSetup:
    """Everything that makes one session different from another: the seams, and the settings."""

    session_id: str
    model: str
    workspace: Workspace
    clock: Clock
    ids: IdSource
    rng: RandomSource
    process_ids: ProcessIds
    environment: Environment
    content_generator: ContentGenerator
    approval_mode: ApprovalMode = ApprovalMode.DEFAULT
    settings: Settings = field(default_factory=Settings)
    auth_type: str = "gemini-api-key"
    """Decides which models are accessible. Source: core `config/config.ts`, `refreshAuth`."""
    events: CoreEvents = field(default_factory=CoreEvents)
    fallback_handler: FallbackModelHandler | None = None


@asynccontextmanager
async def open_services(setup: ServicesSetup) -> AsyncIterator[Services]:
    """Build the services of one session; leaving ends what its tools left running.

    Raises:
        ValueError: a setting has no meaning; the message names it.
    """
    state = SessionState(
        session_id=setup.session_id,
        model=setup.model,
        approval_mode=setup.approval_mode,
        interactive=setup.settings.interactive,
        events=setup.events,
    )
    host = ToolHost(
        workspace=setup.workspace,
        clock=setup.clock,
        settings=setup.settings,
        state=state,
        environment=setup.environment,
        process_ids=setup.process_ids,
    )
    policy = PolicyEngine(
        [*default_rules(), *policy_rules_from_settings(setup.settings.policy_rules)],
        state=state,
        interactive=setup.settings.interactive,
        workspace_root=setup.workspace.root,
        home=setup.workspace.home,
        folder_trusted=setup.settings.folder_trusted,
        events=setup.events,
    )
    tools = build_registry(host)
    tools.set_exclusion(lambda tool: policy.statically_excluded(tool.name))
    bus = MessageBus(policy)
    models = ModelConfigs(access=AccessFlags.for_auth(setup.auth_type))
    scheduler = ToolScheduler(
        registry=tools,
        policy=policy,
        bus=bus,
        clock=setup.clock,
        ids=setup.ids,
        state=state,
        settings=setup.settings,
        events=setup.events,
    )

    def new_recording() -> ChatRecording:
        return ChatRecording(
            workspace=setup.workspace,
            state=state,
            clock=setup.clock,
            ids=setup.ids,
            events=setup.events,
            find_tool=tools.get,
        )

    try:
        yield Services(
            settings=setup.settings,
            state=state,
            events=setup.events,
            clock=setup.clock,
            ids=setup.ids,
            rng=setup.rng,
            environment=setup.environment,
            workspace=setup.workspace,
            content_generator=setup.content_generator,
            models=models,
            router=ModelRouter(models=models, state=state),
            tools=tools,
            policy=policy,
            bus=bus,
            scheduler=scheduler,
            prompts=Prompts(
                workspace=setup.workspace,
                state=state,
                environment=setup.environment,
                clock=setup.clock,
            ),
            fallback_handler=setup.fallback_handler,
            new_recording=new_recording,
        )
    finally:
        await host.close()

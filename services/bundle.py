"""`Services`: all that a runtime is given. Built once per session by `services.compose`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from services.availability.handler import FallbackModelHandler
from services.chat_recording import ChatRecording
from services.clock import Clock
from services.environment import Environment
from services.ids import IdSource, RandomSource
from services.message_bus import MessageBus
from services.model.configs import ModelConfigs
from services.model.generator import ContentGenerator
from services.policy.engine import PolicyEngine
from services.prompts import Prompts
from services.routing.router import ModelRouter
from services.scheduler.scheduler import ToolScheduler
from services.settings import Settings
from services.state import CoreEvents, SessionState
from services.tools.registry import ToolRegistry
from services.workspace import Workspace

__all__ = ["Services"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Everything a runtime needs and may not make for itself."""

    settings: Settings
    state: SessionState
    events: CoreEvents
    clock: Clock
    ids: IdSource
    rng: RandomSource
    environment: Environment
    workspace: Workspace
    content_generator: ContentGenerator
    models: ModelConfigs
    router: ModelRouter
    tools: ToolRegistry
    policy: PolicyEngine
    bus: MessageBus
    scheduler: ToolScheduler
    prompts: Prompts
    fallback_handler: FallbackModelHandler | None = None
    """Whom to ask when a model cannot be used; nobody where it is `None`."""
    new_recording: Callable[[], ChatRecording]
    """A recorder for a new chat of this session; nothing is on disk before its `initialize`."""

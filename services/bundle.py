"""`Services`: all that a runtime receives. `services.compose` builds it once for each session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from services.availability.availability import Availability
from services.chat_recording import ChatRecording
from services.checkpoints import Checkpoints
from services.compression.service import ChatCompressionService
from services.extensions.live import SessionExtensions
from services.hooks.session import SessionHooks
from services.hooks.system import HookSystem
from services.ide.companion import IdeCompanion
from services.interaction.asides import Asides
from services.loop_detection.detector import LoopDetector
from services.mcp.wiring import SessionServers
from services.message_bus import MessageBus
from services.model.configs import ModelConfigs
from services.model.utility import UtilityModel
from services.output_masking import ToolOutputMaskingService
from services.policy.engine import PolicyEngine
from services.policy.safety import ConversationContext
from services.prompts import Prompts
from services.routing.router import ModelRouter
from services.scheduler.scheduler import ToolScheduler
from services.session import Session
from services.skills.manager import SkillManager
from services.steering import InjectionService
from services.subagents.subagents import Subagents
from services.subagents.toolset import DiscoverServers
from services.telemetry.contract import Telemetry
from services.tools.background import BackgroundHistory
from services.tools.project_memory import ProjectMemory
from services.tools.registry import ToolRegistry
from services.wire import Content

__all__ = ["Services"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Services(Session):
    """Everything a runtime needs and may not make for itself."""

    models: ModelConfigs
    router: ModelRouter
    availability: Availability
    tools: ToolRegistry
    policy: PolicyEngine
    bus: MessageBus
    scheduler: ToolScheduler
    prompts: Prompts
    utility: UtilityModel
    compression: ChatCompressionService
    masking: ToolOutputMaskingService
    conversation_context: ConversationContext
    """The session for safety checkers; opening a chat sets its history."""
    hooks: HookSystem | None
    """The session's hooks; `None` where they are switched off."""
    session_hooks: SessionHooks
    """The hooks of the session's begin and end, which the runtime fires."""
    subagents: Subagents
    """The session's agents; the runtime gives it the factory of children."""
    steering: InjectionService
    """Texts for the session while it works."""
    asides: Asides
    """Asks the questions that the session does not wait for."""
    new_loop_detector: Callable[[Callable[[], Sequence[Content]]], LoopDetector]
    """A detector for a conversation whose history, as it is shown, the argument gives."""
    new_recording: Callable[[], ChatRecording]
    """A recorder for a new chat of this session; nothing is on disk before its `initialize`."""
    skills: SkillManager
    """The session's skills."""
    reload_skills: Callable[[Sequence[str] | None], None]
    """Finds the skills anew; the argument has the names that are switched off, unless it is `None`:
    the same as before."""
    memory: ProjectMemory
    """The memory files that the session has read."""
    extensions: SessionExtensions
    """The installed extensions; what the active ones bring is in use."""
    ide: IdeCompanion
    """The companion of the user's IDE; a surface connects it."""
    servers: SessionServers
    """The session's MCP servers; empty without any."""
    agent_servers: DiscoverServers
    """Starts the MCP servers that an agent brings along; they end with the session."""
    version: str
    """Of the product."""
    checkpoints: Checkpoints | None
    """Saves and restores checkpoints; `None` where they are switched off."""
    background: BackgroundHistory
    """The shell commands that the session has let run on."""
    telemetry: Telemetry | None
    """Observes the session and every agent; `None` where telemetry is off."""

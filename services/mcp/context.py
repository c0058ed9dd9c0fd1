"""The parts that all servers of a session share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from services.background import BackgroundTasks
from services.mcp.diagnostics import McpDiagnostics
from services.mcp.progress import McpProgress
from services.mcp.registries import PromptRegistry, ResourceRegistry
from services.mcp.sign_in import SignIn
from services.mcp.tokens import TokenStore
from services.mcp.toolbox import McpToolbox
from services.mcp.tools import Allowlist
from services.session import Session

__all__ = ["McpContext", "Registries"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Registries:
    """The registries of the main agent, or of a subagent."""

    tools: McpToolbox
    prompts: PromptRegistry = field(default_factory=PromptRegistry)
    resources: ResourceRegistry = field(default_factory=ResourceRegistry)


@dataclass(frozen=True, slots=True, kw_only=True)
class McpContext:
    """The session, as servers' clients need it."""

    session: Session
    trusted: Callable[[], bool]
    """Whether the folder is trusted now."""
    tasks: BackgroundTasks
    diagnostics: McpDiagnostics
    tokens: TokenStore
    sign_in: SignIn | None
    """Signs in where a server's settings allow it; `None` where no user can."""
    version: str
    """The version that servers receive."""
    on_progress: Callable[[McpProgress], None]
    policy_warnings: Callable[[str, Sequence[str]], Sequence[str]]
    """Warnings about the policy's rules, by server and its tools."""
    warn: Callable[[str], None]
    allowlist: Allowlist = field(default_factory=Allowlist)

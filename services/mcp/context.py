"""What all servers of a session share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from services.background import BackgroundTasks
from services.mcp.diagnostics import McpDiagnostics
from services.mcp.progress import McpProgress
from services.mcp.registries import PromptRegistry, ResourceRegistry
from services.mcp.tokens import TokenStore
from services.mcp.toolbox import McpToolbox
from services.mcp.tools import Allowlist
from services.session import Session

__all__ = ["McpContext", "Registries"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Registries:
    """Where a server's offers go: the main agent's, or a subagent's."""

    tools: McpToolbox
    prompts: PromptRegistry
    resources: ResourceRegistry


@dataclass(frozen=True, slots=True, kw_only=True)
class McpContext:
    """The session, as servers' clients need it."""

    session: Session
    trusted: Callable[[], bool]
    """Whether the folder is trusted by now."""
    tasks: BackgroundTasks
    diagnostics: McpDiagnostics
    tokens: TokenStore
    version: str
    """Our version, which servers receive."""
    on_progress: Callable[[McpProgress], None]
    policy_warnings: Callable[[str, Sequence[str]], Sequence[str]]
    """What is wrong with the policy rules about a server, given the tools it has."""
    warn: Callable[[str], None]
    allowlist: Allowlist = field(default_factory=Allowlist)

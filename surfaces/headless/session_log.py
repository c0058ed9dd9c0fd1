"""The program's part of a session's log: its configuration and the user's prompts.

Source: core `telemetry/types.ts` (`StartSessionEvent`, `UserPromptEvent`,
`OnboardingStartEvent`, `OnboardingSuccessEvent`); `packages/cli`
`core/initializer.ts`, `gemini.tsx`.
"""

from __future__ import annotations

from services.bundle import Services
from services.code_assist.setup import UserData
from services.model.auth import AuthType
from services.state import CoreEvents, Logged
from services.tools.contract import as_server_tool
from services.wire import js_length
from surfaces.headless.planning import Plan

__all__ = ["log_configuration", "log_onboarding", "log_prompt"]


def log_configuration(services: Services, plan: Plan, auth_type: str) -> None:
    """Log how the session is set up."""
    servers = list(plan.settings.mcp_servers)
    tools = [tool.name for tool in services.tools.active() if as_server_tool(tool) is not None]
    vertex = auth_type == AuthType.USE_VERTEX_AI
    services.events.emit(
        Logged(
            name="gemini_cli.config",
            body="CLI configuration loaded.",
            attributes={
                "model": plan.model,
                "embedding_model": "gemini-embedding-001",
                "sandbox_enabled": False,
                "core_tools_enabled": ",".join(plan.settings.core_tools or ()),
                "approval_mode": str(plan.approval_mode),
                "api_key_enabled": vertex or auth_type == AuthType.USE_GEMINI,
                "vertex_ai_enabled": vertex,
                "log_user_prompts_enabled": plan.telemetry.log_prompts,
                "file_filtering_respect_git_ignore": True,
                "debug_mode": False,
                "mcp_servers": ",".join(servers),
                "mcp_servers_count": len(servers),
                "mcp_tools": ",".join(tools) if servers else None,
                "mcp_tools_count": len(tools) if servers else None,
                "output_format": str(plan.output),
                "extensions": "",
                "extensions_count": 0,
                "extension_ids": "",
                "auth_type": auth_type,
                "worktree_active": False,
            },
        )
    )


def log_onboarding(services: Services, user: UserData | None) -> None:
    """Log that the account was onboarded to Code Assist, with its tier, where it was new."""
    onboarding = None if user is None else user.onboarding
    if onboarding is None:
        return
    tier, took_ms = onboarding.tier_name, onboarding.duration_ms
    named = f" Tier: {tier}" if tier else ""
    services.events.emit(
        Logged(name="gemini_cli.onboarding.start", body="Onboarding started.", attributes={})
    )
    services.events.emit(
        Logged(
            name="gemini_cli.onboarding.success",
            body=f"Onboarding succeeded.{named}. Duration: {took_ms}ms",
            attributes={"user_tier": tier or "", "duration_ms": took_ms},
        )
    )


def log_prompt(events: CoreEvents, prompt: str, prompt_id: str, auth_type: str) -> None:
    """Log the user's prompt."""
    length = js_length(prompt)
    events.emit(
        Logged(
            name="gemini_cli.user_prompt",
            body=f"User prompt. Length: {length}.",
            attributes={
                "prompt_length": length,
                "prompt_id": prompt_id,
                "auth_type": auth_type,
            },
            spoken={"prompt": prompt},
        )
    )

"""The settings of a session, by the part of it that they belong to.

Defaults are the defaults of the core's configuration. Source: core `config/config.ts`; the
settings file's keys: `packages/cli`, settings schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from services.settings.declaring import Named, Refused, at_most

__all__ = [
    "AdkFlags",
    "ContextSettings",
    "ExtensionSettings",
    "McpSettings",
    "ModelSettings",
    "PolicySettings",
    "SessionSettings",
    "ToolSettings",
]

_NO_CLASSIFIER = "this build has no local classifier; remove the setting, or set it to false"
_NO_SANDBOX = "this build runs commands without a sandbox; remove the setting, or set it to false"
_NO_PIPELINE = (
    "it distills long tool outputs and switches compression off; the core's own management of a "
    "long history is not built."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdkFlags:
    """`experimental.adk.*`: which runtime, and which surfaces go through the agent session."""

    runtime_enabled: Annotated[
        bool, Named("adk.runtimeEnabled", "experimental.adk.runtimeEnabled")
    ] = False
    agent_session_noninteractive_enabled: Annotated[
        bool,
        Named(
            "adk.agentSessionNoninteractiveEnabled",
            "experimental.adk.agentSessionNoninteractiveEnabled",
        ),
    ] = False
    agent_session_interactive_enabled: Annotated[
        bool,
        Named(
            "adk.agentSessionInteractiveEnabled", "experimental.adk.agentSessionInteractiveEnabled"
        ),
    ] = False
    agent_session_subagent_enabled: Annotated[
        bool,
        Named("adk.agentSessionSubagentEnabled", "experimental.adk.agentSessionSubagentEnabled"),
    ] = False


@dataclass(frozen=True, kw_only=True)
class SessionSettings:
    """The session as a whole, and its turns."""

    interactive: bool = False
    """Whether a user can answer; the surface sets it."""
    max_session_turns: Annotated[int, Named("maxSessionTurns", "model.maxSessionTurns")] = -1
    """Negative: unlimited. The agent loop reads 0 as "none", the client as "unlimited"."""
    skip_next_speaker_check: Annotated[
        bool, Named("skipNextSpeakerCheck", "model.skipNextSpeakerCheck")
    ] = True
    disable_loop_detection: Annotated[
        bool, Named("disableLoopDetection", "model.disableLoopDetection")
    ] = False
    folder_trusted: Annotated[bool, Named("trustedFolder")] = True
    folder_trust: Annotated[bool, Named("folderTrust", "security.folderTrust.enabled")] = True
    """Whether a folder that is not trusted has no agents of its own."""
    checkpointing: Annotated[bool, Named("checkpointing", "general.checkpointing.enabled")] = False
    """Whether workspace and conversation are saved before the user is asked about an edit."""
    model_steering: Annotated[bool, Named("modelSteering", "experimental.modelSteering")] = False
    """Whether the model receives what the user says while the agent works."""
    ide_mode: Annotated[bool, Named("ideMode", "ide.enabled")] = False
    """Whether the session uses the companion of the user's IDE."""
    adk: AdkFlags = field(default_factory=AdkFlags)


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """Requests to models, and the choice of the model."""

    max_attempts: Annotated[
        int,
        Named("maxAttempts", "general.maxAttempts", at_most(10)),
    ] = 10
    retry_fetch_errors: Annotated[bool, Named("retryFetchErrors", "general.retryFetchErrors")] = (
        True
    )
    model_configs: Annotated[
        Mapping[str, Any], Named("modelConfigServiceConfig", "modelConfigs")
    ] = field(default_factory=dict)
    """Aliases, overrides and tables of models; see `services.model.config_settings`."""
    dynamic_model_configuration: Annotated[
        bool, Named("dynamicModelConfiguration", "experimental.dynamicModelConfiguration")
    ] = False
    """Whether tables resolve model names, instead of the product's own rules."""
    plan_model_routing: Annotated[
        bool, Named("planSettings.modelRouting", "general.plan.modelRouting")
    ] = True
    """Whether an auto model is a pro model in plan mode, and a flash model for an approved plan."""
    gemma_router: Annotated[
        bool,
        Named(
            "gemmaModelRouter.enabled",
            "experimental.gemmaModelRouter.enabled",
            Refused(_NO_CLASSIFIER),
            gap=f"it cannot be switched on: {_NO_CLASSIFIER}.",
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class ContextSettings:
    """The size of the history: truncation, distillation, masking and compression."""

    truncate_tool_output_threshold: Annotated[
        int, Named("truncateToolOutputThreshold", "tools.truncateToolOutputThreshold")
    ] = 40_000
    """Characters; 0 or less switches truncation off."""
    include_directory_tree: Annotated[
        bool, Named("includeDirectoryTree", "context.includeDirectoryTree")
    ] = True
    """Whether the first turn lists the files of the workspace."""
    compression_threshold: Annotated[
        float | None, Named("compressionThreshold", "model.compressionThreshold")
    ] = None
    """The share of a model's window above which the history is compressed; `None` or 0: half."""
    context_management: Annotated[
        bool,
        Named("contextManagement.enabled", "experimental.contextManagement", gap=_NO_PIPELINE),
    ] = False
    """Whether long outputs of any tool are distilled instead of truncated."""
    distillation_max_output_tokens: Annotated[
        int, Named("contextManagement.tools.distillation.maxOutputTokens")
    ] = 10_000
    """A tool output above four times as many characters is distilled; 0 or less: none is."""
    distillation_summary_threshold_tokens: Annotated[
        int, Named("contextManagement.tools.distillation.summarizationThresholdTokens")
    ] = 20_000
    """A model also summarizes a tool output above four times as many characters."""
    masking_protection_tokens: Annotated[
        int, Named("contextManagement.tools.outputMasking.protectionThresholdTokens")
    ] = 50_000
    """The newest tool outputs stay unmasked up to this many tokens."""
    masking_min_prunable_tokens: Annotated[
        int, Named("contextManagement.tools.outputMasking.minPrunableThresholdTokens")
    ] = 30_000
    """Masking begins when older tool outputs have this many tokens."""
    masking_protect_latest_turn: Annotated[
        bool, Named("contextManagement.tools.outputMasking.protectLatestTurn")
    ] = True
    """Whether the last turn of the history is never masked."""


@dataclass(frozen=True, kw_only=True)
class ToolSettings:
    """The built-in tools, and skills."""

    core_tools: Annotated[tuple[str, ...] | None, Named("coreTools", "tools.core")] = None
    exclude_tools: Annotated[tuple[str, ...], Named("excludeTools", "tools.exclude")] = ()
    main_agent_tools: Annotated[tuple[str, ...] | None, Named("mainAgentTools")] = None
    """The only tools that the main loop declares to its model; `None`: all."""
    shell_inactivity_timeout_s: Annotated[
        float, Named("shellToolInactivityTimeout", "tools.shell.inactivityTimeout")
    ] = 300.0
    """A shell command ends after this many seconds without output; 0 or less: never."""
    background_completion: Annotated[
        str,
        Named("shellBackgroundCompletionBehavior", "tools.shell.backgroundCompletionBehavior"),
    ] = "silent"
    """What agents receive when a background command ends: `inject`, `notify`, `silent`."""
    disable_llm_correction: Annotated[
        bool, Named("disableLLMCorrection", "tools.disableLLMCorrection")
    ] = True
    sandbox: Annotated[
        bool,
        Named(
            "sandbox",
            "tools.sandbox",
            Refused(_NO_SANDBOX, taking=lambda value: value not in (None, False, "", "false")),
            gap=f"it cannot be switched on: {_NO_SANDBOX}.",
        ),
    ] = False
    tool_sandboxing: Annotated[
        bool,
        Named(
            "toolSandboxing",
            "security.toolSandboxing",
            Refused(_NO_SANDBOX),
            gap=f"it cannot be switched on: {_NO_SANDBOX}.",
        ),
    ] = False
    topic_update_narration: Annotated[
        bool, Named("topicUpdateNarration", "general.topicUpdateNarration")
    ] = True
    plan_enabled: Annotated[bool, Named("plan", "general.plan.enabled")] = True
    """Whether plan mode's tools are registered."""
    plan_directory: Annotated[
        str | None, Named("planSettings.directory", "general.plan.directory")
    ] = None
    """The folder for plans, inside the workspace; by default one in the session's folder."""
    use_write_todos: Annotated[bool, Named("useWriteTodos", "useWriteTodos")] = True
    """Whether older models have the tool for a list of tasks."""
    task_tracker: Annotated[bool, Named("tracker", "experimental.taskTracker")] = False
    """Whether the task tracker takes the place of the tool for a list of tasks."""
    direct_web_fetch: Annotated[bool, Named("directWebFetch", "experimental.directWebFetch")] = (
        False
    )
    """Whether fetching a page returns the page itself, without a model's summary."""
    respect_git_ignore: Annotated[
        bool, Named("fileFiltering.respectGitIgnore", "context.fileFiltering.respectGitIgnore")
    ] = True
    """Whether tools leave out what `.gitignore` names, unless a call asks otherwise."""
    respect_gemini_ignore: Annotated[
        bool,
        Named("fileFiltering.respectGeminiIgnore", "context.fileFiltering.respectGeminiIgnore"),
    ] = True
    """The same for `.geminiignore`."""
    skills_support: Annotated[bool, Named("skillsSupport", "skills.enabled")] = True
    admin_skills_enabled: Annotated[bool, Named("adminSkillsEnabled")] = True
    disabled_skills: Annotated[tuple[str, ...], Named("disabledSkills", "skills.disabled")] = ()
    """Names, in any case."""


@dataclass(frozen=True, kw_only=True)
class PolicySettings:
    """Which calls are allowed, denied or confirmed."""

    policy_rules: Annotated[tuple[Mapping[str, Any], ...], Named("policyRules")] = ()
    """Rules appended to the engine's: `toolName`, `decision`, `priority`, `argsPattern`, …"""
    policy_paths: Annotated[tuple[str, ...], Named("policyPaths", "policyPaths")] = ()
    """Policy files, or folders of them, instead of those in the user's own folder."""
    admin_policy_paths: Annotated[
        tuple[str, ...], Named("adminPolicyPaths", "adminPolicyPaths")
    ] = ()
    """Policy files that rank with the administrator's."""
    workspace_policies_dir: Annotated[str | None, Named("workspacePoliciesDir")] = None
    """The folder of the workspace's policy files, where they are to count."""
    policy_allowed_tools: Annotated[
        tuple[str, ...], Named("policySettings.tools.allowed", "tools.allowed")
    ] = ()
    """Tools that a rule allows, or the shell for a command: `run_shell_command(git)`."""
    policy_excluded_tools: Annotated[
        tuple[str, ...], Named("policySettings.tools.exclude", "tools.exclude")
    ] = ()
    policy_asked_tools: Annotated[
        tuple[str, ...],
        Named("policySettings.tools.confirmationRequired", "tools.confirmationRequired"),
    ] = ()
    policy_core_tools: Annotated[
        tuple[str, ...] | None, Named("policySettings.tools.core", "tools.core")
    ] = None
    """The only tools that rules allow; `None`: any."""
    policy_allowed_servers: Annotated[
        tuple[str, ...], Named("policySettings.mcp.allowed", "mcp.allowed")
    ] = ()
    policy_excluded_servers: Annotated[
        tuple[str, ...], Named("policySettings.mcp.excluded", "mcp.excluded")
    ] = ()
    mcp_auto_allow_in_headless: Annotated[
        bool, Named("policySettings.mcp.autoAllowInHeadless", "mcp.autoAllowInHeadless")
    ] = False
    disable_yolo_mode: Annotated[bool, Named("disableYoloMode", "security.disableYoloMode")] = False
    """Whether a surface refuses to begin in yolo mode; the core leaves it to the surface."""
    disable_always_allow: Annotated[
        bool, Named("disableAlwaysAllow", "security.disableAlwaysAllow")
    ] = False
    """Whether rules that come from "always allow" answers have no effect."""
    enable_conseca: Annotated[bool, Named("enableConseca", "security.enableConseca")] = False
    """Whether a model judges every call by a policy that it derives from the user's words."""


@dataclass(frozen=True, kw_only=True)
class ExtensionSettings:
    """Extensions, where a surface loads them."""

    extension_config: Annotated[bool, Named("extensionConfig", "experimental.extensionConfig")] = (
        True
    )
    """Whether the settings of extensions have values."""
    allowed_extensions: Annotated[
        tuple[str, ...], Named("allowedExtensions", "security.allowedExtensions")
    ] = ()
    """Patterns, in JavaScript's syntax, of the only sources of extensions; empty: any."""
    block_git_extensions: Annotated[
        bool, Named("blockGitExtensions", "security.blockGitExtensions")
    ] = False
    """Whether extensions from repositories are refused."""


@dataclass(frozen=True, kw_only=True)
class McpSettings:
    """MCP servers."""

    mcp_servers: Annotated[Mapping[str, Any], Named("mcpServers", "mcpServers")] = field(
        default_factory=dict
    )
    """Servers by name, as their author wrote them; see `services.mcp.config`."""
    mcp_server_command: Annotated[str | None, Named("mcpServerCommand", "mcp.serverCommand")] = None
    """The command line of one more server, which is called `mcp`."""
    allowed_mcp_servers: Annotated[tuple[str, ...], Named("allowedMcpServers", "mcp.allowed")] = ()
    """The only servers that may be started; empty: any."""
    blocked_mcp_servers: Annotated[tuple[str, ...], Named("blockedMcpServers", "mcp.excluded")] = ()
    redact_environment_variables: Annotated[
        bool,
        Named(
            "enableEnvironmentVariableRedaction", "security.environmentVariableRedaction.enabled"
        ),
    ] = False
    """Whether commands and hooks do not inherit variables that look like secrets, either."""
    allowed_environment_variables: Annotated[
        tuple[str, ...],
        Named("allowedEnvironmentVariables", "security.environmentVariableRedaction.allowed"),
    ] = ()
    """Variables that servers inherit although their names look like secrets."""
    blocked_environment_variables: Annotated[
        tuple[str, ...],
        Named("blockedEnvironmentVariables", "security.environmentVariableRedaction.blocked"),
    ] = ()

"""The product's settings, as values. Defaults are the core configuration's constructor defaults.

Source: core `config/config.ts`; names and the settings file's keys: `packages/cli` settings
schema. `PARAMETERS` is the one table that leads from the core's configuration parameters and from
a user's settings file to these fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from services.agent_settings import AgentOverride, AgentSettingsError, read_overrides
from services.hook_definitions import HookDefinition, HookSettingsError, read_hooks
from services.telemetry_settings import OTLP_PROTOCOLS, TARGETS, TelemetrySettings

__all__ = [
    "PARAMETERS",
    "AdkFlags",
    "Parameter",
    "SettingError",
    "Settings",
    "settings_from_file",
    "settings_from_parameters",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdkFlags:
    """`experimental.adk.*`: which runtime, and which surfaces go through the agent session."""

    runtime_enabled: bool = False
    agent_session_noninteractive_enabled: bool = False
    agent_session_interactive_enabled: bool = False
    agent_session_subagent_enabled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One session's configuration. Immutable; what changes while running is `SessionState`."""

    max_session_turns: int = -1
    """Negative: unlimited. The agent loop reads 0 as "none", the client as "unlimited"."""
    max_attempts: int = 10
    retry_fetch_errors: bool = True
    truncate_tool_output_threshold: int = 40_000
    """Characters; 0 or less switches truncation off."""
    shell_inactivity_timeout_s: float = 300.0
    """Seconds without output after which a shell command is ended; 0 or less: never."""
    background_completion: str = "silent"
    """What agents are told when a command in the background ends: `inject`, `notify`, `silent`."""
    compression_threshold: float | None = None
    """The share of a model's window from which on history is compressed; none, or 0: half."""
    skip_next_speaker_check: bool = True
    disable_loop_detection: bool = False
    context_management: bool = False
    """Whether long tool outputs are distilled, whatever their tool, instead of truncated."""
    distillation_max_output_tokens: int = 10_000
    """A tool output above four times as many characters is distilled; 0 or less: none is."""
    distillation_summary_threshold_tokens: int = 20_000
    """A tool output above four times as many characters is summed up by a model as well."""
    masking_protection_tokens: int = 50_000
    """The newest tool outputs stay unmasked up to this many tokens."""
    masking_min_prunable_tokens: int = 30_000
    """Masking begins when older tool outputs come to this many tokens."""
    masking_protect_latest_turn: bool = True
    """Whether the last turn of the history is never masked."""
    disable_llm_correction: bool = True
    topic_update_narration: bool = True
    folder_trusted: bool = True
    folder_trust: bool = True
    """Whether a folder that is not trusted has no agents of its own."""
    enable_agents: bool = True
    """Whether there are agents that the model can call."""
    agent_overrides: Mapping[str, AgentOverride] = field(default_factory=dict)
    """What is different about agents, by their names."""
    interactive: bool = False
    policy_rules: tuple[Mapping[str, Any], ...] = ()
    """Rules appended to the engine's: `toolName`, `decision`, `priority`, `argsPattern`, …"""
    policy_paths: tuple[str, ...] = ()
    """Policy files, or folders of them, instead of those in the user's own folder."""
    admin_policy_paths: tuple[str, ...] = ()
    """Policy files that rank with the administrator's."""
    workspace_policies_dir: str | None = None
    """The folder of the workspace's policy files, where they are to count."""
    policy_allowed_tools: tuple[str, ...] = ()
    """Tools that a rule allows, or the shell for a command: `run_shell_command(git)`."""
    policy_excluded_tools: tuple[str, ...] = ()
    policy_asked_tools: tuple[str, ...] = ()
    policy_core_tools: tuple[str, ...] | None = None
    """The only tools that rules allow; none: any."""
    policy_allowed_servers: tuple[str, ...] = ()
    policy_excluded_servers: tuple[str, ...] = ()
    mcp_auto_allow_in_headless: bool = False
    disable_always_allow: bool = False
    """Whether rules that come from "always allow" answers are passed over."""
    enable_conseca: bool = False
    """Whether a model judges every call by a policy that it makes of the user's words."""
    core_tools: tuple[str, ...] | None = None
    exclude_tools: tuple[str, ...] = ()
    main_agent_tools: tuple[str, ...] | None = None
    """The only tools of which the main loop's model is told; `None`: of all."""
    mcp_servers: Mapping[str, Any] = field(default_factory=dict)
    """MCP servers by name, as their author wrote them; see `services.mcp.config`."""
    mcp_server_command: str | None = None
    """The command line of one more server, which is called `mcp`."""
    allowed_mcp_servers: tuple[str, ...] = ()
    """The only servers that may be started; empty: any."""
    blocked_mcp_servers: tuple[str, ...] = ()
    allowed_environment_variables: tuple[str, ...] = ()
    """Variables that servers inherit although they are called like a secret."""
    blocked_environment_variables: tuple[str, ...] = ()
    model_steering: bool = False
    """Whether what the user says while the agent works is passed on to the model."""
    hooks: tuple[HookDefinition, ...] = ()
    """All hooks of all settings files, in their order."""
    project_hooks: tuple[HookDefinition, ...] = ()
    """Those of the project's own file, which people are warned of once; a part of `hooks`."""
    disabled_hooks: tuple[str, ...] = ()
    """Names, or commands of hooks without one."""
    enable_hooks: bool = True
    model_configs: Mapping[str, Any] = field(default_factory=dict)
    """Aliases, overrides and tables of models, as their author wrote them; see
    `services.model.config_settings`."""
    dynamic_model_configuration: bool = False
    """Whether tables say what model names stand for, instead of the product's own rules."""
    plan_enabled: bool = True
    """Whether plan mode's tools are registered."""
    plan_model_routing: bool = True
    """Whether an auto model is a pro one in plan mode, and a flash one once a plan is approved."""
    gemma_router_enabled: bool = False
    gemma_router_host: str = "http://localhost:9379"
    gemma_router_model: str = "gemma3-1b-gpu-custom"
    use_write_todos: bool = True
    """Whether older models are offered a list of what is to be done."""
    direct_web_fetch: bool = False
    """Whether fetching a page returns it as it is, with no model in between."""
    skills_support: bool = True
    admin_skills_enabled: bool = True
    disabled_skills: tuple[str, ...] = ()
    """Names, in any case."""
    adk: AdkFlags = field(default_factory=AdkFlags)
    telemetry: TelemetrySettings = field(default_factory=TelemetrySettings)
    """What the settings say; a replay is measured only where whoever runs it says so."""
    parameters: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """The core's configuration parameters as they were given, for an engine that takes them whole;
    empty where the settings came from a file."""


class SettingError(ValueError):
    """A setting whose value has no meaning. `key` is what its author called it."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(f"{key}: {problem}")
        self.key = key
        self.problem = problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One setting under its three names."""

    name: str
    """The core's configuration parameter, as cassettes give it; dots lead into mappings."""
    key: str | None
    """The user's settings file's key; `None` for what only programs set."""
    field: str
    """The field of `Settings`; `adk.` and `telemetry.` lead into the values of these names."""
    read: Callable[[Any], Any]
    """The value for the field; raises `ValueError` with what was expected."""


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false expected")
    return value


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("a whole number expected")
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("a number expected")
    return float(value)


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise ValueError("a list of texts expected")
    return tuple(value)


def _mappings(value: Any) -> tuple[Mapping[str, Any], ...]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(x, Mapping) for x in value):
        raise ValueError("a list of mappings expected")
    return tuple(value)


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError("a mapping expected")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a text expected")
    return value


def _one_of(*known: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in known:
            raise ValueError(f"one of {', '.join(known)} expected")
        return str(value)

    return read


def _attempts(value: Any) -> int:
    return min(_whole(value), 10)


def _parameter(name: str, key: str | None, field: str, read: Callable[[Any], Any]) -> Parameter:
    return Parameter(name=name, key=key, field=field, read=read)


PARAMETERS: Final = (
    _parameter("maxSessionTurns", "model.maxSessionTurns", "max_session_turns", _whole),
    _parameter("maxAttempts", "general.maxAttempts", "max_attempts", _attempts),
    _parameter("retryFetchErrors", "general.retryFetchErrors", "retry_fetch_errors", _boolean),
    _parameter(
        "truncateToolOutputThreshold",
        "tools.truncateToolOutputThreshold",
        "truncate_tool_output_threshold",
        _whole,
    ),
    _parameter(
        "shellToolInactivityTimeout",
        "tools.shell.inactivityTimeout",
        "shell_inactivity_timeout_s",
        _number,
    ),
    _parameter(
        "compressionThreshold", "model.compressionThreshold", "compression_threshold", _number
    ),
    _parameter(
        "skipNextSpeakerCheck", "model.skipNextSpeakerCheck", "skip_next_speaker_check", _boolean
    ),
    _parameter(
        "disableLoopDetection", "model.disableLoopDetection", "disable_loop_detection", _boolean
    ),
    _parameter(
        "contextManagement.enabled",
        "experimental.contextManagement",
        "context_management",
        _boolean,
    ),
    *(
        _parameter(f"contextManagement.tools.{wire}", None, ours, read)
        for wire, ours, read in (
            ("distillation.maxOutputTokens", "distillation_max_output_tokens", _whole),
            (
                "distillation.summarizationThresholdTokens",
                "distillation_summary_threshold_tokens",
                _whole,
            ),
            ("outputMasking.protectionThresholdTokens", "masking_protection_tokens", _whole),
            ("outputMasking.minPrunableThresholdTokens", "masking_min_prunable_tokens", _whole),
            ("outputMasking.protectLatestTurn", "masking_protect_latest_turn", _boolean),
        )
    ),
    _parameter(
        "disableLLMCorrection", "tools.disableLLMCorrection", "disable_llm_correction", _boolean
    ),
    _parameter(
        "topicUpdateNarration", "general.topicUpdateNarration", "topic_update_narration", _boolean
    ),
    _parameter("trustedFolder", None, "folder_trusted", _boolean),
    _parameter("folderTrust", "security.folderTrust.enabled", "folder_trust", _boolean),
    _parameter("enableAgents", "experimental.enableAgents", "enable_agents", _boolean),
    _parameter("agents.overrides", "agents.overrides", "agent_overrides", read_overrides),
    _parameter("policyRules", None, "policy_rules", _mappings),
    _parameter("policyPaths", "policyPaths", "policy_paths", _texts),
    _parameter("adminPolicyPaths", "adminPolicyPaths", "admin_policy_paths", _texts),
    _parameter("workspacePoliciesDir", None, "workspace_policies_dir", _text),
    *(
        _parameter(f"policySettings.{key}", key, ours, read)
        for key, ours, read in (
            ("tools.allowed", "policy_allowed_tools", _texts),
            ("tools.exclude", "policy_excluded_tools", _texts),
            ("tools.confirmationRequired", "policy_asked_tools", _texts),
            ("tools.core", "policy_core_tools", _texts),
            ("mcp.allowed", "policy_allowed_servers", _texts),
            ("mcp.excluded", "policy_excluded_servers", _texts),
            ("mcp.autoAllowInHeadless", "mcp_auto_allow_in_headless", _boolean),
        )
    ),
    _parameter(
        "disableAlwaysAllow", "security.disableAlwaysAllow", "disable_always_allow", _boolean
    ),
    _parameter("enableConseca", "security.enableConseca", "enable_conseca", _boolean),
    _parameter("useWriteTodos", "useWriteTodos", "use_write_todos", _boolean),
    _parameter("directWebFetch", "experimental.directWebFetch", "direct_web_fetch", _boolean),
    _parameter("skillsSupport", "skills.enabled", "skills_support", _boolean),
    _parameter("adminSkillsEnabled", None, "admin_skills_enabled", _boolean),
    _parameter("disabledSkills", "skills.disabled", "disabled_skills", _texts),
    _parameter("coreTools", "tools.core", "core_tools", _texts),
    _parameter("excludeTools", "tools.exclude", "exclude_tools", _texts),
    _parameter("mainAgentTools", None, "main_agent_tools", _texts),
    _parameter("mcpServers", "mcpServers", "mcp_servers", _mapping),
    _parameter("mcpServerCommand", "mcp.serverCommand", "mcp_server_command", _text),
    _parameter("allowedMcpServers", "mcp.allowed", "allowed_mcp_servers", _texts),
    _parameter("blockedMcpServers", "mcp.excluded", "blocked_mcp_servers", _texts),
    *(
        _parameter(
            f"{which}EnvironmentVariables",
            f"security.environmentVariableRedaction.{which}",
            f"{which}_environment_variables",
            _texts,
        )
        for which in ("allowed", "blocked")
    ),
    _parameter("hooks", "hooks", "hooks", read_hooks),
    _parameter("projectHooks", None, "project_hooks", read_hooks),
    _parameter("disabledHooks", "hooksConfig.disabled", "disabled_hooks", _texts),
    _parameter("enableHooks", "hooksConfig.enabled", "enable_hooks", _boolean),
    _parameter("modelConfigServiceConfig", "modelConfigs", "model_configs", _mapping),
    _parameter(
        "dynamicModelConfiguration",
        "experimental.dynamicModelConfiguration",
        "dynamic_model_configuration",
        _boolean,
    ),
    _parameter(
        "shellBackgroundCompletionBehavior",
        "tools.shell.backgroundCompletionBehavior",
        "background_completion",
        _text,
    ),
    _parameter("modelSteering", "experimental.modelSteering", "model_steering", _boolean),
    _parameter("plan", "general.plan.enabled", "plan_enabled", _boolean),
    _parameter(
        "planSettings.modelRouting", "general.plan.modelRouting", "plan_model_routing", _boolean
    ),
    *(
        _parameter(f"gemmaModelRouter.{wire}", f"experimental.gemmaModelRouter.{wire}", ours, read)
        for wire, ours, read in (
            ("enabled", "gemma_router_enabled", _boolean),
            ("classifier.host", "gemma_router_host", _text),
            ("classifier.model", "gemma_router_model", _text),
        )
    ),
    *(
        _parameter(f"adk.{wire}", f"experimental.adk.{wire}", f"adk.{ours}", _boolean)
        for wire, ours in (
            ("runtimeEnabled", "runtime_enabled"),
            ("agentSessionNoninteractiveEnabled", "agent_session_noninteractive_enabled"),
            ("agentSessionInteractiveEnabled", "agent_session_interactive_enabled"),
            ("agentSessionSubagentEnabled", "agent_session_subagent_enabled"),
        )
    ),
    *(
        _parameter(f"telemetry.{wire}", f"telemetry.{wire}", f"telemetry.{ours}", read)
        for wire, ours, read in (
            ("enabled", "enabled", _boolean),
            ("target", "target", _one_of(*TARGETS)),
            ("otlpEndpoint", "otlp_endpoint", _text),
            ("otlpProtocol", "otlp_protocol", _one_of(*OTLP_PROTOCOLS)),
            ("logPrompts", "log_prompts", _boolean),
            ("traces", "traces", _boolean),
            ("outfile", "outfile", _text),
        )
    ),
)
"""Every setting that this build acts on."""


def settings_from_parameters(values: Mapping[str, Any], *, interactive: bool = False) -> Settings:
    """Settings from the core's configuration parameters; what is not given has its default.

    Parameters that this build does not act on play no part.

    Raises:
        SettingError: a value has the wrong type.
    """
    settings = _settings(values, lambda parameter: parameter.name, interactive)
    return replace(settings, parameters=dict(values))


def settings_from_file(document: Mapping[str, Any], *, interactive: bool = False) -> Settings:
    """Settings from a user's settings file, parsed.

    Raises:
        SettingError: a value has the wrong type.
    """
    return _settings(document, lambda parameter: parameter.key, interactive)


def _settings(
    values: Mapping[str, Any], named: Callable[[Parameter], str | None], interactive: bool
) -> Settings:
    fields: dict[str, Any] = {"interactive": interactive}
    groups: dict[str, dict[str, Any]] = {"adk": {}, "telemetry": {}}
    for parameter in PARAMETERS:
        path = named(parameter)
        found, value = _look_up(values, path) if path is not None else (False, None)
        if not found:
            continue
        try:
            read = parameter.read(value)
        except (AgentSettingsError, HookSettingsError) as problem:
            raise SettingError(f"{path}{problem.place}", problem.problem) from None
        except ValueError as problem:
            raise SettingError(path or parameter.name, f"{problem}, not {value!r}") from None
        group, _, name = parameter.field.rpartition(".")
        (groups[group] if group else fields)[name] = read
    return Settings(
        adk=AdkFlags(**groups["adk"]), telemetry=TelemetrySettings(**groups["telemetry"]), **fields
    )


def _look_up(values: Mapping[str, Any], path: str) -> tuple[bool, Any]:
    value: Any = values
    for key in path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            return False, None
        value = value[key]
    return True, value

"""Which settings a cassette may give, and of what type.

They are the core's configuration parameters, by their own names, less those that a run fixes
itself (folders, session, model, approval mode) or that only a program can give; and
`policyRules`, which is ours. What a build does with one is `services.settings`' business.

Source: core `config/config.ts`, `ConfigParameters`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Final, Literal

from harness.cassette.problems import FormatProblem, Problems, kind_of, suggest
from services.wire import Json, JsonObject

__all__ = ["HOOK_EVENTS", "KNOWN_SETTINGS", "check_settings"]

SettingType = Literal[
    "boolean", "whole number", "number", "text", "list of text", "mapping", "list"
]

HOOK_EVENTS: Final = frozenset(
    {
        "AfterAgent",
        "AfterModel",
        "AfterTool",
        "BeforeAgent",
        "BeforeModel",
        "BeforeTool",
        "BeforeToolSelection",
        "Notification",
        "PreCompress",
        "SessionEnd",
        "SessionStart",
    }
)

_BY_TYPE: Final[Mapping[SettingType, str]] = {
    "boolean": """
        autoDistillation checkpointing debugMode directWebFetch disableAlwaysAllow
        disableLLMCorrection disableLoopDetection disableYoloMode dynamicModelConfiguration
        enableAgents enableConseca enableEnvironmentVariableRedaction enableEventDrivenScheduler
        enableHooks enableInteractiveShell enableShellOutputEfficiency experimentalAutoMemory
        experimentalAgentHistorySummarization experimentalAgentHistoryTruncation folderTrust
        includeDirectoryTree mcpEnabled modelSteering plan retryFetchErrors skillsSupport
        skipNextSpeakerCheck toolSandboxing topicUpdateNarration tracker trustedFolder useRipgrep
        useWriteTodos adminSkillsEnabled extensionsEnabled
    """,
    "whole number": """
        discoveryMaxDirs experimentalAgentHistoryRetainedMessages
        experimentalAgentHistoryTruncationThreshold maxAttempts maxSessionTurns
        shellToolInactivityTimeout truncateToolOutputThreshold
    """,
    "number": "compressionThreshold shellInactivityTimeout",
    "text": """
        embeddingModel mcpServerCommand shellBackgroundCompletionBehavior toolCallCommand
        toolDiscoveryCommand userMemory workspacePoliciesDir
    """,
    "list of text": """
        adminPolicyPaths allowedEnvironmentVariables allowedMcpServers allowedTools
        blockedEnvironmentVariables blockedMcpServers coreTools disabledHooks disabledSkills
        excludeTools includeDirectories mainAgentTools memoryBoundaryMarkers policyPaths
    """,
    "mapping": """
        adk agents billing contextManagement experiments fileFiltering gemmaModelRouter hooks
        mcpServers modelConfigServiceConfig output planSettings policyEngineConfig policySettings
        projectHooks shellExecutionConfig summarizeToolOutput
    """,
    "list": "policyRules",
}

KNOWN_SETTINGS: Final[Mapping[str, SettingType]] = {
    name: type_ for type_, names in _BY_TYPE.items() for name in names.split()
}
"""Name of a setting → its type."""

_ADK: Final[Mapping[str, SettingType]] = {
    "agentSessionInteractiveEnabled": "boolean",
    "agentSessionNoninteractiveEnabled": "boolean",
    "agentSessionSubagentEnabled": "boolean",
    "runtimeEnabled": "boolean",
}
_CONTEXT: Final[Mapping[str, SettingType]] = {
    "enabled": "boolean",
    "historyWindow": "mapping",
    "messageLimits": "mapping",
    "tools": "mapping",
}
_CONTEXT_TOOLS: Final[Mapping[str, SettingType]] = {
    "distillation": "mapping",
    "outputMasking": "mapping",
}
_MASKING: Final[Mapping[str, SettingType]] = {
    "enabled": "boolean",
    "minPrunableThresholdTokens": "number",
    "protectLatestTurn": "boolean",
    "protectionThresholdTokens": "number",
}
_RULE_KEYS: Final = frozenset(
    {
        "allowRedirection",
        "argsPattern",
        "decision",
        "denyMessage",
        "interactive",
        "mcpName",
        "modes",
        "name",
        "priority",
        "source",
        "subagent",
        "toolAnnotations",
        "toolName",
    }
)
_DECISIONS: Final = ("allow", "ask_user", "deny")


def check_settings(settings: JsonObject, path: str) -> None:
    """Check names and types.

    Raises:
        FormatProblem: a setting is unknown or of the wrong type; with the other such settings.
    """
    problems = Problems()
    for name, value in settings.items():
        problems.of(partial(_check_setting, name, value, f"{path}.{name}"))
    problems.refuse()  # what is inside a setting of the wrong type cannot be looked at
    of = problems.of
    for name in ("hooks", "projectHooks"):
        of(partial(_check_hooks, settings.get(name, {}), f"{path}.{name}"))
    for server, spec in settings.get("mcpServers", {}).items():
        of(partial(_check_type, spec, "mapping", f"{path}.mcpServers.{server}"))
    of(partial(_check_keys, settings.get("adk", {}), _ADK, f"{path}.adk"))
    of(partial(_check_context, settings.get("contextManagement", {}), f"{path}.contextManagement"))
    for position, rule in enumerate(settings.get("policyRules", [])):
        of(partial(_check_rule, rule, f"{path}.policyRules[{position}]"))
    problems.refuse()


def _check_setting(name: str, value: Json, path: str) -> None:
    if name not in KNOWN_SETTINGS:
        raise FormatProblem(path, "unknown setting", suggest(name, KNOWN_SETTINGS))
    _check_type(value, KNOWN_SETTINGS[name], path)


def _check_type(value: Json, type_: SettingType, path: str) -> None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    number = whole or isinstance(value, float)
    fits = {
        "boolean": isinstance(value, bool),
        "whole number": whole or (isinstance(value, float) and value.is_integer()),
        "number": number,
        "text": isinstance(value, str),
        "list of text": isinstance(value, list) and all(isinstance(item, str) for item in value),
        "mapping": isinstance(value, dict),
        "list": isinstance(value, list),
    }
    if not fits[type_]:
        raise FormatProblem(path, f"must be a {type_}, not {kind_of(value)}", f"write a {type_}")


def _check_keys(value: JsonObject, known: Mapping[str, SettingType], path: str) -> None:
    for key, item in value.items():
        if key not in known:
            raise FormatProblem(f"{path}.{key}", "unknown key", suggest(key, known))
        _check_type(item, known[key], f"{path}.{key}")


def _check_context(value: JsonObject, path: str) -> None:
    _check_keys(value, _CONTEXT, path)
    tools = value.get("tools", {})
    _check_keys(tools, _CONTEXT_TOOLS, f"{path}.tools")
    _check_keys(tools.get("outputMasking", {}), _MASKING, f"{path}.tools.outputMasking")


def _check_hooks(hooks: JsonObject, path: str) -> None:
    for event, definitions in hooks.items():
        here = f"{path}.{event}"
        if event not in HOOK_EVENTS:
            raise FormatProblem(here, "unknown hook event", suggest(event, HOOK_EVENTS))
        _check_type(definitions, "list", here)
        for position, definition in enumerate(definitions):
            _check_type(definition, "mapping", f"{here}[{position}]")
            hooks_path = f"{here}[{position}].hooks"
            _check_type(definition.get("hooks"), "list", hooks_path)
            for number, hook in enumerate(definition["hooks"]):
                _check_type(hook, "mapping", f"{hooks_path}[{number}]")


def _check_rule(rule: Json, path: str) -> None:
    _check_type(rule, "mapping", path)
    for key in rule:
        if key not in _RULE_KEYS:
            raise FormatProblem(f"{path}.{key}", "unknown key", suggest(key, _RULE_KEYS))
    if rule.get("decision") not in _DECISIONS:
        problem = f"must be one of {', '.join(_DECISIONS)}, not {kind_of(rule.get('decision'))}"
        raise FormatProblem(f"{path}.decision", problem, "write one of them")
    if "priority" in rule:
        _check_type(rule["priority"], "number", f"{path}.priority")
    if "toolName" in rule:
        _check_type(rule["toolName"], "text", f"{path}.toolName")
    pattern = rule.get("argsPattern")
    if pattern is None:
        return
    _check_type(pattern, "text", f"{path}.argsPattern")
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        problem = f"is not a regular expression: {error}"
        raise FormatProblem(f"{path}.argsPattern", problem, "correct the expression") from error

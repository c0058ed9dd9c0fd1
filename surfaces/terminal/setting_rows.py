"""The settings that `/settings` offers: those with an effect here, and a value in one line.

Source: `packages/cli` `config/settingsSchema.ts` for the labels and their order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from services.settings import PARAMETERS
from services.subagents.definition import AgentDefinition, LocalAgentDefinition, RunLimits
from services.wire import Json, js_json

__all__ = ["ROWS", "SettingRow", "agent_rows"]

_MODES: Final = {"default": "Default", "auto_edit": "Auto Edit", "plan": "Plan"}
_BEHAVIOURS: Final = {"inject": "Inject", "notify": "Notify", "silent": "Silent"}
_GENERATION: Final = (
    ("temperature", "Temperature", "Sampling temperature (0.0 to 2.0)"),
    ("topP", "Top P", "Nucleus sampling parameter (0.0 to 1.0)"),
    ("topK", "Top K", "Top-K sampling parameter"),
    ("maxOutputTokens", "Max Output Tokens", "Maximum number of tokens to generate"),
)
_SURFACE_DEFAULTS: Final[Mapping[str, Json]] = {
    "general.defaultApprovalMode": "default",
    "general.vimMode": False,
    "security.enablePermanentToolApproval": False,
}
_DEFAULTS: Final[Mapping[str, Any]] = {
    **{each.key: each.default for each in PARAMETERS if each.key},
    **_SURFACE_DEFAULTS,
}


@dataclass(frozen=True, slots=True)
class AgentDefault:
    """What an agent's definition says about a value."""

    value: Any
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class SettingRow:
    """A setting: its key in the settings file, and what the user reads."""

    key: str
    label: str
    description: str
    options: Mapping[str, str] | None = None
    """The words for the values of a choice; `None`: true or false, a number or a text."""
    of_agent: AgentDefault | None = None
    """The default of an agent's value, which is in no table."""

    @property
    def default(self) -> Any:
        """The value without any settings file; `None` for none."""
        return _DEFAULTS[self.key] if self.of_agent is None else self.of_agent.value

    def shown(self, value: Any) -> str:
        """`value` in one line."""
        if value is None:
            return "undefined" if self.of_agent is None else "(default)"
        if self.options is not None:
            return self.options.get(str(value), str(value))
        return value if isinstance(value, str) else js_json(value)

    def next(self, value: Any) -> Json:
        """The value after `value`, for a switch or a choice; `None`: the value is typed."""
        if self.options is not None:
            known = list(self.options)
            index = known.index(value) + 1 if value in known else 0
            return known[index % len(known)]
        return not value if isinstance(self.default, bool) else None

    def parsed(self, typed: str) -> Json:
        """What the user typed as a value; an empty text removes the setting.

        Raises:
            ValueError: the setting takes a number.
        """
        if not typed.strip():
            return None
        numeric = isinstance(self.default, int | float)
        if not (numeric if self.of_agent is None else self.of_agent.is_number):
            return typed
        number = float(typed)
        return int(number) if number.is_integer() else number


ROWS: Final = (
    SettingRow("general.vimMode", "Vim Mode", "Vim's keys in the input."),
    SettingRow(
        "general.defaultApprovalMode",
        "Default Approval Mode",
        "The mode in which a session begins.",
        _MODES,
    ),
    SettingRow(
        "general.checkpointing.enabled",
        "Enable Checkpointing",
        "Save the files before each edit, for /restore.",
    ),
    SettingRow("general.plan.enabled", "Enable Plan Mode", "Offer plan mode and its tools."),
    SettingRow(
        "general.plan.directory",
        "Plan Directory",
        "The folder of the plans; without one they are temporary files.",
    ),
    SettingRow(
        "general.plan.modelRouting",
        "Plan Model Routing",
        "Plan with a pro model, and carry the plan out with a flash model.",
    ),
    SettingRow(
        "general.retryFetchErrors",
        "Retry Fetch Errors",
        "Send a request again if the connection fails.",
    ),
    SettingRow(
        "general.maxAttempts",
        "Max Chat Model Attempts",
        "How often a failing request is sent, 10 times at most.",
    ),
    SettingRow(
        "general.topicUpdateNarration",
        "Topic & Update Narration",
        "The model reports its topics with a tool.",
    ),
    SettingRow("ide.enabled", "IDE Mode", "Connect to the companion of the IDE."),
    SettingRow(
        "model.maxSessionTurns",
        "Max Session Turns",
        "The most turns of a session; -1 for any number.",
    ),
    SettingRow(
        "model.disableLoopDetection",
        "Disable Loop Detection",
        "Do not look for repetitions of the model.",
    ),
    SettingRow(
        "model.skipNextSpeakerCheck",
        "Skip Next Speaker Check",
        "Do not ask a model whether the turn goes on.",
    ),
    SettingRow(
        "context.includeDirectoryTree",
        "Include Directory Tree",
        "Begin the conversation with a listing of the folder.",
    ),
    SettingRow(
        "context.fileFiltering.respectGitIgnore",
        "Respect .gitignore",
        "Leave out files that .gitignore names.",
    ),
    SettingRow(
        "context.fileFiltering.respectGeminiIgnore",
        "Respect .geminiignore",
        "Leave out files that .geminiignore names.",
    ),
    SettingRow(
        "tools.shell.inactivityTimeout",
        "Inactivity Timeout",
        "Seconds without output after which a shell command ends.",
    ),
    SettingRow(
        "tools.shell.backgroundCompletionBehavior",
        "Background Completion Behavior",
        "What happens when a command in the background ends.",
        _BEHAVIOURS,
    ),
    SettingRow(
        "tools.truncateToolOutputThreshold",
        "Tool Output Truncation Threshold",
        "The letters of a tool's output beyond which it is cut.",
    ),
    SettingRow("security.disableYoloMode", "Disable YOLO Mode", "Never allow every call."),
    SettingRow(
        "security.disableAlwaysAllow",
        "Disable Always Allow",
        'Leave "always allow" out of the confirmations.',
    ),
    SettingRow(
        "security.enablePermanentToolApproval",
        "Allow Permanent Tool Approval",
        "Offer to allow a call in all future sessions.",
    ),
    SettingRow(
        "security.blockGitExtensions",
        "Blocks extensions from Git",
        "Use and install no extension from a repository.",
    ),
    SettingRow(
        "security.folderTrust.enabled",
        "Folder Trust",
        "Ask whether a folder is trusted.",
    ),
    SettingRow(
        "security.environmentVariableRedaction.enabled",
        "Enable Environment Variable Redaction",
        "Hide secrets of the environment from commands.",
    ),
    SettingRow("experimental.enableAgents", "Enable Agents", "Offer the subagents."),
    SettingRow("experimental.directWebFetch", "Direct Web Fetch", "Fetch pages without a model."),
    SettingRow("experimental.taskTracker", "Task Tracker", "Offer the tools of the task tracker."),
    SettingRow(
        "experimental.modelSteering",
        "Model Steering",
        "Take prompts as hints while the agent works.",
    ),
    SettingRow("skills.enabled", "Enable Agent Skills", "Offer the skills."),
    SettingRow("hooksConfig.enabled", "Enable Hooks", "Run the hooks."),
)


def agent_rows(agent: AgentDefinition) -> tuple[SettingRow, ...]:
    """What the settings may override of an agent.

    Source: `packages/cli` `ui/components/AgentConfigDialog.tsx`.
    """
    prefix = f"agents.overrides.{agent.name}"
    config = f"{prefix}.modelConfig.generateContentConfig"
    local = agent if isinstance(agent, LocalAgentDefinition) else None
    generation = {} if local is None else local.model.generation_config
    limits = RunLimits() if local is None else local.limits
    model = "inherit" if local is None else local.model.model

    def number(key: str, label: str, description: str, value: Any) -> SettingRow:
        return SettingRow(key, label, description, of_agent=AgentDefault(value, is_number=True))

    return (
        SettingRow(
            f"{prefix}.enabled",
            "Enabled",
            "Enable or disable this agent",
            of_agent=AgentDefault(not agent.experimental),
        ),
        SettingRow(
            f"{prefix}.modelConfig.model",
            "Model",
            "Model to use (e.g., 'gemini-2.0-flash' or 'inherit')",
            of_agent=AgentDefault(model),
        ),
        *(
            number(f"{config}.{key}", label, description, generation.get(key))
            for key, label, description in _GENERATION
        ),
        number(
            f"{prefix}.runConfig.maxTimeMinutes",
            "Max Time (minutes)",
            "Maximum execution time in minutes",
            limits.max_time_minutes,
        ),
        number(
            f"{prefix}.runConfig.maxTurns",
            "Max Turns",
            "Maximum number of conversational turns",
            limits.max_turns,
        ),
    )

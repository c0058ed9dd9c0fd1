"""The set-up of a session: model, approval mode, limits, thresholds, rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from harness.scenarios.chooser import Chooser
from harness.scenarios.grammar.hooks import hooks
from harness.scenarios.grammar.tool_calls import MID_TOKENS, SIZED_BY
from services.wire import Json, JsonObject

__all__ = ["MODES", "answers_of_the_user", "session"]

_MODELS: Final = {
    "gemini-2.5-flash": 40,
    "gemini-2.5-pro": 8,
    "auto-gemini-2.5": 8,
    "gemini-2.5-flash-lite": 3,
    "gemini-3-pro-preview": 6,
    "gemini-3-flash-preview": 2,
    "auto-gemini-3": 3,
    "flash": 2,
    "pro": 2,
    "flash-lite": 1,
    "custom-model": 1,
}
_MODES: Final = {"yolo": 40, "default": 16, "auto_edit": 8, "plan": 2}
MODES: Final = tuple(_MODES)
"""The approval modes, plainest first."""

_OUTCOMES: Final = {
    "proceed_once": 10,
    "cancel": 6,
    "proceed_always": 6,
    "proceed_always_tool": 4,
    "proceed_always_and_save": 2,
    "proceed_always_server": 1,
}


def session(choose: Chooser) -> JsonObject:
    """The cassette's `session`."""
    found: JsonObject = {
        "model": choose.option("model", _MODELS),
        "approval_mode": choose.option("approval_mode", _MODES),
    }
    if choose.chance("interactive", 250):
        found["interactive"] = True
    if choose.chance("session_per_send", 80):
        found["new_session_per_send"] = True
    settings: JsonObject = {}
    for name, (per_mille, draw) in _SETTINGS.items():
        if choose.chance(f"set_{name}", per_mille):
            settings.update(draw(choose))
    if settings:
        found["settings"] = settings
    return found


def answers_of_the_user(choose: Chooser) -> JsonObject:
    """The cassette's `answers`; may be empty."""
    found: JsonObject = {}
    if choose.chance("confirms", 500):
        found["confirmations"] = [
            choose.option("confirmation", _OUTCOMES)
            for _ in range(1 + sum(1 for _ in choose.times("confirm", 3, 400)))
        ]
    if choose.chance("fallback_handler", 300):
        intents = (
            "retry_always",
            "retry_once",
            "stop",
            "retry_later",
            "upgrade",
            "retry_with_credits",
        )
        found["fallback"] = [choose.among(intents)]
        if choose.chance("second_intent", 300):
            found["fallback"].append(choose.among(intents))
    return found


def _masking(choose: Chooser) -> JsonObject:
    """Masking with the default thresholds, low ones, and some around the size of `mid.txt`."""
    twice = 2 * MID_TOKENS
    masking: JsonObject = {
        "protectionThresholdTokens": choose.among(
            (50_000, 500, 0, MID_TOKENS - 1, MID_TOKENS, twice - 1, twice)
        ),
        "minPrunableThresholdTokens": choose.among((30_000, 300, 1, MID_TOKENS, MID_TOKENS + 1)),
        "protectLatestTurn": choose.among((True, False)),
    }
    if choose.chance("masking_enabled", 100):
        masking["enabled"] = choose.among((True, False))
    return {"contextManagement": {"tools": {"outputMasking": masking}}}


def _distillation(choose: Chooser) -> JsonObject:
    return {
        "contextManagement": {
            "enabled": True,
            "tools": {
                "distillation": {
                    "maxOutputTokens": choose.among((10_000, 300, 100, 10)),
                    "summarizationThresholdTokens": choose.among((100_000, 1_000, 100)),
                }
            },
        }
    }


def _rules(choose: Chooser) -> JsonObject:
    return {
        "policyRules": [
            _rule(choose) for _ in range(1 + sum(1 for _ in choose.times("another_rule", 2, 350)))
        ]
    }


def _rule(choose: Chooser) -> JsonObject:
    names = ("run_shell_command", "write_file", "read_file", "replace", "*", "no_such_tool")
    rule: JsonObject = {
        "toolName": choose.among(names),
        "decision": choose.among(("allow", "ask_user", "deny")),
        "priority": choose.among((1.5, 2.5, 3.9, 1.015)),
    }
    if choose.chance("rule_pattern", 200):
        rule["argsPattern"] = choose.among(
            ("a\\.txt", '"command":"(echo|cat) ', "^\\{\\}$", "src/")
        )
    if choose.chance("rule_modes", 150):
        rule["modes"] = choose.among((["default"], ["autoEdit", "yolo"], ["yolo"]))
    if choose.chance("rule_message", 150):
        rule["denyMessage"] = "the rule says no"
    if choose.chance("rule_redirection", 80):
        rule["allowRedirection"] = True
    if choose.chance("rule_interactive", 80):
        rule["interactive"] = choose.among((True, False))
    return rule


def _own_config(choose: Chooser) -> JsonObject:
    override = {
        "match": {"model": choose.among(("gemini-2.5-flash", "gemini-2.5-pro"))},
        "modelConfig": {
            "generateContentConfig": choose.among(
                ({"temperature": 0.7}, {"thinkingConfig": {"thinkingBudget": 128}})
            )
        },
    }
    return {"modelConfigServiceConfig": {"customOverrides": [override]}}


def _tool_lists(choose: Chooser) -> JsonObject:
    lists: tuple[JsonObject, ...] = (
        {"excludeTools": ["write_file"]},
        {"coreTools": ["read_file", "run_shell_command"]},
        {"allowedTools": ["run_shell_command(echo)"]},
        {"mainAgentTools": ["read_file", "list_directory"]},
        {"useWriteTodos": False},
    )
    return choose.among(lists)


def _limits(choose: Chooser) -> JsonObject:
    return {"maxSessionTurns": choose.among((2, 1, 0, 5, 3, -1))}


def _compression(choose: Chooser) -> JsonObject:
    return {"compressionThreshold": choose.among((0.5, 0.8, 0.05, 0.0, 1.0))}


def _truncation(choose: Chooser) -> JsonObject:
    return {"truncateToolOutputThreshold": choose.among((*SIZED_BY, 40_000, 0, -1))}


def _flag(name: str, plainest: bool = True) -> Callable[[Chooser], JsonObject]:
    return lambda choose: {name: choose.among((plainest, not plainest))}


_SETTINGS: Final[Mapping[str, tuple[int, Callable[[Chooser], Json]]]] = {
    "maxSessionTurns": (80, _limits),
    "skipNextSpeakerCheck": (500, _flag("skipNextSpeakerCheck")),
    "disableLoopDetection": (100, lambda choose: {"disableLoopDetection": True}),
    "compressionThreshold": (80, _compression),
    "truncateToolOutputThreshold": (200, _truncation),
    "masking": (150, _masking),
    "distillation": (0, _distillation),
    "maxAttempts": (100, lambda choose: {"maxAttempts": choose.among((3, 1, 2))}),
    "hooks": (150, lambda choose: {"hooks": hooks(choose)}),
    "policyRules": (100, _rules),
    "retryFetchErrors": (60, _flag("retryFetchErrors")),
    "modelConfig": (30, _own_config),
    "tools": (60, _tool_lists),
    "disableYoloMode": (20, _flag("disableYoloMode")),
    "disableAlwaysAllow": (20, _flag("disableAlwaysAllow")),
    "disableLLMCorrection": (30, _flag("disableLLMCorrection")),
    "enableShellOutputEfficiency": (20, _flag("enableShellOutputEfficiency")),
    "topicUpdateNarration": (20, _flag("topicUpdateNarration")),
}
"""Name of one or several settings → how often in a thousand, and the function that draws them."""

"""How a session is set up: model, approval mode, limits, thresholds, hooks, rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from harness.scenarios.chooser import Chooser
from services.wire import Json, JsonObject

__all__ = ["answers_of_the_user", "session"]

_MODELS: Final = {
    "gemini-2.5-flash": 40,
    "gemini-2.5-pro": 8,
    "auto-gemini-2.5": 8,
    "gemini-2.5-flash-lite": 3,
    "gemini-3-pro-preview": 6,
    "auto-gemini-3": 3,
    "flash": 2,
    "pro": 2,
}
_MODES: Final = {"yolo": 30, "default": 20, "auto_edit": 8}


def session(choose: Chooser) -> JsonObject:
    """The cassette's `session`."""
    found: JsonObject = {
        "model": choose.option("model", _MODELS),
        "approval_mode": choose.option("approval_mode", _MODES),
    }
    if choose.chance("session_per_send", 80):
        found["new_session_per_send"] = True
    settings: JsonObject = {}
    for name, (per_mille, draw) in _SETTINGS.items():
        if choose.chance(f"set_{name}", per_mille):
            settings[name] = draw(choose)
    if settings:
        found["settings"] = settings
    return found


def answers_of_the_user(choose: Chooser) -> JsonObject:
    """The cassette's `answers`; empty where nobody answers."""
    found: JsonObject = {}
    if choose.chance("confirms", 500):
        outcomes = ("proceed_once", "cancel", "proceed_always", "proceed_always_tool")
        found["confirmations"] = [
            choose.among(outcomes)
            for _ in range(1 + sum(1 for _ in choose.times("confirm", 3, 400)))
        ]
    if choose.chance("fallback_handler", 300):
        intents = ("retry_always", "retry_once", "stop", "retry_later", "upgrade")
        found["fallback"] = [choose.among(intents)]
        if choose.chance("second_intent", 300):
            found["fallback"].append(choose.among(intents))
    return found


def _masking(choose: Chooser) -> JsonObject:
    return {
        "tools": {
            "outputMasking": {
                "protectionThresholdTokens": choose.among((50_000, 500, 0)),
                "minPrunableThresholdTokens": choose.among((30_000, 300, 1)),
                "protectLatestTurn": choose.among((True, False)),
            }
        }
    }


def _hooks(choose: Chooser) -> JsonObject:
    event = choose.option("hook_event", dict.fromkeys(_HOOK_OUTPUTS, 1))
    command = choose.among(_HOOK_OUTPUTS[event])
    entry: JsonObject = {"hooks": [{"type": "command", "command": command, "name": "drawn"}]}
    if event in ("BeforeTool", "AfterTool") and choose.chance("hook_matcher", 500):
        entry["matcher"] = choose.among(("read_file", "run_.*", "*"))
    return {event: [entry]}


def _says(text: str) -> str:
    return f"printf '%s' '{text}'"


def _specific(event: str, body: str) -> str:
    return _says(f'{{"hookSpecificOutput":{{"hookEventName":"{event}",{body}}}}}')


_HOOK_OUTPUTS: Final[dict[str, tuple[str, ...]]] = {
    "BeforeAgent": (
        "true",
        _specific("BeforeAgent", '"additionalContext":"more to know"'),
        _says('{"decision":"block","reason":"not now"}'),
        _says('{"continue":false,"stopReason":"enough"}'),
        "exit 2",
    ),
    "AfterAgent": (
        "true",
        _says('{"continue":false,"stopReason":"enough"}'),
        _says('{"systemMessage":"noted"}'),
        "exit 1",
    ),
    "BeforeModel": (
        "true",
        _specific("BeforeModel", '"llm_request":{"config":{"temperature":0.2}}'),
        _says('{"decision":"block","reason":"no model"}'),
        _says('{"continue":false,"stopReason":"no model"}'),
    ),
    "AfterModel": (
        "true",
        _says('{"decision":"deny","reason":"not that"}'),
        _says('{"continue":false,"stopReason":"halt"}'),
    ),
    "BeforeToolSelection": (
        "true",
        _specific(
            "BeforeToolSelection",
            '"toolConfig":{"mode":"ANY","allowedFunctionNames":["read_file"]}',
        ),
    ),
    "BeforeTool": (
        "true",
        _says('{"decision":"deny","reason":"not this"}'),
        "echo no >&2; exit 2",
        _specific("BeforeTool", '"tool_input":{"file_path":"b.txt"}'),
    ),
    "AfterTool": (
        "true",
        _specific("AfterTool", '"additionalContext":"and also"'),
        _says('{"continue":false,"stopReason":"after"}'),
        _says("no json"),
    ),
}


def _rules(choose: Chooser) -> list[Json]:
    rule: JsonObject = {
        "toolName": choose.among(("run_shell_command", "write_file", "read_file", "*")),
        "decision": choose.among(("allow", "ask_user", "deny")),
        "priority": choose.among((1.5, 2.5, 3.9)),
    }
    if choose.chance("rule_pattern", 200):
        rule["argsPattern"] = "a\\.txt"
    return [rule]


_SETTINGS: Final[Mapping[str, tuple[int, Callable[[Chooser], Json]]]] = {
    "maxSessionTurns": (80, lambda choose: choose.among((2, 1, 0, 5))),
    "skipNextSpeakerCheck": (500, lambda choose: choose.among((True, False))),
    "disableLoopDetection": (100, lambda choose: True),
    "compressionThreshold": (80, lambda choose: choose.among((0.5, 0.8, 0.05))),
    "truncateToolOutputThreshold": (200, lambda choose: choose.among((400, 4_000, 40))),
    "contextManagement": (150, _masking),
    "maxAttempts": (100, lambda choose: choose.among((3, 1, 2))),
    "hooks": (150, _hooks),
    "policyRules": (100, _rules),
    "retryFetchErrors": (60, lambda choose: choose.among((True, False))),
}

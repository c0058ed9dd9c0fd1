"""Hooks of a session, with matchers; their commands give fixed answers."""

from __future__ import annotations

from typing import Final

from harness.scenarios.chooser import Chooser
from services.wire import Json, JsonObject

__all__ = ["hooks"]

_OF_TOOLS: Final = frozenset({"BeforeTool", "AfterTool"})
_MATCHERS: Final = ("read_file", "run_.*", "*", "ead", "^(write_file|replace)$", "[", "")
_CODES: Final = ("true", "exit 1", "echo no >&2; exit 2", "echo odd >&2; exit 3")


def hooks(choose: Chooser) -> JsonObject:
    """The setting `hooks`: event → definitions."""
    found: JsonObject = {}
    for _ in range(1 + sum(1 for _ in choose.times("another_hook", 3, 350))):
        event = choose.option("hook_event", dict.fromkeys(_ANSWERS, 1))
        found.setdefault(event, []).append(_definition(choose, event))
    return found


def _definition(choose: Chooser, event: str) -> JsonObject:
    count = 1 + sum(1 for _ in choose.times("another_command", 1, 250))
    commands: list[Json] = []
    for index in range(count):
        plain = choose.chance("hook_code", 250)
        command = choose.among(_CODES if plain else _ANSWERS[event])
        if plain and event == "AfterAgent":
            # Else it rejects answers forever. Each has its own name, as hooks run in parallel.
            command = _once(f"coded{_CODES.index(command)}", command)
        commands.append({"type": "command", "command": command, "name": f"drawn{index}"})
    entry: JsonObject = {"hooks": commands}
    if any(command["command"] == _ASKS for command in commands):
        entry["matcher"] = _ALONE
    elif event in _OF_TOOLS and choose.chance("hook_matcher", 500):
        entry["matcher"] = choose.among(_MATCHERS)
    if choose.chance("hook_sequential", 200):
        entry["sequential"] = True
    return entry


def _says(text: str) -> str:
    return f"printf '%s' '{text}'"


def _specific(event: str, body: str) -> str:
    return _says(f'{{"hookSpecificOutput":{{"hookEventName":"{event}",{body}}}}}')


def _once(name: str, command: str) -> str:
    """`command` for the first time only, also if two hooks run it in parallel."""
    return f"if mkdir {name}.seen 2>/dev/null; then {command}; fi"


def _in_place_of(text: str) -> str:
    answer = (
        '"llm_response":{"candidates":[{"content":{"role":"model",'
        f'"parts":["{text}"]}},"finishReason":"STOP"}}]}}'
    )
    return _specific("BeforeModel", answer)


_TAIL: Final = (
    'if grep -q \'"tool_name": *"run_shell_command"\'; then '
    + _specific(
        "AfterTool", '"tailToolCallRequest":{"name":"read_file","args":{"file_path":"b.txt"}}'
    )
    + "; fi"
)
"""Another call in place of a command's result; it does not trigger itself."""

_ASKS: Final = _says('{"decision":"ask","reason":"really?"}')
_ALONE: Final = "^(run_shell_command|write_file|replace)$"
"""Tools that never run in parallel: otherwise the fastest hook decides which call asks first."""

_ANSWERS: Final[dict[str, tuple[str, ...]]] = {
    "BeforeAgent": (
        "true",
        _specific("BeforeAgent", '"additionalContext":"more to know"'),
        _says('{"decision":"block","reason":"not now"}'),
        _says('{"continue":false,"stopReason":"enough"}'),
        _says('{"systemMessage":"noted"}'),
    ),
    "AfterAgent": (
        "true",
        _says('{"continue":false,"stopReason":"enough"}'),
        _says('{"systemMessage":"noted"}'),
        _once("after", _says('{"decision":"block","reason":"say more"}')),
        _once("cleared", _specific("AfterAgent", '"clearContext":true')),
    ),
    "BeforeModel": (
        "true",
        _specific("BeforeModel", '"llm_request":{"config":{"temperature":0.2}}'),
        _says('{"decision":"block","reason":"no model"}'),
        _says('{"continue":false,"stopReason":"no model"}'),
        _once("model", _in_place_of("made up")),
    ),
    "AfterModel": (
        "true",
        _says('{"decision":"deny","reason":"not that"}'),
        _says('{"continue":false,"stopReason":"halt"}'),
        _says('{"suppressOutput":true}'),
    ),
    "BeforeToolSelection": (
        "true",
        _specific(
            "BeforeToolSelection",
            '"toolConfig":{"mode":"ANY","allowedFunctionNames":["read_file"]}',
        ),
        _specific("BeforeToolSelection", '"toolConfig":{"mode":"NONE"}'),
    ),
    "BeforeTool": (
        "true",
        _says('{"decision":"deny","reason":"not this"}'),
        _ASKS,
        _says('{"continue":false,"stopReason":"before"}'),
        _specific("BeforeTool", '"tool_input":{"file_path":"b.txt"}'),
    ),
    "AfterTool": (
        "true",
        _specific("AfterTool", '"additionalContext":"and also"'),
        _says('{"decision":"deny","reason":"not for you"}'),
        _says('{"continue":false,"stopReason":"after"}'),
        _says("no json"),
        _TAIL,
    ),
    "Notification": ("true", _says('{"systemMessage":"asked"}')),
    "PreCompress": ("true", _says('{"systemMessage":"about to compress"}')),
    "SessionStart": (
        "true",
        _specific("SessionStart", '"additionalContext":"from the start"'),
        _says('{"systemMessage":"welcome"}'),
    ),
    "SessionEnd": ("true", _says('{"systemMessage":"bye"}')),
}

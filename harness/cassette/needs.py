"""The features that a cassette needs beyond plain turns, by name.

A runner without one of them reports the case as inconclusive. The list is a lower bound: only the
run shows whether a loop is detected or a fallback happens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from services.wire import Json, JsonObject

__all__ = ["FEATURES", "features_of", "function_calls"]

FEATURES: Final[Mapping[str, str]] = {
    "checkpoints": "saving the workspace before edits, and restoring it",
    "compression": "summarising the history, on demand or at a threshold",
    "confirmations": "answers to tool confirmations",
    "fallback_handler": "asking which model to go on with",
    "hooks": "hooks that run commands",
    "interactive": "an interactive session",
    "loop_question": "asking whether to go on looking for loops",
    "masking": "masking old tool outputs by given thresholds",
    "mcp": "tools of MCP servers",
    "new_agents_question": "asking about new agents of the project",
    "next_speaker": "asking the model who speaks next",
    "plan_mode": "the tools that enter and leave plan mode",
    "reset": "starting a new chat in a session",
    "resume": "resuming from a chat recording",
    "revert": "taking back what tools did to files",
    "rewind": "going back to an earlier message",
    "routing": "a model chosen by a router",
    "sign_in_question": "asking for consent to sign in",
    "steering": "hints given while the agent works",
    "subagents": "agents that the model calls as tools",
    "trust_question": "asking whether a folder is trusted",
    "validation_question": "asking to verify the account",
}

_ACTIONS: Final = {
    "compress": "compression",
    "restore": "checkpoints",
    "hint": "steering",
    "reset": "reset",
    "resume_self": "resume",
    "rewind": "rewind",
}
_TOOLS: Final = {
    "invoke_agent": "subagents",
    "enter_plan_mode": "plan_mode",
    "exit_plan_mode": "plan_mode",
}
_QUESTIONS: Final = {
    "fallback": "fallback_handler",
    "validation": "validation_question",
    "loop": "loop_question",
    "trust": "trust_question",
    "new_agents": "new_agents_question",
    "sign_in": "sign_in_question",
}
"""Keys of `answers`."""
_COMPRESSING_TOKENS: Final = 524_288
"""Half of the usual context window, the default threshold of compression."""


def features_of(document: JsonObject) -> frozenset[str]:
    """Return the features that a valid, expanded cassette needs, as names of `FEATURES`."""
    return frozenset(
        [*_of_session(document), *_of_user(document), *_of_model(document.get("model") or [])]
    )


def function_calls(steps: Iterable[JsonObject]) -> Iterator[JsonObject]:
    """Yield every function call in the steps of an expanded cassette."""
    for response in _responses(steps):
        for candidate in response.get("candidates") or ():
            for part in (candidate.get("content") or {}).get("parts") or ():
                if isinstance(part.get("functionCall"), dict):
                    yield part["functionCall"]


def _responses(steps: Iterable[JsonObject]) -> Iterator[JsonObject]:
    for step in steps:
        yield from step.get("stream") or ()
        if isinstance(step.get("generate"), dict):
            yield step["generate"]


def _of_session(document: JsonObject) -> Iterator[str]:
    session: JsonObject = document["session"]
    settings: JsonObject = session.get("settings") or {}
    if str(session["model"]).startswith("auto"):
        yield "routing"
    if session.get("interactive"):
        yield "interactive"
    if settings.get("hooks") or settings.get("projectHooks"):
        yield "hooks"
    if settings.get("checkpointing"):
        yield "checkpoints"
    if settings.get("mcpServers"):
        yield "mcp"
    if settings.get("modelSteering"):
        yield "steering"
    if settings.get("skipNextSpeakerCheck") is False:
        yield "next_speaker"
    if "compressionThreshold" in settings:
        yield "compression"
    if ((settings.get("contextManagement") or {}).get("tools") or {}).get("outputMasking"):
        yield "masking"


def _of_user(document: JsonObject) -> Iterator[str]:
    happenings: list[Json] = [*(document.get("script") or ())]
    happenings += [moment["do"] for moment in document.get("during") or ()]
    for action in happenings:
        if not isinstance(action, dict):
            continue
        for key in action:
            if key in _ACTIONS:
                yield _ACTIONS[key]
        rewind = action.get("rewind")
        if isinstance(rewind, dict) and rewind.get("choice", "rewind_only") != "rewind_only":
            yield "revert"
    answers: JsonObject = document.get("answers") or {}
    if answers.get("confirmations"):
        yield "confirmations"
    for kind, feature in _QUESTIONS.items():
        if answers.get(kind):
            yield feature
    if "resume" in document:
        yield "resume"
    if any(".gemini/agents/" in f"/{path}" for path in document.get("home_files") or ()):
        yield "subagents"


def _of_model(steps: list[JsonObject]) -> Iterator[str]:
    for call in function_calls(steps):
        if call.get("name") in _TOOLS:
            yield _TOOLS[call["name"]]
    for step in steps:
        if step.get("role") == "subagent" or step.get("thread", "main") != "main":
            yield "subagents"
        if step.get("role") == "utility_compressor":
            yield "compression"
    for response in _responses(steps):
        tokens = (response.get("usageMetadata") or {}).get("promptTokenCount")
        if isinstance(tokens, int) and tokens >= _COMPRESSING_TOKENS:
            yield "compression"

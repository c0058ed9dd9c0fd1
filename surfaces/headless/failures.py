"""How a run fails: the exception for an agent's error event, its message, its exit code.

Source: `packages/cli` `utils/errors.ts`, `nonInteractiveCliAgentSession.ts`; core
`utils/errorParsing.ts`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from agent_protocol.events import ErrorEvent
from services.model.auth import AuthType
from services.model.errors import (
    FatalAuthenticationError,
    FatalCancellationError,
    FatalConfigError,
    FatalError,
    FatalInputError,
    FatalSandboxError,
    FatalToolExecutionError,
    FatalTurnLimitedError,
)
from services.providers.provider import Provider

__all__ = [
    "CANCELLED",
    "INVALID_STREAM_WORDS",
    "TURNS_EXCEEDED",
    "ReportedError",
    "api_error_text",
    "error_code",
    "error_type",
    "exit_code",
    "failure_of",
]

CANCELLED: Final = "Operation cancelled."
TURNS_EXCEEDED: Final = (
    "Reached max session turns for this session. Increase the number of turns by specifying "
    "maxSessionTurns in settings.json."
)
INVALID_STREAM_WORDS: Final[Mapping[str, str]] = {
    "NO_RESPONSE_TEXT": (
        "The model returned an empty response with no text or thoughts. This may be a transient "
        "API issue; please try again."
    ),
    "THINKING_ONLY_RESPONSE": (
        "The model returned reasoning thoughts but no final response text. If your context window "
        "is near capacity, try using /compress."
    ),
    "MAX_TOKENS_EXCEEDED": (
        "Model response was truncated because it exceeded the token limit. Try using /compress to "
        "free up context space."
    ),
    "SAFETY_BLOCKED": "The model response was blocked due to safety settings.",
    "RECITATION_BLOCKED": "The model response was blocked due to recitation/copyright filters.",
    "OTHER_BLOCKED": "The model response was blocked due to other policy settings.",
}
"""The message about an invalid answer, by the kind that the chat gives it."""

_WAIT: Final = (
    "\nPlease wait and try again later. To increase your limits, request a quota increase"
)
_LATER: Final = "\nPlease wait and try again later, or name another model."
_LIMITED: Final[Mapping[str, str]] = {
    AuthType.USE_GEMINI: f"{_WAIT} through AI Studio, or switch to another /auth method",
    AuthType.USE_VERTEX_AI: f"{_WAIT} through Vertex, or switch to another /auth method",
    **dict.fromkeys((Provider.OPENAI, Provider.ANTHROPIC), _LATER),
}
_LIMITED_ELSEWHERE: Final = (
    "\nPossible quota limitations in place or slow response times detected. Switching to the "
    "gemini-2.5-flash model for the rest of this session."
)

_FATAL: Final[Mapping[str, Callable[[str], FatalError]]] = {
    "FatalAuthenticationError": FatalAuthenticationError,
    "FatalInputError": FatalInputError,
    "FatalSandboxError": FatalSandboxError,
    "FatalConfigError": FatalConfigError,
    "FatalTurnLimitedError": FatalTurnLimitedError,
    "FatalToolExecutionError": FatalToolExecutionError,
    "FatalCancellationError": FatalCancellationError,
}


class ReportedError(Exception):
    """An error that an agent emitted, with the codes of its event."""

    def __init__(
        self,
        message: str,
        *,
        name: str = "Error",
        exit_code: Any = None,
        code: Any = None,
        status: Any = None,
    ) -> None:
        super().__init__(message)
        self.name = name
        self.exit_code = exit_code
        self.code = code
        self.status = status


def failure_of(event: ErrorEvent) -> Exception:
    """The exception for a fatal `error` event."""
    meta = event.meta or {}
    name = meta.get("errorName")
    if isinstance(name, str) and name in _FATAL:
        return _FATAL[name](event.message)
    if name == "FatalError":
        return FatalError(event.message, exit_code=_number(meta.get("exitCode"), 1))
    return ReportedError(
        event.message,
        name=name if isinstance(name, str) and name else "Error",
        exit_code=meta.get("exitCode"),
        code=meta.get("code"),
        status=meta.get("status"),
    )


def error_type(error: Exception) -> str:
    """The error's name in output."""
    name = getattr(error, "name", None)
    return name.lstrip("_") if isinstance(name, str) and name else type(error).__name__


def error_code(error: Exception) -> Any:
    """Its exit code, else its code, else its HTTP status, else 1. May be a text."""
    if isinstance(error, FatalError):
        return error.exit_code
    own = getattr(error, "exit_code", None)
    if isinstance(own, (int, float)) and not isinstance(own, bool):
        return own
    for code in (getattr(error, "code", None), getattr(error, "status", None)):
        if code is not None:
            return code
    return 1


def exit_code(code: Any) -> int:
    """`code` as a process can end with it. The system keeps the lowest eight bits of a number."""
    return _number(code, 1) & 0xFF


def api_error_text(error: Exception, auth_type: str | None) -> str:
    """The text for an error in `result` lines. As upstream, it calls every error the API's."""
    text = f"[API Error: {error}]"
    if getattr(error, "status", None) == 429:
        text += _LIMITED.get(auth_type or "", _LIMITED_ELSEWHERE)
    return text


def _number(value: Any, otherwise: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return otherwise
    return int(value)

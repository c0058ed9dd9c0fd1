"""The contents of a classifier's request, and the readers of its answer.

Source: core `routing/strategies/*ClassifierStrategy.ts`, `utils/messageInspectors.ts`, and
google-genai's `createUserContent`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from services.model.errors import EmptyMessageError, ModelError
from services.wire import Content, Json, JsonObject

__all__ = [
    "ClassifierAnswerError",
    "complexity",
    "conversation_window",
    "is_function_call",
    "is_function_response",
    "model_choice",
    "recent_window",
    "user_content",
]

_CONVERSATION_TURNS: Final = 4
_CONVERSATION_SEARCH: Final = 20
_RECENT_TURNS: Final = 8
_PART_KEYS: Final = frozenset(
    {
        "fileData",
        "text",
        "functionCall",
        "functionResponse",
        "inlineData",
        "videoMetadata",
        "codeExecutionResult",
        "executableCode",
    }
)


class ClassifierAnswerError(ModelError):
    """A classifier's answer has the wrong shape."""


def user_content(parts: Sequence[Any]) -> Content:
    """Return a user's turn of `parts`; a text is a part as well.

    Raises:
        EmptyMessageError: there are none.
        ModelError: one is no part.
    """
    if not parts:
        raise EmptyMessageError
    made: list[Any] = []
    for part in parts:
        if isinstance(part, str):
            made.append({"text": part})
        elif isinstance(part, Mapping) and _PART_KEYS & part.keys():
            made.append(part)
        else:
            raise ModelError("element in PartUnion should be a Part object or string")
    return {"role": "user", "parts": made}


def is_function_response(content: Content) -> bool:
    """Whether a user's turn contains a function response."""
    return content.get("role") == "user" and any(
        part.get("functionResponse") for part in content.get("parts") or ()
    )


def is_function_call(content: Content) -> bool:
    """Whether a model's turn consists of function calls."""
    parts = content.get("parts") or ()
    return (
        content.get("role") == "model"
        and bool(parts)
        and all(part.get("functionCall") for part in parts)
    )


def conversation_window(history: Sequence[Content]) -> list[Content]:
    """The last four of those of the last twenty turns that are no tool turns."""
    recent = history[-_CONVERSATION_SEARCH:]
    return [turn for turn in recent if not _is_tool_turn(turn)][-_CONVERSATION_TURNS:]


def recent_window(history: Sequence[Content]) -> list[Content]:
    """The last eight turns, from the first that is no tool turn."""
    recent = list(history[-_RECENT_TURNS:])
    for index, turn in enumerate(recent):
        if not _is_tool_turn(turn):
            return recent[index:]
    return []


def model_choice(answer: Mapping[str, Json]) -> tuple[str, str]:
    """The tier (`flash` or `pro`) and the reasoning of an answer.

    Raises:
        ClassifierAnswerError: one of them is missing.
    """
    choice, reasoning = answer.get("model_choice"), answer.get("reasoning")
    if choice not in ("flash", "pro") or not isinstance(reasoning, str):
        raise ClassifierAnswerError(f"no model choice with its reasoning: {_excerpt(answer)}")
    return choice, reasoning


def complexity(answer: JsonObject) -> tuple[int | float, str]:
    """The score, from 1 to 100, and the reasoning of an answer.

    Raises:
        ClassifierAnswerError: one of them is missing.
    """
    score, reasoning = answer.get("complexity_score"), answer.get("complexity_reasoning")
    if (
        not isinstance(score, (int, float))
        or isinstance(score, bool)
        or not 1 <= score <= 100
        or not isinstance(reasoning, str)
    ):
        raise ClassifierAnswerError(
            f"no score from 1 to 100 with its reasoning: {_excerpt(answer)}"
        )
    return score, reasoning


def _is_tool_turn(content: Content) -> bool:
    return is_function_call(content) or is_function_response(content)


def _excerpt(answer: Mapping[str, Json]) -> str:
    return repr(dict(answer))[:200]

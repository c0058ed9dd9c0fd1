"""Asks a model whether a long prompt is stuck, and a better model to confirm that.

Source: core `services/loopDetectionService.ts`, `checkForLoopWithLLM`. The system prompt and the
schema's descriptions are our own; the user-role texts are upstream's.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import floor
from typing import Any, Final

from services.abort import AbortSignal
from services.history.transforms import has_function_response
from services.model.configs import ModelConfigKey, ModelConfigs
from services.model.generator import LlmRole
from services.model.utility import UtilityModel, UtilityRequest
from services.wire import Content, Json, JsonObject

__all__ = ["LlmLoopCheck", "LlmVerdict"]

logger = logging.getLogger(__name__)

_HISTORY_TURNS: Final = 20
_FIRST_CHECK: Final = 30
_DEFAULT_INTERVAL: Final = 10
_SHORTEST_INTERVAL: Final = 5
_LONGEST_INTERVAL: Final = 15
_CONFIDENT: Final = 0.9
_ATTEMPTS: Final = 2
_CHECK_KEY: Final = "loop-detection"
_DOUBLE_CHECK_KEY: Final = "loop-detection-double-check"
_CONFIDENCE: Final = "unproductive_state_confidence"
_ANALYSIS: Final = "unproductive_state_analysis"

_TASK: Final = (
    "Please analyze the conversation history to determine the possibility that the conversation "
    "is stuck in a repetitive, non-productive state. Consider the original user request when "
    "evaluating whether repeated tool calls represent legitimate batch work or an actual loop. "
    "Provide your response in the requested JSON format."
)
_HISTORY_HEADING: Final = "Recent conversation history:"
_NOT_ASKED: Final = -1
"""The logged confidence of a model that was not asked."""
_SCHEMA: Final[JsonObject] = {
    "type": "object",
    "properties": {
        _ANALYSIS: {
            "type": "string",
            "description": "Why you think that the conversation does or does not go in circles.",
        },
        _CONFIDENCE: {
            "type": "number",
            "description": "From 0.0 to 1.0: how sure you are that it goes in circles.",
        },
    },
    "required": [_ANALYSIS, _CONFIDENCE],
}
_INSTRUCTION: Final = """\
You judge whether an AI assistant that works with tools has got stuck. You are given the end of a \
conversation and, where it is known, what its user asked for.

It is stuck only if both of these hold:
1. Its last five actions or more (tool calls or answers, model turns only) repeat one pattern.
2. Repeating it has changed nothing and brought the user's goal no nearer.

Typical of being stuck:
- A cycle of actions, each round with the same arguments and the same outcome: the same edit, the \
same failing build, the same edit again.
- The same tool called with arguments that mean the same, again and again, with the same result. \
Running a build or tests again after a change is not that.
- Answer after answer that restates one plan, question or finding without acting on it. Output of \
commands that happens to repeat itself is not that.

Not being stuck, however alike the calls look:
- One tool used on many files, as batch work is.
- Several edits of one file in different places or with different text.
- Reading or searching one place after another.
- Trying again in another way after a failure.

So compare the arguments of calls, not only their names: other paths, other line ranges, other \
text or other search terms are other work. If the user asked for something that is done in many \
similar steps, similar steps are to be expected; weigh that heavily against a verdict of being \
stuck."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmVerdict:
    """A loop that a model found. `analysis` may be missing, or empty."""

    analysis: str | None
    confirmed_by: str
    """The name of that model."""


class LlmLoopCheck:
    """The questions to models: when, with which contents, and how long apart.

    The first question is at a prompt's 30th turn. The less sure of a loop the answer is, the later
    the next question: 5 to 15 turns.
    """

    def __init__(
        self,
        *,
        model: UtilityModel,
        models: ModelConfigs,
        history: Callable[[], Sequence[Content]],
        is_available: Callable[[str], bool],
        log: Callable[[str, str, Mapping[str, Any]], None],
    ) -> None:
        self._log = log
        self._model = model
        self._models = models
        self._history = history
        self._is_available = is_available
        # `reset` sets these.
        self._turns: int
        self._checked_at: int
        self._interval: int

    def reset(self) -> None:
        """Start counting anew, for a new prompt."""
        self._turns, self._checked_at, self._interval = 0, 0, _DEFAULT_INTERVAL

    async def turn_started(
        self, *, prompt_id: str, user_prompt: str, signal: AbortSignal
    ) -> LlmVerdict | None:
        """Count a turn, and ask if a question is due; a verdict only if the models are sure.

        A failed question is no loop, and is not repeated early.
        """
        self._turns += 1
        if self._turns < _FIRST_CHECK or self._turns - self._checked_at < self._interval:
            return None
        self._checked_at = self._turns
        contents = _contents(self._history(), user_prompt)

        async def ask(config_key: str) -> JsonObject | None:
            return await self._ask(config_key, contents, prompt_id, signal)

        first = await ask(_CHECK_KEY)
        if first is None:
            return None
        double_checker = self._name(_DOUBLE_CHECK_KEY)
        if first[_CONFIDENCE] < _CONFIDENT:
            self._logged(prompt_id, first[_CONFIDENCE], double_checker, _NOT_ASKED)
            self._adapt(first[_CONFIDENCE])
            return None
        if not self._is_available(double_checker):
            return LlmVerdict(analysis=_analysis(first) or "", confirmed_by=self._name(_CHECK_KEY))
        second = await ask(_DOUBLE_CHECK_KEY)
        sure = 0 if second is None else second[_CONFIDENCE]
        self._logged(prompt_id, first[_CONFIDENCE], double_checker, sure)
        if second is None:
            return None
        if second[_CONFIDENCE] < _CONFIDENT:
            self._adapt(second[_CONFIDENCE])
            return None
        return LlmVerdict(analysis=_analysis(second), confirmed_by=double_checker)

    async def _ask(
        self, config_key: str, contents: list[Content], prompt_id: str, signal: AbortSignal
    ) -> JsonObject | None:
        request = UtilityRequest(
            config_key=config_key,
            contents=contents,
            role=LlmRole.UTILITY_LOOP_DETECTOR,
            prompt_id=prompt_id,
            signal=signal,
            system_instruction=_INSTRUCTION,
            max_attempts=_ATTEMPTS,
        )
        try:
            answer = await self._model.generate_json(request, _SCHEMA)
        except Exception as error:  # noqa: BLE001 - a check that fails must not stop the turn
            logger.debug("the loop check (%s) failed: %s", config_key, error)
            return None
        return answer if _is_number(answer.get(_CONFIDENCE)) else None

    def _logged(self, prompt_id: str, first: float, model: str, second: float) -> None:
        """Source: core `telemetry/types.ts` (`LlmLoopCheckEvent`)."""
        skipped = second == _NOT_ASKED
        asked = "check skipped" if skipped else f"confidence: {second:.2f}"
        self._log(
            "llm_loop_check",
            f"LLM loop check. Flash confidence: {first:.2f}. Main model ({model}) {asked}",
            {
                "prompt_id": prompt_id,
                "flash_confidence": first,
                "main_model": model,
                "main_model_confidence": second,
            },
        )

    def _adapt(self, confidence: float) -> None:
        room = _LONGEST_INTERVAL - _SHORTEST_INTERVAL
        self._interval = floor(_SHORTEST_INTERVAL + room * (1 - confidence) + 0.5)

    def _name(self, config_key: str) -> str:
        return self._models.resolve(ModelConfigKey(model=config_key)).model


def _contents(history: Sequence[Content], user_prompt: str) -> list[Content]:
    """The request's contents: the user's words where known, the history's end, the task."""
    recent = list(history[-_HISTORY_TURNS:])
    while recent and _is_function_call(recent[-1]):
        recent.pop()
    first = 0
    while first < len(recent) and _is_function_response(recent[first]):
        first += 1
    contents = [*recent[first:], _user(_TASK)]
    if user_prompt:
        wrapped = f"<original_user_request>\n{user_prompt}\n</original_user_request>"
        return [_user(wrapped), *contents]
    return [_user(_HISTORY_HEADING), *contents] if _is_function_call(contents[0]) else contents


def _user(text: str) -> Content:
    return {"role": "user", "parts": [{"text": text}]}


def _is_function_call(content: Content) -> bool:
    """Whether a model turn holds nothing but calls. Source: core `utils/messageInspectors.ts`."""
    parts = content.get("parts")
    return (
        content.get("role") == "model"
        and bool(parts)
        and all(part.get("functionCall") is not None for part in parts or ())
    )


def _is_function_response(content: Content) -> bool:
    return content.get("role") == "user" and has_function_response(content)


def _analysis(answer: JsonObject) -> str | None:
    analysis = answer.get(_ANALYSIS)
    return analysis if isinstance(analysis, str) else None


def _is_number(value: Json) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)

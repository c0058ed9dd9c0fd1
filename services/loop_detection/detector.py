"""`LoopDetector`: notices that a conversation repeats itself, and keeps count of it.

Source: core `services/loopDetectionService.ts`. The first loop of a prompt is a
warning: the runtime calls `clear_detection`, sends `loop_feedback` and goes on. From the second one
on, every method returns the same verdict until `reset`. A warning does not clear what was seen: the
next repeated call counts again at once, and so does the first plain text after chanting.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from services.abort import AbortSignal
from services.loop_detection.content import ContentLoops
from services.loop_detection.llm_check import LlmLoopCheck
from services.loop_detection.tool_calls import ToolCallLoops
from services.model.configs import ModelConfigs
from services.model.stream import call_name
from services.model.utility import UtilityModel
from services.wire import Content, JsonObject, Part, js_json

__all__ = ["LoopDetector", "LoopType", "LoopVerdict", "loop_feedback"]

logger = logging.getLogger(__name__)


class LoopType(StrEnum):
    """How a conversation repeats itself; the wire's strings."""

    TOOL_CALLS = "consecutive_identical_tool_calls"
    CONTENT = "chanting_identical_sentences"
    LLM = "llm_detected_loop"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopVerdict:
    """`count` is how many loops this prompt has had; 0 for none."""

    count: int = 0
    type: LoopType | None = None
    detail: str | None = None
    confirmed_by_model: str | None = None


_NO_LOOP: Final = LoopVerdict()


def loop_feedback(detail: str | None) -> str:
    """The user-role text for the model at the first warning.

    Source: core `core/client.ts`, `_recoverFromLoop`.
    """
    return (
        "System: Potential loop detected. Details: "
        f"{detail or 'Repetitive patterns identified'}. Please take a step back and confirm "
        "you're making forward progress. If not, take a step back, analyze your previous actions "
        "and rethink how you're approaching the problem. Avoid repeating the same tool calls or "
        "responses without new results."
    )


class LoopDetector:
    """One per conversation; it outlives chats and resets of them.

    The runtime passes every event of a stream in order, before clients get it: text to `add_text`,
    calls to `add_tool_call`; for others it reads `current`.
    """

    def __init__(
        self,
        *,
        model: UtilityModel,
        models: ModelConfigs,
        history: Callable[[], Sequence[Content]],
        disabled: bool,
        is_available: Callable[[str], bool],
        log: Callable[[str, str, Mapping[str, Any]], None],
    ) -> None:
        """Prepare to watch.

        Args:
            model: Asked from a prompt's 30th turn on.
            models: Resolves the names of the models that are asked.
            history: Returns the whole history as it is shown, oldest first.
            disabled: The setting that switches detection off.
            is_available: Whether a model, a concrete name, can be used now.
            log: Takes the records for the session's log, as `SessionState.log` does.
        """
        self._log = log
        self._calls = ToolCallLoops()
        self._content = ContentLoops()
        self._llm = LlmLoopCheck(
            model=model,
            models=models,
            history=history,
            is_available=is_available,
            log=log,
        )
        self._disabled = disabled
        self._prompt_id: str
        self._user_prompt: str
        self._count: int
        self._flagged: LoopVerdict | None
        self.reset("")

    def reset(self, prompt_id: str, user_prompt: str = "") -> None:
        """Begin a prompt: forget all but whether the text was inside a code fence.

        `user_prompt` is the request as text, with what is not text named in brackets.
        """
        self._prompt_id, self._user_prompt = prompt_id, user_prompt
        self._calls.clear()
        self._content.clear()
        self._llm.reset()
        self._count, self._flagged = 0, None

    def clear_detection(self) -> None:
        """Let a recovery proceed. The count stays, so that the next loop is the second."""
        self._flagged = None

    def disable_for_session(self) -> None:
        """Find nothing from now on, whatever the prompt."""
        self._disabled = True
        self._log(
            "loop_detection_disabled", "Loop detection disabled.", {"prompt_id": self._prompt_id}
        )

    def current(self) -> LoopVerdict:
        """The verdict that stands."""
        if self._disabled:
            return _NO_LOOP
        return self._flagged or _NO_LOOP

    async def turn_started(self, signal: AbortSignal) -> LoopVerdict:
        """Count a turn, before its request is made; now and then a model is asked."""
        if self._disabled or self._flagged is not None:
            return self.current()
        found = await self._llm.turn_started(
            prompt_id=self._prompt_id, user_prompt=self._user_prompt, signal=signal
        )
        if found is None:
            return _NO_LOOP
        return self._flag(LoopType.LLM, found.analysis, found.confirmed_by)

    def add_text(self, fragment: str) -> LoopVerdict:
        """Take in a fragment of the answer."""
        if self._disabled or self._flagged is not None:
            return self.current()
        if not self._content.add(fragment):
            return _NO_LOOP
        detail = f'Repeating content detected: "{self._content.excerpt()}..."'
        return self._flag(LoopType.CONTENT, detail)

    def add_tool_call(self, name: str, args: JsonObject) -> LoopVerdict:
        """Take in a requested call; text on its two sides does not belong together."""
        if self._disabled or self._flagged is not None:
            return self.current()
        self._content.clear()
        if not self._calls.add(name, args):
            return _NO_LOOP
        detail = f"Repeated tool call: {name} with arguments {js_json(args)}"
        return self._flag(LoopType.TOOL_CALLS, detail)

    def add_parts(self, parts: Sequence[Part]) -> LoopVerdict:
        """Take in a delta's parts (the API's JSON); return the first loop found."""
        for part in parts:
            call, text, verdict = part.get("functionCall"), part.get("text"), _NO_LOOP
            if call is not None:
                verdict = self.add_tool_call(call_name(call), call.get("args") or {})
            elif text and not part.get("thought"):
                verdict = self.add_text(text)
            if verdict.count:
                return verdict
        return _NO_LOOP

    def _flag(
        self, kind: LoopType, detail: str | None, confirmed_by: str | None = None
    ) -> LoopVerdict:
        self._count += 1
        logger.debug("loop %d of prompt %s: %s", self._count, self._prompt_id, kind)
        status = "Attempting recovery" if self._count == 1 else "Terminating session"
        confirmed = f" Confirmed by: {confirmed_by}" if confirmed_by else ""
        self._log(
            "loop_detected",
            f"Loop detected (Strike {self._count}: {status}). Type: {kind}.{confirmed}",
            {
                "loop_type": str(kind),
                "prompt_id": self._prompt_id,
                "count": self._count,
                "confirmed_by_model": confirmed_by,
            },
        )
        # Upstream names the confirming model in the first verdict only.
        self._flagged = LoopVerdict(count=self._count, type=kind, detail=detail)
        if confirmed_by is None:
            return self._flagged
        return LoopVerdict(
            count=self._count, type=kind, detail=detail, confirmed_by_model=confirmed_by
        )

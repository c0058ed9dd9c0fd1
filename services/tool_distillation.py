"""Tool-output distillation: with context management, long outputs become a file and an extract.

The outputs of all tools but the file readers are limited. A text keeps its first fifth and its last
four fifths within a budget; a very long output gets a model's summary as well.

Source: core `context/toolDistillationService.ts`, `context/truncation.ts`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from math import floor
from pathlib import Path
from typing import Final

from services.abort import AbortController
from services.model.generator import LlmRole
from services.model.parts import first_parts
from services.model.tokens import estimate_tokens
from services.model.utility import UtilityModel, UtilityRequest
from services.output_files import save_tool_output, tool_outputs_folder
from services.scheduler.truncation import ShortOutput
from services.session import Session
from services.tools.contract import LlmContent
from services.wire import (
    Json,
    JsonObject,
    Part,
    js_json,
    js_json_pretty,
    js_length,
    js_slice,
    js_truthy,
)

__all__ = ["ToolDistillation", "truncate_proportionally", "truncated_response"]

logger = logging.getLogger(__name__)

_EXEMPT: Final = "read_file"
"""The tool whose outputs stay whole. Upstream exempts `read_many_files` too, which no call runs."""
_CHARS_PER_TOKEN: Final = 4
_MAX_SUMMED_UP: Final = 1_000_000
_SUMMARY_CONFIG: Final = "agent-history-provider-summarizer"
_SUMMARY_TIMEOUT_MS: Final = 15_000
_SUMMARY_ATTEMPTS: Final = 10
_SUMMARY_HEADING: Final = "\n\n--- Strategic Significance of Truncated Content ---\n"
_PREFIX: Final = "[Message Normalized: Tool output exceeded size limit]"
_ELLIPSIS: Final = "\n...\n"
_HEAD_RATIO: Final = 0.2
_MIN_TOKENS: Final = 10
_MIN_CHARS: Final = 100
_SAMPLE: Final = 1000
_ASCII_TOKENS: Final = 0.33
_OTHER_TOKENS: Final = 1.5


class ToolDistillation:
    """The `Distiller` of one session's scheduler."""

    def __init__(
        self,
        session: Session,
        model: UtilityModel,
        system_instruction: Callable[[], str],
    ) -> None:
        """Take the seams.

        Args:
            session: its workspace has the files, its settings the two thresholds.
            model: writes summaries.
            system_instruction: the main conversation's, which goes with every summary request.
        """
        self._workspace = session.workspace
        self._settings = session.settings
        self._state = session.state
        self._clock = session.clock
        self._model = model
        self._system_instruction = system_instruction

    async def distill(self, tool_name: str, call_id: str, content: LlmContent) -> ShortOutput:
        """Shorten `content` if it is too long for the context.

        Raises:
            OutputFileError: the file could not be written.
        """
        threshold = self._settings.distillation_max_output_tokens * _CHARS_PER_TOKEN
        # Upstream measures texts and lists only; a single part is 0 characters long.
        if tool_name == _EXEMPT or threshold <= 0 or isinstance(content, dict):
            return ShortOutput(content)
        length = _content_length(content)
        if length <= threshold:
            return ShortOutput(content)
        whole = content if isinstance(content, str) else js_json_pretty(content)
        folder = tool_outputs_folder(self._workspace.project_temp, self._state.prompt_id)
        file = save_tool_output(whole, tool_name, call_id, folder)
        summary = await self._summary(tool_name, whole, length)
        return ShortOutput(_shortened(content, threshold / length, file, summary), file)

    async def _summary(self, tool_name: str, whole: str, length: int) -> str:
        """The text after the extract: a model's summary, or nothing."""
        settings = self._settings
        summed_up_from = settings.distillation_summary_threshold_tokens * _CHARS_PER_TOKEN
        if not summed_up_from < length <= _MAX_SUMMED_UP:
            return ""
        try:
            response = await self._ask(tool_name, whole)
        except Exception as error:  # noqa: BLE001 - a summary is optional; the file has the whole output
            logger.debug("no summary of a long tool output: %s", error)
            return ""
        parts = first_parts(response)
        text = parts[0].get("text") if parts else None
        return f"{_SUMMARY_HEADING}{text}" if text else ""

    async def _ask(self, tool_name: str, whole: str) -> JsonObject:
        controller = AbortController()
        request = UtilityRequest(
            config_key=_SUMMARY_CONFIG,
            contents=[{"role": "user", "parts": [{"text": _summary_prompt(tool_name, whole)}]}],
            role=LlmRole.UTILITY_COMPRESSOR,
            prompt_id=self._state.last_prompt_id,
            signal=controller.signal,
            system_instruction=self._system_instruction(),
            max_attempts=_SUMMARY_ATTEMPTS,
        )

        async def call_off() -> None:
            await self._clock.sleep(_SUMMARY_TIMEOUT_MS)
            controller.abort()

        timer = asyncio.get_running_loop().create_task(call_off())
        try:
            return await self._model.generate_content(request)
        finally:
            timer.cancel()
            await asyncio.wait([timer])


def _summary_prompt(tool_name: str, whole: str) -> str:
    return (
        f"The following output from the tool '{tool_name}' is large and has been truncated. "
        "Extract the most critical factual information from this output so the main agent doesn't "
        "lose context.\n\n"
        "Focus strictly on concrete data points:\n"
        "1. Exact error messages, exception types, or exit codes.\n"
        "2. Specific file paths or line numbers mentioned.\n"
        "3. Definitive outcomes (e.g., 'Compilation succeeded', '3 tests failed').\n\n"
        "Do not philosophize about the strategic intent. Keep the extraction under 10 lines and "
        "use exact quotes where helpful.\n\n"
        f"Output to summarize:\n{js_slice(whole, 0, _MAX_SUMMED_UP)}..."
    )


def _content_length(content: str | list[str | Part]) -> int:
    return js_length(content) if isinstance(content, str) else sum(map(_part_length, content))


def _part_length(part: str | Part) -> int:
    if isinstance(part, str):
        return js_length(part)
    if part.get("text"):
        return js_length(part["text"])
    response = (part.get("functionResponse") or {}).get("response")
    return js_length(js_json(response)) if js_truthy(response) else 0


def _shortened(
    content: str | list[str | Part], ratio: float, file: Path, summary: str
) -> LlmContent:
    note = f"\n\nFull output saved to: {file}{summary}"
    if isinstance(content, str):
        return _short_text(content, ratio) + note
    return [_short_part(part, ratio, note) for part in content]


def _short_part(part: str | Part, ratio: float, note: str) -> str | Part:
    if isinstance(part, str):
        return _short_text(part, ratio)
    if part.get("text"):
        return {"text": _short_text(part["text"], ratio) + note}
    if part.get("functionResponse") is not None:
        return truncated_response(part, ratio, note)
    return part


def _short_text(text: str, ratio: float) -> str:
    tokens = max(_MIN_TOKENS, floor(js_length(text) / _CHARS_PER_TOKEN * ratio))
    return truncate_proportionally(text, _chars_of(text, tokens))


def truncated_response(part: Part, ratio: float, note: str) -> Part:
    """A function response whose long texts are cut to `ratio` of themselves, each with `note`.

    Only the response's own values are looked at. A part in which nothing is cut is returned
    itself; otherwise nothing but the response is kept of it.
    """
    answer = part["functionResponse"]
    response = answer.get("response")
    if not isinstance(response, dict):
        return part
    cut = {
        key: _cut_value(value, ratio, note) for key, value in response.items() if _is_long(value)
    }
    cut = {key: value for key, value in cut.items() if value is not response[key]}
    if not cut:
        return part
    return {"functionResponse": {**answer, "response": {**response, **cut}}}


def _is_long(value: Json) -> bool:
    return isinstance(value, str) and js_length(value) > _MIN_CHARS


def _cut_value(value: str, ratio: float, note: str) -> str:
    tokens = max(_MIN_TOKENS, floor(estimate_tokens([{"text": value}]) * ratio))
    target = _chars_of(value, tokens)
    return truncate_proportionally(value, target) + note if js_length(value) > target else value


def truncate_proportionally(text: str, target: int) -> str:
    """The beginning and the end of `text` after a line that says so: `target` units in all.

    All of it if it fits; the line alone if `target` has no room for more.
    """
    length = js_length(text)
    if length <= target:
        return text
    available = target - len(_PREFIX) - len(_ELLIPSIS) - 1
    if available <= 0:
        return _PREFIX
    head = floor(available * _HEAD_RATIO)
    tail = js_slice(text, length - (available - head))
    return f"{_PREFIX}\n{js_slice(text, 0, head)}{_ELLIPSIS}{tail}"


def _chars_of(text: str, tokens: int) -> int:
    """How many units of `text` are about `tokens`, judged by its first thousand."""
    sample = js_slice(text, 0, _SAMPLE)
    size = js_length(sample)
    if not size:
        return 0
    ascii_ratio = len(sample.encode("ascii", "ignore")) / size
    return floor(tokens / (ascii_ratio * _ASCII_TOKENS + (1 - ascii_ratio) * _OTHER_TOKENS))

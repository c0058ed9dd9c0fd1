"""The turns of a history to compress, and the budget for its tool outputs.

Source: core `context/chatCompressionService.ts`, `findCompressSplitPoint` and
`truncateHistoryToBudget`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from services.history.transforms import has_function_response
from services.model.tokens import estimate_tokens
from services.output_files import (
    OutputFileError,
    save_tool_output,
    tool_outputs_folder,
    truncated_output,
)
from services.wire import Content, Json, JsonObject, Part, js_json, js_json_pretty, js_length

__all__ = ["OutputTruncation", "split_point"]

logger = logging.getLogger(__name__)

_OUTPUT_BUDGET_TOKENS: Final = 50_000


def split_point(contents: Sequence[Content], fraction: float) -> int:
    """The index of the oldest turn to keep; 0 keeps all, `len(contents)` none.

    A history is cut only before a text of the user: before the first one that follows at
    least `fraction` of the characters. Without such a text it is cut at its end, if it ends with an
    answer of the model, else before the last text of the user.

    Raises:
        ValueError: `fraction` is not between 0 and 1.
    """
    if not 0 < fraction < 1:
        raise ValueError("Fraction must be between 0 and 1")
    sizes = [js_length(js_json(content)) for content in contents]
    target = sum(sizes) * fraction
    last, passed = 0, 0
    for index, (content, size) in enumerate(zip(contents, sizes, strict=True)):
        if content.get("role") == "user" and not has_function_response(content):
            if passed >= target:
                return index
            last = index
        passed += size
    if contents and contents[-1].get("role") == "model" and not _calls(contents[-1]):
        return len(contents)
    return last


def _calls(content: Content) -> bool:
    return any(part.get("functionCall") is not None for part in content.get("parts") or ())


class OutputTruncation:
    """Cuts tool outputs down to 50,000 tokens in all; the newest are kept whole.

    An output beyond the budget is saved to a file and shortened in the history. The files are
    numbered over the session's life.
    """

    def __init__(self, *, project_temp: Path, max_chars: Callable[[], int]) -> None:
        """Prepare to cut.

        Args:
            project_temp: Where `tool-outputs` is.
            max_chars: How many characters a shortened output may have, asked for each one.
        """
        self._folder = tool_outputs_folder(project_temp, None)
        self._max_chars = max_chars
        self._saved = 0

    def truncate(self, history: Sequence[Content]) -> list[Content]:
        """`history` within the budget; turns that did not change are the same objects."""
        spent = 0
        kept: list[Content] = []
        for content in reversed(history):
            parts: list[Part] = []
            changed = "parts" not in content
            for part in reversed(content.get("parts") or ()):
                response = part.get("functionResponse")
                if response is not None:
                    shown, tokens = self._within(part, response, _OUTPUT_BUDGET_TOKENS - spent)
                    spent += tokens
                    changed = changed or shown is not part
                    part = shown
                parts.append(part)
            parts.reverse()
            kept.append({**content, "parts": parts} if changed else content)
        kept.reverse()
        return kept

    def _within(self, part: Part, response: JsonObject, room: int) -> tuple[Part, int]:
        """The part, or a shortened one if it has more tokens than `room`; and its tokens."""
        if "response" not in response:
            return part, 0
        text = _output_text(response["response"])
        tokens = estimate_tokens([{"text": text}])
        if tokens <= room:
            return part, tokens
        self._saved += 1
        name = response.get("name")
        try:
            path = save_tool_output(
                text, "unknown_tool" if name is None else name, self._saved, self._folder
            )
        except OutputFileError as error:
            # A long output is better than a lost one.
            logger.debug("a tool output could not be saved: %s", error)
            return part, tokens
        shortened = truncated_output(text, path, self._max_chars())
        answer = {**response, "response": {"output": shortened}}
        return {"functionResponse": answer}, estimate_tokens([{"text": shortened}])


def _output_text(payload: Json) -> str:
    """A tool's output: its text if it has one, else the JSON of its response."""
    if isinstance(payload, str):
        return payload
    if isinstance(payload, dict):
        for key in ("output", "content"):
            if isinstance(payload.get(key), str):
                text: str = payload[key]
                return text
    return js_json_pretty(payload)

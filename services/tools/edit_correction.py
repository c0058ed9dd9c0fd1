"""A model corrects the arguments of edit tools: a text that is not found, or surplus escapes.

This needs the setting `disableLLMCorrection: false`. The user-role texts are upstream's; the system
instructions are our own.

Source: core `utils/llm-edit-fixer.ts`, `utils/editCorrector.ts`.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable
from typing import Final, TypeVar

from services.abort import AbortController, AbortSignal
from services.model.generator import LlmRole
from services.model.utility import UtilityModel, UtilityRequest
from services.wire import JsonObject

__all__ = ["EditCorrector", "without_surplus_escapes"]

logger = logging.getLogger(__name__)

_REMEMBERED: Final = 50
_FIX_WITHIN_S: Final = 40.0
_OVER_ESCAPED: Final = re.compile(r"\\+([ntr'\"`\\\n])")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r"}
K = TypeVar("K")
V = TypeVar("V")
_PATTERNS: Final = re.compile(r"\$([$&`'])")

_FIXER: Final = (
    "You mend a search and replace that failed. Find out why the searched text does not match, "
    "and give the searched text as it stands in the file, changed as little as possible. Leave the "
    "replacement as it is unless it was the cause. Where the file already holds what was wanted, "
    "say so with noChangesRequired. Do not judge the edit, and escape nothing. The explanation "
    "says what was wrong and what you changed."
)
_FIX: Final = """
# Goal of the Original Edit
<instruction>
{instruction}
</instruction>

# Failed Attempt Details
- **Original `search` parameter (failed):**
<search>
{old_string}
</search>
- **Original `replace` parameter:**
<replace>
{new_string}
</replace>
- **Error Encountered:**
<error>
{error}
</error>

# Full File Content
<file_content>
{current_content}
</file_content>

# Your Task
Based on the error and the file content, provide a corrected `search` string that will succeed. \
Remember to keep your correction minimal and explain the precise reason for the failure in your \
`explanation`.
"""
_FIXED: Final[JsonObject] = {
    "type": "OBJECT",
    "properties": {
        "explanation": {"type": "STRING"},
        "search": {"type": "STRING"},
        "replace": {"type": "STRING"},
        "noChangesRequired": {"type": "BOOLEAN"},
    },
    "required": ["search", "replace", "explanation"],
}
_UNESCAPER: Final = (
    "You mend text that was written for a file and may be escaped once too often. Change nothing "
    "but white space, line ends and wrong escapes, as little as possible, and answer with the "
    "mended text only, in the JSON asked for."
)
_UNESCAPE: Final = """\
Context: An LLM has just generated potentially_problematic_string and the text might have been \
improperly escaped (e.g. too many backslashes for newlines like \\n instead of \n, or \
unnecessarily quotes like \\"Hello\\" instead of "Hello").

potentially_problematic_string (this text MIGHT have bad escaping, or might be entirely correct):
```
{text}
```

Task: Analyze the potentially_problematic_string. If it's syntactically invalid due to incorrect \
escaping (e.g., "\n", "\t", "\\", "\\'", "\\""), correct the invalid syntax. The \
goal is to ensure the text will be a valid and correctly interpreted.

For example, if potentially_problematic_string is "bar\\nbaz", the corrected_new_string_escaping \
should be "bar\nbaz".
If potentially_problematic_string is console.log(\\"Hello World\\"), it should be \
console.log("Hello World").

Return ONLY the corrected string in the specified JSON format with the key \
'corrected_string_escaping'. If no escaping correction is needed, return the original \
potentially_problematic_string."""
_UNESCAPED: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "corrected_string_escaping": {
            "type": "string",
            "description": "The text, its escapes as they must be in the file.",
        }
    },
    "required": ["corrected_string_escaping"],
}


def without_surplus_escapes(text: str) -> str:
    """`text` with each run of backslashes before an escaped character read as one escape."""
    return _OVER_ESCAPED.sub(lambda match: _ESCAPES.get(match[1], match[1]), text)


class EditCorrector:
    """Asks a model, and keeps the last answers."""

    def __init__(self, model: UtilityModel, *, prompt_id: Callable[[], str]) -> None:
        """`prompt_id` returns the id of the current prompt."""
        self._model = model
        self._prompt_id = prompt_id
        self._fixes: dict[tuple[str, ...], JsonObject] = {}
        self._contents: dict[str, str] = {}

    async def fixed_edit(
        self, params: JsonObject, *, error: str, content: str, signal: AbortSignal
    ) -> JsonObject | None:
        """Ask for another search text and replacement.

        Args:
            params: the failed call's `instruction`, `old_string` and `new_string`.
            error: the error of the failed call.
            content: the text of the file.
            signal: ends the request.

        Returns:
            The model's answer: `search`, `replace`, `explanation` and perhaps `noChangesRequired`;
            `None` without an answer in time.
        """
        instruction = params.get("instruction")
        filling = {
            "instruction": "Apply the requested edit." if instruction is None else instruction,
            "old_string": params["old_string"],
            "new_string": params["new_string"],
            "error": error,
            "current_content": content,
        }
        key = tuple(filling.values())
        if key in self._fixes:
            return self._fixes[key]
        text = _FIX
        for name, value in filling.items():
            text = _filled(text, f"{{{name}}}", value)
        within = AbortController()
        off = signal.on_abort(within.abort)
        timer = asyncio.get_running_loop().call_later(_FIX_WITHIN_S, within.abort)
        try:
            request = self._request("llm-edit-fixer", text, _FIXER, within.signal, attempts=1)
            answer = await self._model.generate_json(request, _FIXED)
        except Exception as failure:  # noqa: BLE001 - without a fix the first error stands
            logger.debug("a failed edit could not be corrected: %s", failure)
            return None
        finally:
            timer.cancel()
            off()
        _remember(self._fixes, key, answer)
        return answer

    async def unescaped(self, content: str, signal: AbortSignal) -> str:
        """`content` with its escapes corrected, if it seems to have too many.

        Raises:
            AbortError: the signal was aborted.
        """
        known = self._contents.get(content)
        if known:
            return known
        mended = content
        if without_surplus_escapes(content) != content:
            mended = await self._ask_for_escapes(content, signal)
        _remember(self._contents, content, mended)
        return mended

    async def _ask_for_escapes(self, content: str, signal: AbortSignal) -> str:
        text = _UNESCAPE.replace("{text}", content)
        request = self._request("edit-corrector", text, _UNESCAPER, signal)
        try:
            answer = await self._model.generate_json(request, _UNESCAPED)
        except Exception as failure:
            if signal.aborted:
                raise
            logger.debug("escapes could not be corrected: %s", failure)
            return content
        mended = answer.get("corrected_string_escaping")
        return mended if isinstance(mended, str) and mended else content

    def _request(
        self,
        key: str,
        text: str,
        instruction: str,
        signal: AbortSignal,
        attempts: int | None = None,
    ) -> UtilityRequest:
        return UtilityRequest(
            config_key=key,
            contents=[{"role": "user", "parts": [{"text": text}]}],
            role=LlmRole.UTILITY_EDIT_CORRECTOR,
            prompt_id=self._prompt_id(),
            signal=signal,
            system_instruction=instruction,
            max_attempts=attempts,
        )


def _filled(text: str, name: str, value: str) -> str:
    """Replace the first `name` as JavaScript does: `$&` in `value` means `name`."""
    before, found, after = text.partition(name)
    if not found:
        return text
    meanings = {"$": "$", "&": name, "`": before, "'": after}
    return before + _PATTERNS.sub(lambda match: meanings[match[1]], value) + after


def _remember(known: dict[K, V], key: K, value: V) -> None:
    known[key] = value
    if len(known) > _REMEMBERED:
        del known[next(iter(known))]

"""Limits a tool's output for the model; the whole output goes to a file.

Source: core `scheduler/tool-executor.ts` (`truncateOutputIfNeeded`), `config/config.ts`
(`getTruncateToolOutputThreshold`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from services.model.limits import token_limit
from services.output_files import save_tool_output, tool_outputs_folder, truncated_output
from services.scheduler.states import ToolCall
from services.session import Session
from services.tools.contract import LlmContent, ServerTool
from services.wire import js_length

__all__ = ["Distiller", "OutputLimiter", "ShortOutput"]

_SHELL: Final = "run_shell_command"
_CHARS_PER_TOKEN: Final = 4


@dataclass(frozen=True, slots=True)
class ShortOutput:
    """The output for the model, and the file with the whole output if it was cut."""

    content: LlmContent
    file: Path | None = None


class Distiller(Protocol):
    """Shortens the outputs of every tool, in place of truncation."""

    async def distill(self, tool_name: str, call_id: str, content: LlmContent) -> ShortOutput:
        """Shorten `content` if it is too long."""


class OutputLimiter:
    """Limits the output of each call before the model receives it.

    Without context management it cuts the texts of the shell tool and of MCP servers' tools. With
    context management the distiller gets every output.
    """

    def __init__(self, session: Session, distiller: Distiller) -> None:
        """Use `distiller` if the session's settings turn context management on."""
        self._workspace = session.workspace
        self._settings = session.settings
        self._state = session.state
        self._distiller = distiller if session.settings.context_management else None

    def threshold(self) -> int:
        """The most UTF-16 units for the model; 0 or less means no limit."""
        remaining = token_limit(self._state.model) - self._state.last_prompt_tokens
        return min(_CHARS_PER_TOKEN * remaining, self._settings.truncate_tool_output_threshold)

    async def shorten(self, call: ToolCall, content: LlmContent) -> ShortOutput:
        """Shorten the output of `call` if its tool is limited and the output is too long.

        Raises:
            OutputFileError: the file could not be written.
        """
        if self._distiller is not None:
            return await self._distiller.distill(call.name, call.call_id, content)
        if isinstance(content, str):
            return self._cut(call, content) if call.name == _SHELL else ShortOutput(content)
        # A hook's additional text is a second part, and two parts are not cut.
        if (
            not isinstance(content, list)
            or len(content) != 1
            or not isinstance(call.tool, ServerTool)
        ):
            return ShortOutput(content)
        part = content[0]
        text = part.get("text") if isinstance(part, dict) else None
        if not isinstance(part, dict) or not isinstance(text, str):
            return ShortOutput(content)
        short = self._cut(call, text)
        if short.file is None:
            return ShortOutput(content)
        return ShortOutput([{**part, "text": short.content}], short.file)

    def _cut(self, call: ToolCall, text: str) -> ShortOutput:
        threshold = self.threshold()
        if threshold <= 0 or js_length(text) <= threshold:
            return ShortOutput(text)
        folder = tool_outputs_folder(self._workspace.project_temp, self._state.prompt_id)
        file = save_tool_output(text, call.name, call.call_id, folder)
        short = truncated_output(text, file, threshold)
        self._state.log(
            "tool_output_truncated",
            f"Tool output truncated for {call.name}.",
            {
                "eventName": "tool_output_truncated",
                "tool_name": call.name,
                "original_content_length": js_length(text),
                "truncated_content_length": js_length(short),
                "threshold": threshold,
                "prompt_id": call.request.prompt_id,
            },
        )
        return ShortOutput(short, file)

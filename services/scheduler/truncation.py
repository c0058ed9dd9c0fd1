"""How much of a tool's output the model receives: the rest goes to a file.

Source: core `scheduler/tool-executor.ts` (`truncateOutputIfNeeded`), `config/config.ts`
(`getTruncateToolOutputThreshold`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from services.model.limits import token_limit
from services.output_files import save_tool_output, tool_outputs_folder, truncated_output
from services.scheduler.states import ToolCall
from services.session import Session
from services.tools.contract import LlmContent
from services.wire import js_length

__all__ = ["Distiller", "OutputLimiter", "ServerTool", "ShortOutput"]

_SHELL: Final = "run_shell_command"
_CHARS_PER_TOKEN: Final = 4


@dataclass(frozen=True, slots=True)
class ShortOutput:
    """What the model receives, and the file with all of it where that is more."""

    content: LlmContent
    file: Path | None = None


@runtime_checkable
class ServerTool(Protocol):
    """What marks a tool of an MCP server."""

    @property
    def server_name(self) -> str:
        """The server that the tool belongs to."""
        ...


class Distiller(Protocol):
    """Shortens outputs of whatever tool; takes the place of truncation."""

    async def distill(self, tool_name: str, call_id: str, content: LlmContent) -> ShortOutput:
        """Shorten `content` if it is too long."""
        ...


class OutputLimiter:
    """Decides for each call, when its tool came back, what of the output the model receives.

    Without context management the texts of the shell tool and of tools of MCP servers are cut.
    With it every output goes to the distiller.
    """

    def __init__(
        self,
        session: Session,
        distiller: Distiller,
    ) -> None:
        """Take the seams.

        Args:
            session: its settings have the threshold, its state the size of the context.
            distiller: shortens outputs where context management is on.
        """
        self._workspace = session.workspace
        self._settings = session.settings
        self._state = session.state
        self._distiller = distiller if session.settings.context_management else None

    def threshold(self) -> int:
        """UTF-16 units that the model may receive; 0 or less: all of them."""
        remaining = token_limit(self._state.model) - self._state.last_prompt_tokens
        return min(_CHARS_PER_TOKEN * remaining, self._settings.truncate_tool_output_threshold)

    async def shorten(self, call: ToolCall, content: LlmContent) -> ShortOutput:
        """Shorten what `call`'s tool said, if its kind of tool is limited and it is too long.

        Raises:
            OutputFileError: the file could not be written.
        """
        if self._distiller is not None:
            return await self._distiller.distill(call.name, call.call_id, content)
        if isinstance(content, str):
            return self._cut(call, content) if call.name == _SHELL else ShortOutput(content)
        # Text that a hook added makes two parts of it, and two parts are not cut.
        if not isinstance(content, list) or len(content) != 1 or not _from_server(call):
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


def _from_server(call: ToolCall) -> bool:
    return isinstance(call.tool, ServerTool)

"""Logs the files that tools read and write.

Source: core `telemetry/types.ts` (`FileOperationEvent`). The core also logs the MIME type and
the programming language of each file, which come from tables of other packages.
"""

from __future__ import annotations

from pathlib import Path

from services.tools.contract import LlmContent
from services.tools.host import ToolHost

__all__ = ["log_file_operation"]


def log_file_operation(
    host: ToolHost, tool: str, operation: str, path: Path, content: LlmContent
) -> None:
    """Log the `operation` (`create`, `read` or `update`) of `tool` on `path`.

    If `content` is text, its lines are counted.
    """
    lines = content.count("\n") + 1 if isinstance(content, str) else None
    host.state.log(
        "file_operation",
        f"File operation: {operation}. Lines: {lines}.",
        {
            "tool_name": tool,
            "operation": operation,
            "lines": lines,
            "extension": path.suffix or None,
        },
    )

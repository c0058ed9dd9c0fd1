"""What the session's log reports of files that tools read and write.

Source: core `telemetry/types.ts` (`FileOperationEvent`). The core also has the MIME type and the
programming language of each file, which tables outside of it decide.
"""

from __future__ import annotations

from pathlib import Path

from services.tools.contract import LlmContent
from services.tools.host import ToolHost

__all__ = ["log_file_operation"]


def log_file_operation(
    host: ToolHost, tool: str, operation: str, path: Path, content: LlmContent
) -> None:
    """Log that `tool` did `operation` (`create`, `read` or `update`) on `path`.

    Args:
        host: whose session it is.
        tool: the tool's name.
        operation: what it did.
        path: the file.
        content: what was read or written; lines are counted where it is text.
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

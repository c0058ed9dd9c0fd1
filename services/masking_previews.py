"""What stays readable of a masked tool output.

Source: core `context/toolOutputMaskingService.ts` (`formatShellPreview`, `formatSimplePreview`).
"""

from __future__ import annotations

import re
from typing import Final

from services.wire import (
    JsonObject,
    js_json,
    js_length,
    js_slice,
    js_text,
    js_trim,
    js_truthy,
)

__all__ = ["output_preview", "shell_preview"]

_EDGE_CHARS: Final = 250
_EDGE_LINES: Final = 10
_SECTION: Final = re.compile(
    # Where a line begins by JavaScript's rules.
    r"(?<![^\n\r\u2028\u2029])"
    r"(Output|Error|Exit Code|Signal|Background PIDs|Process Group PGID): "
)


def output_preview(content: str) -> str:
    """The beginning and the end of a response's JSON text; all of it up to 500 UTF-16 units."""
    if js_length(content) <= 2 * _EDGE_CHARS:
        return content
    head, tail = js_slice(content, 0, _EDGE_CHARS), js_slice(content, -_EDGE_CHARS)
    return f"{head}\n... [TRUNCATED] ...\n{tail}"


def shell_preview(response: JsonObject) -> str:
    """A shell command's report with its output cut to its first and last ten lines.

    The report's other sections stay whole, and so does what the response says of the exit code
    and the error beside its text.
    """
    content = response.get("output")
    if not js_truthy(content):
        content = response.get("stdout")
    if not js_truthy(content):
        content = ""
    if not isinstance(content, str):
        return js_json(content)
    before, *sections = _SECTION.split(content)
    if not sections:
        return _edges(content)
    shown = [_edges(js_trim(before))] if js_trim(before) else []
    for name, text in zip(sections[::2], sections[1::2], strict=True):
        trimmed = js_trim(text)
        shown.append(f"{name}: {_edges(trimmed) if name == 'Output' else trimmed}")
    return "\n".join(shown) + _beside(response, content)


def _beside(response: JsonObject, content: str) -> str:
    """What the response's own fields say that its text does not."""
    status = ""
    exit_code = response.get("exitCode")
    if exit_code is None:
        exit_code = response.get("exit_code")
    succeeded = exit_code is None or (exit_code == 0 and not isinstance(exit_code, bool))
    if not succeeded and f"Exit Code: {js_text(exit_code)}" not in content:
        status += f"\n[Exit Code: {js_text(exit_code)}]"
    error = response.get("error")
    if js_truthy(error) and f"Error: {js_text(error)}" not in content:
        status += f"\n[Error: {js_text(error)}]"
    return status


def _edges(text: str) -> str:
    lines = text.split("\n")
    if len(lines) <= 2 * _EDGE_LINES:
        return text
    omitted = len(lines) - 2 * _EDGE_LINES
    head, tail = "\n".join(lines[:_EDGE_LINES]), "\n".join(lines[-_EDGE_LINES:])
    return f"{head}\n\n... [{omitted} lines omitted] ...\n\n{tail}"

"""Files for outputs that are too long for the model: their names, and the text that names them.

Source: core `utils/fileUtils.ts` (`sanitizeFilenamePart`, `saveTruncatedToolOutput`,
`formatTruncatedToolOutput`).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from services.node_errors import node_error_message
from services.private_files import make_private_folder, write_private
from services.wire import js_length, js_locale_number, js_slice

__all__ = [
    "OutputFileError",
    "node_utf8",
    "safe_filename_part",
    "save_tool_output",
    "tool_outputs_folder",
    "truncated_output",
    "write_output",
]

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]")


class OutputFileError(Exception):
    """An output could not be saved. The message is Node's, because the model may get it."""


def safe_filename_part(part: str) -> str:
    """`part` with an underscore for every UTF-16 unit that is no letter, digit, `_` or `-`."""
    return _UNSAFE.sub(lambda found: "_" * js_length(found[0]), part)


def tool_outputs_folder(project_temp: Path, session_id: str | None) -> Path:
    """`<project temp>/tool-outputs`, and in it the session's own folder where an id is given."""
    folder = project_temp / "tool-outputs"
    return folder / f"session-{safe_filename_part(session_id)}" if session_id else folder


def save_tool_output(content: str, tool_name: str, output_id: str | int, folder: Path) -> Path:
    """Write `content` to `<tool>_<id>.txt` in `folder` and return the file.

    An id that begins with the tool's name, as call ids do, is the whole name.

    Raises:
        OutputFileError: the folder or the file could not be written.
    """
    tool = safe_filename_part(tool_name).lower()
    name = safe_filename_part(str(output_id)).lower()
    file = folder / (f"{name}.txt" if name.startswith(tool) else f"{tool}_{name}.txt")
    write_output(file, content)
    return file


def write_output(file: Path, content: str) -> None:
    """Write `content`, making the folder as needed.

    Raises:
        OutputFileError: the folder or the file could not be written.
    """
    try:
        make_private_folder(file.parent)
    except OSError as error:
        raise OutputFileError(node_error_message(error, "mkdir", file.parent)) from error
    try:
        write_private(file, node_utf8(content))
    except OSError as error:
        raise OutputFileError(node_error_message(error, "open", file)) from error


def node_utf8(text: str) -> bytes:
    """`text` as UTF-8; half a surrogate pair becomes U+FFFD, as in every file that Node writes."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        units = text.encode("utf-16-le", "surrogatepass")
        return units.decode("utf-16-le", "replace").encode()


def truncated_output(content: str, file: Path | str, max_chars: int) -> str:
    """The first fifth and the last four fifths of `max_chars` UTF-16 units, and where the rest is.

    A content that fits comes back as it is.
    """
    length = js_length(content)
    if length <= max_chars:
        return content
    head = max_chars // 5
    tail = max_chars - head
    shown_head, shown_tail, omitted = map(js_locale_number, (head, tail, length - head - tail))
    return (
        f"Output too large. Showing first {shown_head} and last {shown_tail} characters. "
        f"For full output see: {file}\n"
        f"{js_slice(content, 0, head)}\n\n"
        f"... [{omitted} characters omitted] ...\n\n"
        # A tail of nothing is everything in JavaScript, where -0 is 0.
        f"{js_slice(content, -tail if tail else 0)}"
    )

"""`get_internal_docs`: the product's documentation, for the agent that answers questions about it.

Not offered to the main model. Source: core `tools/get-internal-docs.ts`.
"""

from __future__ import annotations

import os.path
from pathlib import Path
from typing import ClassVar, Final

from services.node_errors import node_error_message
from services.tools.base import BuiltinInvocation, DeclarativeTool, failed
from services.tools.contract import (
    ConfirmationDetails,
    ToolErrorType,
    ToolExecution,
    ToolKind,
    ToolResult,
)
from services.tools.host import ToolHost
from services.tools.parameters import arguments, string
from services.tools.paths import absolute
from services.wire import JsonObject

__all__ = ["GetInternalDocsTool", "nearest_docs"]

_MARKER: Final = "sidebar.json"
_OUTSIDE: Final = "Access denied: Requested path is outside the documentation directory."


class GetInternalDocsTool(DeclarativeTool):
    """Lists the documentation, or returns one file of it."""

    name = "get_internal_docs"
    display_name = "GetInternalDocs"
    kind = ToolKind.THINK
    description = (
        "Read this product's own documentation: one file by its path, or the list of all paths."
    )
    parameters: ClassVar[JsonObject] = arguments(
        path=string("Path of the file, as listed; without it you get the list.")
    )

    def __init__(self, host: ToolHost, *, docs: Path | None = None) -> None:
        """Without `docs`, use the nearest folder `docs` with a `sidebar.json` above this file."""
        super().__init__(host)
        self.docs = docs if docs is not None else nearest_docs()


def nearest_docs() -> Path | None:
    """The folder with this product's documentation: the nearest one above this file."""
    for folder in Path(__file__).resolve().parents:
        if (folder / "docs" / _MARKER).is_file():
            return folder / "docs"
    return None


@GetInternalDocsTool.builds
class _GetInternalDocs(BuiltinInvocation):
    def __init__(self, tool: GetInternalDocsTool, params: JsonObject) -> None:
        super().__init__(tool, params)
        self._docs = tool.docs

    def description(self) -> str:
        path = self.params.get("path")
        if path:
            return f"Reading internal documentation: {path}"
        return "Listing all available internal documentation."

    def confirmation_details(self) -> ConfirmationDetails | None:
        """There is no question to the user."""
        return None

    async def execute(self, execution: ToolExecution) -> ToolResult:
        if self._docs is None:
            return _fault("Could not find Gemini CLI documentation directory.")
        path: str | None = self.params.get("path")
        if not path:
            return self._list(self._docs)
        file = absolute(self._docs, path)
        if not (file == str(self._docs) or file.startswith(f"{self._docs}{os.sep}")):
            return _fault(_OUTSIDE)
        try:
            content = Path(file).read_bytes().decode(errors="replace")
        except IsADirectoryError as error:
            return _fault(node_error_message(error, "read"))
        except (OSError, ValueError) as error:
            why = node_error_message(error, "open", file) if isinstance(error, OSError) else error
            return _fault(str(why))
        return ToolResult(
            llm_content=content, return_display=f"Successfully read documentation: {path}"
        )

    def _list(self, docs: Path) -> ToolResult:
        files = sorted(
            str(file.relative_to(docs))
            for file in docs.rglob("*")
            if file.suffix in (".md", ".mdx")
            and file.is_file()
            and not any(part.startswith(".") for part in file.relative_to(docs).parts)
        )
        listing = "\n".join(f"- {file}" for file in files)
        return ToolResult(
            llm_content=f"Available Gemini CLI documentation files:\n\n{listing}",
            return_display=f"Found {len(files)} documentation files.",
        )


def _fault(message: str) -> ToolResult:
    return failed(
        message,
        ToolErrorType.EXECUTION_FAILED,
        display=f"Failed to access documentation: {message}",
        llm=f"Error accessing internal documentation: {message}",
    )

"""`@{…}` of a command file: files of the workspace whose contents take their place.

Source: `packages/cli` `services/prompt-processors/atFileProcessor.ts`; core
`utils/pathReader.ts`.
"""

from __future__ import annotations

import os.path
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from services.abort import AbortController
from services.outside_patterns import PatternLimit
from services.tools.base import DeclarativeTool
from services.tools.contract import InvalidToolParams, LlmContent, Tool, ToolExecution
from services.tools.host import ToolHost
from services.tools.ignore import FileDiscovery
from services.tools.paths import access_error
from services.tools.read_file import ReadFileTool
from services.tools.read_many_files import ReadManyFilesTool
from services.wire import Json, JsonObject, Part
from surfaces.commands.contract import CommandContext, CommandError
from surfaces.commands.sources.injections import find_injections

__all__ = ["FILE", "with_file_contents"]

FILE: Final = "@{"


async def with_file_contents(
    prompt: str, context: CommandContext, command: str
) -> tuple[str | Part, ...]:
    """The pieces of `prompt`: its own texts as texts, files and folders as parts between them.

    A caller expands the texts only. Upstream also runs the shell commands that a file contains.

    What cannot be read is shown to the user as an error, and its place stays as it is.

    Raises:
        CommandError: the braces of a place are not balanced.
    """
    pieces: list[str | Part] = []
    at = 0
    for place in find_injections(prompt, FILE, command):
        pieces.append(prompt[at : place.start])
        try:
            read = await _read(place.content, context)
        except CommandError as error:
            context.error(f"Failed to inject content for '@{{{place.content}}}': {error}")
            read = [{"text": prompt[place.start : place.end]}]
        if not read:
            context.info(
                f"File '@{{{place.content}}}' was ignored by .gitignore or .geminiignore and was "
                "not included in the prompt."
            )
        pieces += read
        at = place.end
    pieces.append(prompt[at:])
    return tuple(piece for piece in pieces if piece)


async def _read(name: str, context: CommandContext) -> list[Part]:
    """The contents of a file or folder; nothing if an ignore file hides it.

    Raises:
        CommandError: it is outside of the workspace, is not there, or cannot be read.
    """
    workspace = context.services.workspace
    place = _found(name, context)
    if FileDiscovery(workspace.root).hides(str(place), respect_git=True, respect_gemini=True):
        return []
    host = _host(context)
    if not place.is_dir():
        return _parts(await _asked(ReadFileTool(host), {"file_path": str(place)}))
    folder = os.path.relpath(place, workspace.root)
    inside: list[Json] = ["**" if folder == "." else f"{folder}/**"]
    return _parts(await _asked(ReadManyFilesTool(host), {"include": inside}))


def _found(name: str, context: CommandContext) -> Path:
    workspace = context.services.workspace
    for folder in workspace.folders:
        place = Path(os.path.normpath(folder / name))
        problem = access_error(workspace, place)
        if problem is None and place.exists():
            return place
        if Path(name).is_absolute() and problem is not None:
            raise CommandError(f"Path not in workspace: The path '{name}' is outside of it.")
    if access_error(workspace, Path(os.path.normpath(workspace.root / name))) is not None:
        raise CommandError(f"Path not in workspace: The path '{name}' is outside of it.")
    raise CommandError(f"Path not found in workspace: {name}")


def _host(context: CommandContext) -> ToolHost:
    own = (each for each in context.services.tools.active() if isinstance(each, DeclarativeTool))
    tool = next(own, None)
    if tool is None:
        raise CommandError("the session has no tools that read files.")
    return tool.host


async def _asked(tool: Tool, params: JsonObject) -> LlmContent:
    try:
        invocation = tool.build(params)
    except (InvalidToolParams, PatternLimit) as error:
        raise CommandError(str(error)) from error
    execution = ToolExecution(call_id="command-read", signal=AbortController().signal)
    result = await invocation.execute(execution)
    if result.error is not None:
        raise CommandError(result.error.message)
    return result.llm_content


def _parts(content: LlmContent) -> list[Part]:
    if isinstance(content, str):
        return [{"text": content}]
    pieces = content if isinstance(content, Sequence) else [content]
    return [{"text": each} if isinstance(each, str) else each for each in pieces]

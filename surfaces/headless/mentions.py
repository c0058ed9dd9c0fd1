"""`@name` in a prompt: the files and resources that it names go along with it.

A name is an agent's, the URI of an MCP server's resource (`@server:uri`), or a path. A path that is
nowhere is looked for by its name; one that is hidden by an ignore file, or that tools may not read,
stays the text that it is.

Source: `packages/cli` `ui/hooks/atCommandProcessor.ts`.
"""

from __future__ import annotations

import base64
import os.path
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agent_protocol.content import ContentPart, TextPart
from services.abort import AbortController
from services.bundle import Services
from services.model.errors import FatalInputError
from services.outside_patterns import PatternLimit
from services.presentation.content import parts_to_content
from services.tools.base import DeclarativeTool
from services.tools.contract import InvalidToolParams, Tool, ToolExecution
from services.tools.ignore import FileDiscovery
from services.tools.paths import access_error
from services.tools.read_many_files import ReadManyFilesTool
from services.tools.read_mcp_resource import ReadMcpResourceTool
from services.wire import Json, JsonObject, Part, js_trim

__all__ = [
    "FILES_BEGIN",
    "file_called",
    "file_parts",
    "files_reader",
    "is_hidden",
    "with_mentioned_files",
]

_MENTION: Final = re.compile(
    r'(?<!\\)@((?:"[^"]*"|\\.|[^ \t\n\r,;!?()\[\]{}.]|\.(?![ \t\n\r]|\Z))+)', re.DOTALL
)
_ESCAPED: Final = re.compile(r"\\(.)")
_FINDER: Final = "glob"
_FILE_TEXT: Final = re.compile(r"--- (.*?) ---\n\n([\s\S]*?)\n\n")
FILES_BEGIN: Final = "\n--- Content from referenced files ---"
_FOOTER: Final = "\n--- End of content ---"
_RESOURCE_READER: Final = "read_mcp_resource"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mentioned:
    """A file or folder. `spec` is its path from the workspace, `/**` at its end for a folder."""

    place: Path
    spec: str
    label: str


async def with_mentioned_files(prompt: str, services: Services) -> tuple[ContentPart, ...]:
    """The parts to send for `prompt`: its text, a note for the agents that it mentions, then the
    resources and files.

    Raises:
        FatalInputError: a resource cannot be read.
    """
    text, position = "", 0
    files: list[_Mentioned] = []
    agents: list[str] = []
    resources: list[str] = []
    for found in _MENTION.finditer(prompt):
        name = _ESCAPED.sub(r"\1", found[1])
        mentioned = None
        if services.subagents.registry.definition(name) is not None:
            agents.append(name)
        elif _is_resource(name, services):
            resources.append(name)
        else:
            mentioned = await _resolved(name, services)
        between = prompt[position : found.start()]
        text += between if between.strip() else ""
        text += " " if text and not text.endswith(" ") else ""
        text += f"@{mentioned.spec if mentioned is not None else name}"
        files += [mentioned] if mentioned is not None else []
        position = found.end()
    if not (files or agents or resources):
        return (TextPart(text=prompt),)
    rest = prompt[position:]
    parts: list[Part] = [{"text": js_trim(text + (rest if rest.strip() else ""))}]
    if agents:
        parts.append({"text": _agents_note(agents)})
    attached = [part for uri in resources for part in await _resource(uri, services)]
    contents = await _read(files, services) if files else []
    if attached or contents:
        parts += [{"text": FILES_BEGIN}, *attached, *contents]
    if attached and not contents:
        parts.append({"text": _FOOTER})
    return parts_to_content(parts)


def _agents_note(agents: Sequence[str]) -> str:
    names, tools = ", ".join(agents), ", ".join(f"'{name}'" for name in agents)
    return (
        "\n<system_note>\nThe user has explicitly selected the following agent(s): "
        f"{names}. Please use the following tool(s) to delegate the task: {tools}.\n"
        "</system_note>\n"
    )


def _is_resource(name: str, services: Services) -> bool:
    tool = services.tools.get(_RESOURCE_READER)
    if not isinstance(tool, ReadMcpResourceTool):
        return False
    return tool.servers.find_resource(name) is not None


async def _resource(name: str, services: Services) -> list[Part]:
    """The contents of a resource, after a line that names it.

    Raises:
        FatalInputError: it cannot be read.
    """
    tool = services.tools.get(_RESOURCE_READER)
    assert isinstance(tool, ReadMcpResourceTool)
    resource = tool.servers.find_resource(name)
    try:
        result = None if resource is None else await tool.servers.read_resource(resource)
    except Exception as error:  # the border to a server, which may answer anything
        raise FatalInputError(_unreadable(name, str(error))) from error
    if resource is None or result is None:
        raise FatalInputError(_unreadable(name, "its MCP server is not connected"))
    parts: list[Part] = [{"text": f"\nContent from @{resource.uri}:\n"}]
    for content in result.get("contents") or []:
        found = content.get("resource") or content
        if found.get("text"):
            parts.append({"text": found["text"]})
        elif found.get("blob"):
            size = len(base64.b64decode(found["blob"]))
            kind = found.get("mimeType") or "application/octet-stream"
            parts.append({"text": f"[Binary resource content {kind}, {size} bytes]"})
    return parts


def _unreadable(name: str, why: str) -> str:
    return f"Exiting due to an error processing the @ command: Error reading resource {name}: {why}"


async def _resolved(name: str, services: Services) -> _Mentioned | None:
    workspace = services.workspace
    if is_hidden(name, workspace.root):
        return None
    for folder in workspace.folders:
        # Joined as text: an absolute path stays, and links are not followed yet.
        place = Path(os.path.normpath(folder / name))
        if access_error(workspace, place) is None and place.exists():
            return _mentioned(place, folder, name)
    for folder in workspace.folders:
        place_found = await file_called(name, folder, services)
        if place_found is not None:
            return _mentioned(place_found, folder, name)
    return None


def is_hidden(path: str, root: Path) -> bool:
    """Whether an ignore file hides `path`; a pattern that takes too long to match hides it."""
    try:
        return FileDiscovery(root).hides(path, respect_git=True, respect_gemini=True)
    except PatternLimit:
        return True


def _mentioned(place: Path, folder: Path, name: str) -> _Mentioned:
    spec = os.path.relpath(place, folder)
    label = spec if Path(name).is_absolute() else name
    if place.is_dir():
        spec = "**" if spec == "." else f"{spec}/**"
    return _Mentioned(place=place, spec=spec, label=label)


async def file_called(name: str, folder: Path, services: Services) -> Path | None:
    """The first file below `folder` whose path has `name` in it; `None` without one."""
    text = await _asked(
        services.tools.get(_FINDER), {"pattern": f"**/*{name}*", "dir_path": str(folder)}
    )
    if not isinstance(text, str) or text.startswith(("No files found", "Error:")):
        return None
    lines = text.split("\n")
    return Path(lines[1].strip()) if len(lines) > 1 and lines[1].strip() else None


async def _read(files: Sequence[_Mentioned], services: Services) -> list[Part]:
    include: list[Json] = [each.spec for each in files]
    content = await _asked(files_reader(services), {"include": include})
    items = content if isinstance(content, list) else []
    return [
        part
        for item in items
        for part in file_parts(item, lambda path: _label(path, files, services))
    ]


def file_parts(item: str | Part, label: Callable[[str], str] = str) -> Iterator[Part]:
    """The parts for one item of the tool that reads many files.

    Args:
        item: what the tool returned for one file.
        label: the name of the file for the model, from the path that the tool gives.
    """
    found = _FILE_TEXT.fullmatch(item) if isinstance(item, str) else None
    if found is not None:
        yield {"text": f"\nContent from @{label(found[1])}:\n"}
        yield {"text": js_trim(found[2])}
    else:
        yield {"text": item} if isinstance(item, str) else item


def _label(path: str, files: Sequence[_Mentioned], services: Services) -> str:
    for each in files:
        if path in (str(each.place), each.spec):
            return each.label
    for folder in services.workspace.folders:
        if path.startswith(str(folder)):
            return os.path.relpath(path, folder)
    return path


async def _asked(tool: Tool | None, params: JsonObject) -> Json:
    """The result of a tool that the client itself calls; `None` without that tool."""
    if tool is None:
        return None
    try:
        invocation = tool.build(params)
    except InvalidToolParams:
        return None
    execution = ToolExecution(call_id="client-read", signal=AbortController().signal)
    return (await invocation.execute(execution)).llm_content


def files_reader(services: Services) -> Tool | None:
    """The tool that reads many files; clients have it even if models are not offered it."""
    own = (tool for tool in services.tools.active() if isinstance(tool, DeclarativeTool))
    any_tool = next(own, None)
    return None if any_tool is None else ReadManyFilesTool(any_tool.host)

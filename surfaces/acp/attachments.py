"""`Attachments`: the content blocks of a prompt become the parts that the model gets.

A text goes as it is, and so do images and sound. A link to a file attaches the file. An embedded
resource goes at the end. A file outside the workspace needs the user's permission.

Source: `packages/cli` `acp/acpSession.ts` (`#resolvePrompt`), `ui/hooks/atCommandProcessor.ts`
(`resolveAtCommandPath`).
"""

from __future__ import annotations

import os.path
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from services.abort import AbortSignal
from services.bundle import Services
from services.node_errors import node_error_message
from services.tools.contract import ConfirmationOutcome, ToolExecution
from services.tools.paths import access_error
from services.tools.read_many_files import UnreadableFile, file_content
from services.wire import JsonObject, Part, js_trim
from surfaces.acp.call_updates import failed_update, kind_of, text_content
from surfaces.acp.client import Client
from surfaces.acp.outbox import Outbox, text_chunk
from surfaces.acp.permissions import PermissionFailed, ask, options_for
from surfaces.allowed import Allowed
from surfaces.headless.mentions import (
    FILES_BEGIN,
    file_called,
    file_parts,
    files_reader,
    is_hidden,
)

__all__ = ["Attachments"]

_FILE_SCHEME: Final = "file://"
_EMBEDDED_BEGIN: Final = "\n--- Content from referenced context ---"
_BINARY: Final = "application/octet-stream"


@dataclass(slots=True)
class _Link:
    """A link to a file."""

    path: str
    spec: str | None = None
    """What the text names in its place; `None`: nothing is attached."""
    pattern: str | None = None
    """What the tool for many files reads; `None`: nothing."""
    content: list[Part] = field(default_factory=list)


class _Refused(Exception):
    """A link attaches nothing; the message says why."""


class Attachments:
    """Reads what the prompts of a session attach.

    Args:
        services: the session's.
        client: gives permissions.
        outbox: gets warnings, and the call of the tool that reads many files.
    """

    def __init__(self, services: Services, client: Client, outbox: Outbox) -> None:
        self._services = services
        self._client = client
        self._outbox = outbox

    async def parts(self, blocks: Sequence[JsonObject], signal: AbortSignal) -> list[Part]:
        """The parts for the content blocks of a prompt; `signal` ends the reading."""
        plain = [_plain(block) for block in blocks]
        links = [each for each in plain if isinstance(each, _Link)]
        embedded = [block["resource"] for block in blocks if block["type"] == "resource"]
        if not links and not embedded:
            return [each for each in plain if not isinstance(each, _Link)]
        for link in links:
            try:
                await self._resolve(link)
            except _Refused as refused:
                self._outbox.add(text_chunk("agent_thought_chunk", f"Warning: {refused}"))
        media = [each for each in plain if not isinstance(each, _Link) and "text" not in each]
        return [
            {"text": _words(plain)},
            *media,
            *await self._files(links, signal),
            *_embedded(embedded),
        ]

    async def _files(self, links: Sequence[_Link], signal: AbortSignal) -> list[Part]:
        read = await self._read_many([link for link in links if link.pattern], signal)
        attached = [part for link in links for part in link.content]
        return [{"text": FILES_BEGIN}, *read, *attached] if read or attached else []

    async def _resolve(self, link: _Link) -> None:
        """Find the file of `link`, and read it unless the tool for many files is to.

        Raises:
            _Refused: it must not be read, or cannot be.
        """
        workspace = self._services.workspace
        if is_hidden(link.path, workspace.root):
            return
        place = _place_of(link.path, workspace.folders)
        if place is None:
            await self._search(link)
            return
        refusal = access_error(workspace, place)
        if refusal is not None:
            outside = not place.is_relative_to(workspace.root)
            if not outside or not place.is_file():
                raise _Refused(f"skipping access to `{link.path}`. Reason: {refusal}")
            if not await self._may_read(link.path):
                denied = f"[Warning: Access to absolute path `{link.path}` denied by user.]"
                link.content = _attached(link.path, {"text": denied})
                return
        if place.is_dir():
            link.spec = link.pattern = f"{link.path.rstrip('/')}/**"
        elif Path(link.path).is_absolute() or not place.is_relative_to(workspace.root):
            link.content = _attached(link.path, self._content(place, link.path))
            link.spec = link.path
        else:
            link.spec = link.pattern = link.path

    async def _search(self, link: _Link) -> None:
        """Find the file by a part of its path."""
        root = self._services.workspace.root
        found = await file_called(link.path, root, self._services)
        if found is not None:
            link.spec = link.pattern = os.path.relpath(found, root)

    def _content(self, place: Path, path: str) -> Part:
        try:
            content = file_content(place, path)
        except UnreadableFile as error:
            raise _Refused(f"file read failed for `{path}`. Reason: {error}") from error
        except OSError as error:
            why = node_error_message(error, "open", place)
            raise _Refused(f"file access failed for `{path}`. Reason: {why}") from error
        return {"text": content} if isinstance(content, str) else content

    async def _may_read(self, path: str) -> bool:
        """Whether the user lets the agent read a file outside the workspace."""
        await self._outbox.sent()
        words = f"The Agent needs access to read an attached file outside your workspace: {path}"
        number = self._services.ids.uuid("attachment")
        request: JsonObject = {
            "sessionId": self._outbox.session_id,
            "options": options_for(
                "attachment", Allowed(session=False), once="Allow once", never="Deny"
            ),
            "toolCall": {
                "toolCallId": f"resolve-prompt-{path}-{number}",
                "status": "pending",
                "title": f"Allow access to absolute path: {path}",
                "content": [text_content(words)],
                "locations": [],
                "kind": "read",
            },
        }
        try:
            return await ask(self._client, request) is ConfirmationOutcome.PROCEED_ONCE
        except PermissionFailed as error:
            raise _Refused(f"skipping access to `{path}`. Reason: {error}") from error

    async def _read_many(self, links: Sequence[_Link], signal: AbortSignal) -> list[Part]:
        """The files that the patterns of `links` name, read by a call that the client sees."""
        tool = files_reader(self._services)
        if tool is None or not links:
            return []
        names = ", ".join(link.path for link in links)
        invocation = tool.build({"include": [link.pattern for link in links]})
        call_id = f"{tool.name}-{self._services.ids.uuid('attachment')}"
        call: JsonObject = {
            "toolCallId": call_id,
            "title": invocation.description(),
            "locations": [],
            "kind": kind_of(tool),
        }
        start: JsonObject = {"status": "in_progress", "content": []}
        self._outbox.add({"sessionUpdate": "tool_call", **call, **start})
        result = await invocation.execute(ToolExecution(call_id=call_id, signal=signal))
        if result.error is not None:
            words = f"Error reading files ({names}): {result.error.message}"
            self._outbox.add(failed_update(call_id, tool, words))
            return []
        done: JsonObject = {
            "status": "completed",
            "content": [text_content(f"Successfully read: {names}")],
        }
        self._outbox.add({"sessionUpdate": "tool_call_update", **call, **done})
        content = result.llm_content if isinstance(result.llm_content, list) else []
        return [part for item in content for part in file_parts(item)]


def _plain(block: JsonObject) -> Part | _Link:
    match block["type"]:
        case "text":
            return {"text": block["text"]}
        case "image" | "audio":
            return {"inlineData": {"mimeType": block["mimeType"], "data": block["data"]}}
        case "resource_link" if block["uri"].startswith(_FILE_SCHEME):
            return _Link(block["uri"].removeprefix(_FILE_SCHEME))
        case "resource_link":
            return {"text": f"@{block['uri']}"}
        case _:
            return {"text": f"@{block['resource']['uri']}"}


def _words(plain: Sequence[Part | _Link]) -> str:
    """The text of the prompt, with names in place of links."""
    words = ""
    for number, each in enumerate(plain):
        if not isinstance(each, _Link) and "text" in each:
            words += each["text"]
            continue
        spaced = number == 0 or not words or words.endswith(" ")
        words += "" if spaced else " "
        if isinstance(each, _Link):
            words += f"@{each.path if each.spec is None else each.spec}"
    return js_trim(words)


def _place_of(path: str, folders: Sequence[Path]) -> Path | None:
    """Where `path` leads, as it stands or with its percent signs decoded; `None`: nowhere."""
    for name in dict.fromkeys((path, unquote(path))):
        for folder in folders:
            place = Path(os.path.normpath(folder / name.replace("\0", "")))
            if os.path.exists(place):  # noqa: PTH110 - `Path.exists` raises for long names
                return place
    return None


def _attached(path: str, content: Part) -> list[Part]:
    return [{"text": f"\nContent from @{path}:\n"}, content]


def _embedded(resources: Sequence[JsonObject]) -> Iterator[Part]:
    if resources:
        yield {"text": _EMBEDDED_BEGIN}
    for resource in resources:
        yield {"text": f"\nContent from @{resource['uri']}:\n"}
        if "text" in resource:
            yield {"text": resource["text"]}
        else:
            kind = resource.get("mimeType") or _BINARY
            yield {"inlineData": {"mimeType": kind, "data": resource["blob"]}}

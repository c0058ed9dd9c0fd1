"""A client of the extension, over a server in the same process."""

from typing import Any

from surfaces.a2a.extension.negotiation import EXTENSION_HEADERS, EXTENSION_URI
from surfaces.a2a.extension.schema import DevelopmentToolEvent, ToolCall
from tests.surfaces.a2a.conftest import Json, Peer, data_of

__all__ = ["asked", "event_of", "folded", "played", "updates"]


def asked(
    peer: Peer, *parts: str | Json, task: str | None = None, uri: str = EXTENSION_URI
) -> Json:
    """A message in the dialect, with the settings where it begins a task."""
    message = peer.message(*parts, task=task)
    if task is None:
        message["metadata"] = {uri: {"workspace_path": str(peer.workspace)}}
    return message


async def played(peer: Peer, message: Json, header: str | None = EXTENSION_URI) -> list[Any]:
    """The events of the answer, or the error that ends them."""
    if header is not None:
        peer.http.headers[EXTENSION_HEADERS[1]] = header
    answers = await peer.stream("message/stream", message=message)
    return [answer.get("result") or answer["error"] for answer in answers]


def event_of(event: Json) -> DevelopmentToolEvent:
    """The metadata of an update; the extension's are all there are."""
    assert list(event["metadata"]) == [EXTENSION_URI]
    return DevelopmentToolEvent.read(event["metadata"][EXTENSION_URI])


def folded(events: list[Json]) -> list[tuple[str, str, bool]]:
    """Kind, state and finality of each update; equal neighbours once."""
    found: list[tuple[str, str, bool]] = []
    for event in events[1:] if events[0]["kind"] == "task" else events:
        each = (str(event_of(event).kind), event["status"]["state"], event["final"])
        if not found or found[-1] != each:
            found.append(each)
    return found


def updates(events: list[Json]) -> list[ToolCall]:
    """The tool calls of the updates."""
    return [
        ToolCall.read(data_of(event))
        for event in events
        if event["kind"] == "status-update" and event_of(event).kind == "TOOL_CALL_UPDATE"
    ]

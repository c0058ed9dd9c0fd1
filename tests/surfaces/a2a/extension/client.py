"""A client of the extension, over a server in the same process."""

from typing import Any

from surfaces.a2a.extension.negotiation import EXTENSION_HEADERS, EXTENSION_URI
from surfaces.a2a.extension.schema import DevelopmentToolEvent, ToolCall
from tests.surfaces.a2a.conftest import Json, Peer, data_of
from tests.surfaces.a2a.extension.proto import is_valid

__all__ = ["asked", "called", "event_of", "folded", "followed", "played", "updates", "valid"]


def asked(
    peer: Peer, *parts: str | Json, task: str | None = None, uri: str = EXTENSION_URI
) -> Json:
    """A message in the dialect, with the settings where it begins a task."""
    message = peer.message(*parts, task=task)
    if task is None:
        message["metadata"] = {uri: {"workspace_path": str(peer.workspace)}}
    return message


async def played(peer: Peer, message: Json, header: str | None = EXTENSION_URI) -> list[Any]:
    """The events of the answer, or the error that ends them; each fits the specification."""
    if header is not None:
        peer.http.headers[EXTENSION_HEADERS[1]] = header
    answers = await peer.stream("message/stream", message=message)
    return [
        valid(answer["result"]) if "result" in answer else answer["error"] for answer in answers
    ]


async def called(peer: Peer, method: str, **params: Any) -> Json:
    """The result of a method of the extension, or its error."""
    answer = await peer.rpc(method, **params)
    found: Json = answer["result"] if "result" in answer else answer["error"]
    return found


async def followed(peer: Peer, task: str) -> list[Any]:
    """The task, and what it does until its turn ends."""
    answers = await peer.stream("tasks/resubscribe", id=task)
    return [valid(answer["result"]) for answer in answers]


def valid(event: Json) -> Json:
    """The event, whose objects fit the proto text of the specification."""
    if event["kind"] == "status-update":
        ((_, metadata),) = event["metadata"].items()
        assert is_valid("DevelopmentToolEvent", metadata)
        parts = event["status"].get("message", {}).get("parts", [])
        name = _OBJECTS.get(metadata["kind"])
        kinds = [part["kind"] for part in parts]
        if name is not None:
            assert kinds == ["data"]
            assert is_valid(name, parts[0]["data"])
        else:
            assert kinds in ([], ["text"])
    return event


_OBJECTS = {
    "TOOL_CALL_CONFIRMATION": "ToolCallConfirmation",
    "TOOL_CALL_UPDATE": "ToolCall",
    "THOUGHT": "AgentThought",
}
"""The kind of an event to the object in its message; other messages have a text, or are absent."""


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

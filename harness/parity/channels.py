"""The channels: what is compared of two observations, each as a list of JSON items.

A channel's `brief` items settle equal runs: they are cheap, and equal briefs mean equal channels.
Its `items` are what is projected, aligned and diffed where the briefs differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from harness.parity.divergence import ChannelName
from harness.replay.observation import Observation, ObservedRequest
from harness.replay.trace import retry_record
from services.threads import thread_order
from services.wire import JsonObject

__all__ = ["CHANNELS", "Channel"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """One thing to compare.

    `label` says what sort of item one is, without its values: items of one label can be the same
    item with a change in it, others cannot.
    """

    name: ChannelName
    items: Callable[[Observation], Sequence[Any]]
    label: Callable[[JsonObject], str]
    brief: Callable[[Observation], Sequence[Any]]


def _request_head(request: ObservedRequest) -> JsonObject:
    return {
        "method": request.method,
        "role": request.role,
        "thread": request.thread,
        "model": request.model,
        "config": request.config,
        # By name: one tool more must not look as if all that follow had changed. Their order is in
        # the digest, with their descriptions.
        "tools": dict.fromkeys(request.tools, "declared"),
        "toolsDigest": request.tools_digest,
        "systemInstruction": request.system_digest,
    }


def _requests_brief(seen: Observation) -> list[JsonObject]:
    return [{**_request_head(request), "contents": request.digest} for request in seen.requests]


def _requests(seen: Observation) -> list[JsonObject]:
    return [
        {
            **_request_head(request),
            "sameAsPrevious": request.same_as_previous,
            "newContents": request.new_contents,
        }
        for request in seen.requests
    ]


def _request_label(item: JsonObject) -> str:
    thread = "" if item["thread"] == "main" else f", thread {item['thread']}"
    return f"{item['method']}({item['role']}{thread})"


def _provider(seen: Observation) -> list[JsonObject]:
    return [
        {"request": index, "rule": finding.rule, "path": finding.path}
        for index, request in enumerate(seen.requests)
        for finding in request.provider
    ]


def _event_label(item: JsonObject) -> str:
    kind = str(item.get("type"))
    return f"{kind}({item.get('role')})" if kind == "message" else kind


def _content_label(item: JsonObject) -> str:
    return f"content({item.get('role')})"


def _recording(seen: Observation) -> list[JsonObject]:
    by_agent = {child.agent_id: child.thread for child in seen.children}
    threads = {path: by_agent.get(PurePosixPath(path).stem) for path in seen.recording}
    paths = sorted(
        (path for path, thread in threads.items() if thread is None),
        key=lambda path: (_started(seen.recording[path]), path),
    )
    # A child's file is named after it: which one it is follows from its thread, and from when it
    # began, since a later session has the same threads.
    of_children = sorted(
        (thread_order(thread), _started(seen.recording[path]), path, thread)
        for path, thread in threads.items()
        if thread
    )
    lines: list[JsonObject] = [
        {"file": number, "line": line}
        for number, path in enumerate(paths)
        for line in seen.recording[path]
    ]
    for *_, path, thread in of_children:
        lines.extend({"thread": thread, "line": line} for line in seen.recording[path])
    return [{"files": [*paths, *(path for *_, path, _ in of_children)]}, *lines]


def _started(lines: Sequence[Any]) -> str:
    """When a recording says that it was begun; names of later sessions are chance."""
    first = lines[0] if lines else None
    return str(first.get("startTime", "")) if isinstance(first, dict) else ""


def _recording_label(item: JsonObject) -> str:
    if "files" in item:
        return "files"
    line = item["line"]
    if not isinstance(line, dict):
        return "line"
    where = f"file {item['file']}" if "file" in item else f"thread {item['thread']}"
    for key in ("$set", "$rewindTo"):
        if key in line:
            return f"{key} in {where}"
    kind = f"message({line.get('type')})" if "type" in line else "metadata"
    return f"{kind} in {where}"


def _tool_states(seen: Observation) -> list[JsonObject]:
    threads = seen.threads.get("tool_states", {})
    return [
        {"call": call, "states": list(states), **_on(threads, number)}
        for number, (call, states) in enumerate(seen.tool_states.items())
    ]


def _on(threads: Mapping[int, str], number: int) -> JsonObject:
    return {"thread": threads[number]} if number in threads else {}


def _of_thread(label: str, item: JsonObject) -> str:
    return f"{label}, thread {item['thread']}" if "thread" in item else label


def _workspace(seen: Observation) -> list[JsonObject]:
    return [{"path": path, "text": text} for path, text in sorted(seen.workspace_changes.items())]


def _retries(seen: Observation) -> list[JsonObject]:
    return [
        *(
            {"retry": retry_record(retry), **_on(seen.threads.get("retries", {}), number)}
            for number, retry in enumerate(seen.retries)
        ),
        *(
            {"side": event, **_on(seen.threads.get("side_events", {}), number)}
            for number, event in enumerate(seen.side_events)
        ),
    ]


def _retry_label(item: JsonObject) -> str:
    return _of_thread("retry" if "retry" in item else str(item["side"].get("event")), item)


def _children(seen: Observation) -> list[JsonObject]:
    items: list[JsonObject] = []
    for child in seen.children:
        items.append({"thread": child.thread, "agent": child.agent})
        items.extend({"thread": child.thread, "activity": each} for each in child.activities)
        items.extend({"thread": child.thread, "event": event} for event in child.events or ())
    return items


def _child_label(item: JsonObject) -> str:
    if "activity" in item:
        return _of_thread(str(item["activity"].get("type")), item)
    return _of_thread(_event_label(item["event"]) if "event" in item else "child", item)


def _cost(seen: Observation) -> list[JsonObject]:
    calls: dict[str, int] = {}
    for request in seen.requests:
        key = f"{request.method}({request.role})"
        calls[key] = calls.get(key, 0) + 1
    tokens: dict[str, float] = dict.fromkeys(("inputTokens", "outputTokens", "cachedTokens"), 0)
    for event in seen.events:
        if event.get("type") == "usage":
            for name in tokens:
                count = event.get(name)
                tokens[name] += count if isinstance(count, int | float) else 0
    return [
        {
            "modelCalls": calls,
            "tokens": tokens,
            # How much of what is sent the model has seen before: what prompt caches live on.
            "contentsSent": sum(request.contents_count for request in seen.requests),
            "contentsSentBefore": sum(request.same_as_previous for request in seen.requests),
        }
    ]


def _channel(
    name: ChannelName,
    items: Callable[[Observation], Sequence[Any]],
    label: Callable[[JsonObject], str],
    brief: Callable[[Observation], Sequence[Any]] | None = None,
) -> Channel:
    return Channel(name=name, items=items, label=label, brief=brief or items)


CHANNELS: Final = (
    _channel(ChannelName.REQUESTS, _requests, _request_label, _requests_brief),
    _channel(ChannelName.PROVIDER, _provider, lambda item: str(item["rule"])),
    _channel(ChannelName.RETRIES, _retries, _retry_label),
    _channel(ChannelName.TOOL_STATES, _tool_states, lambda item: _of_thread("call", item)),
    _channel(ChannelName.CHILDREN, _children, _child_label),
    _channel(ChannelName.WORKSPACE, _workspace, lambda item: str(item["path"])),
    _channel(ChannelName.TRANSCRIPT, lambda seen: seen.transcript, _content_label),
    _channel(ChannelName.RECORDING, _recording, _recording_label),
    _channel(ChannelName.EVENTS, lambda seen: seen.events, _event_label),
    _channel(ChannelName.COST, _cost, lambda item: "cost"),
)
"""All channels, causes before symptoms: what the model was asked, then what came of it."""

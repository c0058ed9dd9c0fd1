"""`settled`: the messages of A2A without what the duration of real work decides."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from services.wire import JsonObject

__all__ = ["settled"]

T = TypeVar("T")
_LIVE = "liveContent"


def settled(wire: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the messages in an order that two equal runs share.

    This projects away what is timing. The pieces in which a process's output arrives differ from
    run to run, so of the updates with the live output of a call the last one stays. Which of
    several calls at work has an update first differs, too, so updates that follow each other are
    put in the order of the calls' ids. Each call keeps the order of its own updates. Where several
    streams of a task are open, each brings the same updates, so those of one stream follow those of
    another until the client sends something.

    Which user-visible difference could hide here? Output that is shown late, or only when the
    process has ended, as in `harness.replay.progress`. A call that is announced or runs before
    another one instead of after it, if nothing but updates lies between; other channels compare
    the order of the calls and what they do.
    """
    found = _by_call(_by_request(_last_live(wire)), _call_on_wire)
    for each in found:
        task = each["message"].get("result") or {}
        if task.get("kind") == "task":
            task["history"] = _by_call(task["history"], _call_in)
    return found


def _last_live(wire: Sequence[JsonObject]) -> list[JsonObject]:
    """Leave out each update with live output that another one of its call replaces."""
    kept: list[JsonObject] = []
    replaced: set[str] = set()
    for each in reversed(wire):
        call = _call_on_wire(each)
        if call is None or _LIVE not in _data(_status_message(each)):
            replaced.discard(call or "")
        elif call in replaced:
            continue
        else:
            replaced.add(call)
        kept.append(each)
    return kept[::-1]


def _by_request(wire: Sequence[JsonObject]) -> list[JsonObject]:
    """Put what the agent sends between two messages of the client in the order of the requests."""
    sent = 0
    keys: list[tuple[int, int]] = []
    for each in wire:
        sent += each["from"] == "client"
        keys.append((sent, -1 if each["from"] == "client" else each["message"]["id"]))
    return [wire[place] for place in sorted(range(len(wire)), key=keys.__getitem__)]


def _by_call(items: Sequence[T], call_of: Callable[[T], str | None]) -> list[T]:
    """Put the items about calls that follow each other in the order of the calls' ids."""
    keys: list[tuple[int, list[tuple[int, str]]]] = []
    stretch = 0
    for item in items:
        call = call_of(item)
        if call is None:
            stretch += 2
            keys.append((stretch - 1, []))
        else:
            keys.append((stretch, _natural(call)))
    order = sorted(range(len(items)), key=keys.__getitem__)
    return [items[place] for place in order]


def _natural(call: str) -> list[tuple[int, str]]:
    """Return a key for sorting in which `_2` comes before `_10`."""
    words = re.split(r"([0-9]+)", call)
    return [(int(word), "") if word.isdecimal() else (0, word) for word in words]


def _call_on_wire(each: JsonObject) -> str | None:
    """Return the call that an update is about, with its stream."""
    call = _call_in(_status_message(each))
    return None if call is None else f"{each['message'].get('id')} {call}"


def _status_message(each: JsonObject) -> JsonObject:
    result: Any = each["message"].get("result") or {}
    if result.get("kind") != "status-update":
        return {}
    found: JsonObject = result["status"].get("message") or {}
    return found


def _call_in(message: JsonObject) -> str | None:
    found = _data(message).get("toolCallId")
    return found if isinstance(found, str) else None


def _data(message: JsonObject) -> JsonObject:
    for part in message.get("parts", ()):
        if isinstance(part.get("data"), dict):
            found: JsonObject = part["data"]
            return found
    return {}

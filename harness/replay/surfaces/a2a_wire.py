"""`settled`: the messages of A2A without what the duration of real work decides."""

from __future__ import annotations

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
    put in the order of their calls.

    Which user-visible difference could hide here? Output that is shown late, or only when the
    process has ended, as in `harness.replay.progress`. A call that runs before another one instead
    of after it, if nothing but updates lies between. The calls keep the order in which they were
    announced first, and each keeps the order of its own updates.
    """
    found = _by_call(_last_live(wire), _call_on_wire)
    for each in found:
        task = each["message"].get("result") or {}
        if "history" in task:
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


def _by_call(items: Sequence[T], call_of: Callable[[T], str | None]) -> list[T]:
    """Put the items about calls that follow each other in the order of the calls."""
    first: dict[str, int] = {}
    keys: list[tuple[int, int]] = []
    stretch = 0
    for item in items:
        call = call_of(item)
        if call is None:
            stretch += 2
            keys.append((stretch - 1, 0))
        else:
            keys.append((stretch, first.setdefault(call, len(first))))
    order = sorted(range(len(items)), key=keys.__getitem__)
    return [items[place] for place in order]


def _call_on_wire(each: JsonObject) -> str | None:
    """Return the call that an update is about, with its stream."""
    call = _call_in(_status_message(each))
    return None if call is None else f"{each['message'].get('id')} {call}"


def _status_message(each: JsonObject) -> JsonObject:
    result: Any = each["message"].get("result") or {}
    found: JsonObject = (result.get("status") or {}).get("message") or {}
    return found if result.get("kind") == "status-update" else {}


def _call_in(message: JsonObject) -> str | None:
    found = _data(message).get("toolCallId")
    return found if isinstance(found, str) else None


def _data(message: JsonObject) -> JsonObject:
    for part in message.get("parts", ()):
        if isinstance(part.get("data"), dict):
            found: JsonObject = part["data"]
            return found
    return {}

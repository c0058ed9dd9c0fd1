"""The projection rules that several channels share; the docstring of each gives its reason.

Each channel lists the rules for its items. Rules for whole runs are in `threads`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Final

from harness.parity.items import Hidden, Item, dicts, join, leaves, list_of, rule, strings
from services.ids import CountingIds
from services.json_values import parse_json
from services.threads import MAIN
from services.wire import JsonObject

__all__ = [
    "EVERYWHERE",
    "FIRST_SESSION",
    "ISO_TIME",
    "TIME_KEYS",
    "UUID",
    "call_ids",
    "error_stacks",
    "event_ids",
    "own_environment",
    "own_stacks",
    "own_tasks",
    "progress_ids",
    "stream_ids",
    "timestamps",
]

UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
ISO_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
TIME_KEYS: Final = ("timestamp", "startTime", "lastUpdated")
"""Keys that hold the time of an item."""
_GENERATED = re.compile(r"_\d{13}_\d+\Z|#\d+-\d+\Z|^synth_.*_[0-9a-f]{32}\Z", re.DOTALL)
_SUFFIX = re.compile(r"(?<=_)[0-9a-z]{1,13}(?=\.txt\b)")
FIRST_SESSION: Final = CountingIds().uuid("session")
_LATER_SESSION = re.compile(rf"(?<=/session-)(?!{FIRST_SESSION}){UUID.pattern}(?=/)")
_TASK = re.compile(r"[^<]{1,1000}(<(objective|question)>\n.*\n</\2>)", re.DOTALL)
_OUTPUT_FILE = re.compile(r"tool-outputs/[^\s\"]+?_[0-9a-z]{1,13}\.txt\b")


@rule()
def event_ids(item: Item) -> None:
    """An event id only identifies its event; a dropped event would change all later ids.

    An id that two events share is a difference: ids map one to one.
    """
    event, path = _event(item)
    if isinstance(event.get("id"), str):
        item.rename("event_ids", event, "id", join(path, "id"), "event")


@rule()
def stream_ids(item: Item) -> None:
    """A stream id is opaque to clients: only which events share one is compared.

    An event that belongs to another stream is a difference: ids map one to one.
    """
    event, path = _event(item)
    if isinstance(event.get("streamId"), str):
        item.rename("stream_ids", event, "streamId", join(path, "streamId"), "stream")


def _event(item: Item) -> tuple[JsonObject, str]:
    """The event of an item or of a child's item, and its path."""
    event = item.value.get("event")
    return (event, "event") if isinstance(event, dict) else (item.value, "")


@rule()
def timestamps(item: Item) -> None:
    """Times depend on the clock, and on the number of requests and waits before them.

    Only values in the wire's time format are hidden, and only under the keys that hold times. If
    two runs of one product are equal otherwise, `times` compares the hidden times, and so finds a
    retry that is announced after its wait, or a hook that fires late. Across products, and with a
    baseline, times stay hidden; the order of the items and the requested waits are compared.
    """
    for holder, path in dicts(item.value):
        for key in TIME_KEYS:
            value = holder.get(key)
            if isinstance(value, str) and ISO_TIME.fullmatch(value):
                item.hide("timestamps", holder, key, join(path, key), "<time>")


@rule(marker='"stack"', across=True)
def own_stacks(item: Item) -> None:
    """Each product's stack traces are those of its language; message and code stay compared."""
    _hide_stack(item, "own_stacks", lambda stack: "<stack>")


@rule(marker='"stack"')
def error_stacks(item: Item) -> None:
    """The frames of a stack trace name the runtime's own source lines.

    The lines without indentation stay compared: the class of the error, and the errors before it.
    """
    _hide_stack(item, "error_stacks", _without_frames)


def _hide_stack(item: Item, rule: str, shown: Callable[[str], str]) -> None:
    event, path = _event(item)
    meta = event.get("_meta")
    stack = meta.get("stack") if isinstance(meta, dict) else None
    if isinstance(stack, str) and shown(stack) != stack:
        item.hide(rule, meta, "stack", join(path, "_meta.stack"), shown(stack))


def _without_frames(stack: str) -> str:
    return "\n".join(line for line in stack.splitlines() if not line.startswith(" "))


@rule()
def call_ids(item: Item) -> None:
    """A generated call id joins a tool call and its result: only which belong together is compared.

    An id that the model gave stays compared: the API gets it back with the call's result. Generated
    ids contain the time in milliseconds, or the child's id and two numbers, or, where the model
    gave none, the hash of the random id of a turn (core `utils/sessionUtils.ts`).
    """
    event, where = _event(item)
    for key in ("requestId", "call"):
        if _generated(event.get(key)):
            item.rename("call_ids", event, key, join(where, key), "call")
    activity = item.value.get("activity")
    data = activity.get("data") if isinstance(activity, dict) else None
    for key in ("callId", "id"):
        if isinstance(data, dict) and _generated(data.get(key)):
            item.rename("call_ids", data, key, f"activity.data.{key}", "call")
    for holder, path in dicts(item.value):
        for key in ("functionCall", "functionResponse"):
            call = holder.get(key)
            if isinstance(call, dict) and _generated(call.get("id")):
                item.rename("call_ids", call, "id", join(path, f"{key}.id"), "call")
        for number, call in enumerate(list_of(holder.get("toolCalls"))):
            if isinstance(call, dict) and _generated(call.get("id")):
                where = join(path, f"toolCalls[{number}].id")
                item.rename("call_ids", call, "id", where, "call")


def _generated(id_: Any) -> bool:
    return isinstance(id_, str) and _GENERATED.search(id_) is not None


@rule(marker="isSubagentProgress")
def progress_ids(item: Item) -> None:
    """The thoughts in the progress of a subagent have random ids; its calls have other ids.

    By this id clients find the thought that a later thought replaces. Every run has new ids. A
    thought that replaces another one is a difference: ids map one to one.
    """
    display = item.value.get("display")
    result = display.get("result") if isinstance(display, dict) else None
    if isinstance(result, dict) and isinstance(result.get("text"), str):
        try:
            shown = parse_json(result["text"])
        except ValueError:
            shown = None
        if _progress(item, shown, "display.result.text"):
            result["text"] = json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
    for holder, path in dicts(item.value):
        _progress(item, holder.get("resultDisplay"), join(path, "resultDisplay"))


def _progress(item: Item, shown: Any, path: str) -> bool:
    """Rename the ids of thoughts in an agent's progress; returns whether `shown` is one."""
    if not (isinstance(shown, dict) and shown.get("isSubagentProgress")):
        return False
    for number, activity in enumerate(list_of(shown.get("recentActivity"))):
        id_ = activity.get("id") if isinstance(activity, dict) else None
        if isinstance(id_, str) and UUID.fullmatch(id_):
            where = f"{path}.recentActivity[{number}].id"
            item.rename("progress_ids", activity, "id", where, "activity")
    return True


@rule(marker="tool-outputs/")
def random_suffixes(item: Item) -> None:
    """Files of long tool outputs end in a random suffix; the rest of the name stays compared.

    After a silent fallback the id of the session is random, and so is the name of their folder. A
    text that names another file than the text before it did is a difference: names map one to one.
    """
    for holder, key, path in strings(item.value):
        named = [found[0] for found in _OUTPUT_FILE.finditer(holder[key])]
        if named:
            item.hidden[path] = Hidden("random_suffixes", " ".join(named), "output file")
            holder[key] = _OUTPUT_FILE.sub(_without_chance, holder[key])


def _without_chance(name: re.Match[str]) -> str:
    return _LATER_SESSION.sub("<later>", _SUFFIX.sub("<random>", name[0]))


@rule(marker=r"\.0[,}\]]")
def whole_numbers(item: Item) -> None:
    """JSON has one type of number: `1` and `1.0` are the same value for every client.

    A number that became text, or another number, is a difference.
    """
    for holder, key, path in leaves(item.value):
        value = holder[key]
        if isinstance(value, float) and value.is_integer():
            item.hidden[path] = Hidden("whole_numbers", value)
            holder[key] = int(value)


EVERYWHERE: Final = (random_suffixes, whole_numbers)
"""The rules of every channel."""


@rule(marker="<session_context>", across=True)
def own_environment(item: Item) -> None:
    """Each product words the text about the environment, which begins a conversation, itself.

    The tag at its beginning identifies it; recordings and resumed sessions need this tag. A wrong
    date or folder in it is hidden across products; within one product the text is compared.
    """
    for holder, path in dicts(item.value):
        text = holder.get("text")
        if isinstance(text, str) and text.startswith("<session_context>"):
            item.hide("own_environment", holder, "text", join(path, "text"), "<environment>")


@rule(marker="</(?:objective|question)>", across=True)
def own_tasks(item: Item) -> None:
    """Each product words the task of a built-in agent itself; the request of the user, between tags
    at the end, stays compared. Within one product the whole text is compared.
    """
    if item.value.get("thread", MAIN) == MAIN:
        return
    for holder, path in dicts(item.value):
        text = holder.get("text")
        task = _TASK.fullmatch(text) if isinstance(text, str) else None
        if task is not None:
            item.hide("own_tasks", holder, "text", join(path, "text"), f"<own words>{task[1]}")

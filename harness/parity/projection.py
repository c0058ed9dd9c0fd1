"""Projection: what two runs may differ in without being different, as named rules.

A rule is one function over one item; its docstring says why it may hide what it hides. It never
deletes: it puts a placeholder where it hid a value, so that a value which is there on one side only
still shows. Hidden values are kept aside; ids are compared after alignment *up to renaming* (the
same id on one side must stand for the same id on the other), and a rule counts as fired where the
values it hid were in fact different.

Rules see a private copy of the item, parsed from text in which the run's own paths are replaced
already, and change it in place.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from harness.canonical import canonical
from harness.parity.channels import Channel
from harness.parity.divergence import ChannelName
from harness.replay.observation import Observation
from services.ids import CountingIds
from services.wire import JsonObject

__all__ = ["RULES", "Hidden", "Item", "Rule", "project", "rules_between"]


@dataclass(frozen=True, slots=True)
class Hidden:
    """A value that a rule took out of sight. `scope` names an id space; `None` is for non-ids."""

    rule: str
    value: Any
    scope: str | None = None


@dataclass(slots=True)
class Item:
    """A projected item: what is compared, what was hidden (by path), what sort of item it is."""

    value: Any
    label: str
    hidden: dict[str, Hidden] = field(default_factory=dict)
    digest: bytes = b""

    def hide(self, rule: str, holder: Any, key: Any, path: str, shown: str) -> None:
        """Replace `holder[key]`, which stands at `path`, by the placeholder `shown`."""
        self.hidden[path] = Hidden(rule, holder[key])
        holder[key] = shown

    def rename(self, rule: str, holder: Any, key: str, path: str, scope: str) -> None:
        """Replace an id by a placeholder; equal ids of one scope must stay equal across sides."""
        self.hidden[path] = Hidden(rule, holder[key], scope)
        holder[key] = f"<{scope}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A named licence to differ."""

    name: str
    reason: str
    channels: frozenset[ChannelName]
    apply: Callable[[Item], None]
    marker: re.Pattern[str]
    """What an item's JSON must hold for the rule to be of concern; saves looking."""
    across: bool = False
    """Only between engines that have words of their own each."""


_RULES: list[Rule] = []


def rule(
    *channels: ChannelName, marker: str = "", across: bool = False
) -> Callable[[Callable[[Item], None]], Callable[[Item], None]]:
    """Make a rule of a function: its name and docstring are the rule's name and reason."""

    def register(function: Callable[[Item], None]) -> Callable[[Item], None]:
        reason = " ".join((function.__doc__ or "").split())
        _RULES.append(
            Rule(
                name=function.__name__,
                reason=reason,
                channels=frozenset(channels),
                apply=function,
                marker=re.compile(marker),
                across=across,
            )
        )
        return function

    return register


_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ISO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_SUFFIX = re.compile(r"(?<=_)[0-9a-z]{1,13}(?=\.txt\b)")
_FIRST_SESSION = CountingIds().uuid("session")
_LATER_SESSION = re.compile(rf"(?<=/session-)(?!{_FIRST_SESSION}){_UUID.pattern}(?=/)")
_LATER_RECORDING = re.compile(
    rf"(?<=/session-\d{{4}}-\d\d-\d\dT\d\d-\d\d-)(?!{_FIRST_SESSION[:8]})[0-9a-f]{{8}}(?=\.json)"
)
_OUTPUT_FILE = re.compile(r"tool-outputs/[^\s\"]+?_[0-9a-z]{1,13}\.txt\b")


@rule(ChannelName.EVENTS)
def event_ids(item: Item) -> None:
    """Event ids say nothing but which event it is; a dropped event would change all that follow."""
    if isinstance(item.value.get("id"), str):
        item.rename("event_ids", item.value, "id", "id", "event")


@rule(ChannelName.EVENTS)
def stream_ids(item: Item) -> None:
    """A stream's id is opaque to clients: which events share one matters, not how it reads."""
    if isinstance(item.value.get("streamId"), str):
        item.rename("stream_ids", item.value, "streamId", "streamId", "stream")


@rule(ChannelName.EVENTS, ChannelName.RECORDING)
def timestamps(item: Item) -> None:
    """When something happened is the clock's business; waits that were asked for are in `retries`.

    Only values in the wire's time format are hidden, and only under the keys that hold times.
    """
    for holder, path in _dicts(item.value):
        for key in ("timestamp", "startTime", "lastUpdated"):
            value = holder.get(key)
            if isinstance(value, str) and _ISO_TIME.fullmatch(value):
                item.hide("timestamps", holder, key, _join(path, key), "<time>")


@rule(ChannelName.EVENTS, marker='"stack"')
def error_stacks(item: Item) -> None:
    """A stack trace names the runtime's own source lines; message and code stay compared."""
    meta = item.value.get("_meta")
    if isinstance(meta, dict) and isinstance(meta.get("stack"), str):
        item.hide("error_stacks", meta, "stack", "_meta.stack", "<stack>")


@rule(
    ChannelName.EVENTS,
    ChannelName.TRANSCRIPT,
    ChannelName.REQUESTS,
    ChannelName.RECORDING,
    ChannelName.TOOL_STATES,
)
def call_ids(item: Item) -> None:
    """A call's id ties the answer to the request: which belong together matters, not the text."""
    for key in ("requestId", "call"):
        if isinstance(item.value.get(key), str):
            item.rename("call_ids", item.value, key, key, "call")
    for holder, path in _dicts(item.value):
        for key in ("functionCall", "functionResponse"):
            call = holder.get(key)
            if isinstance(call, dict) and isinstance(call.get("id"), str):
                item.rename("call_ids", call, "id", _join(path, f"{key}.id"), "call")
        for number, call in enumerate(_list(holder.get("toolCalls"))):
            if isinstance(call, dict) and isinstance(call.get("id"), str):
                where = _join(path, f"toolCalls[{number}].id")
                item.rename("call_ids", call, "id", where, "call")


@rule(ChannelName.RECORDING, marker="-")
def recorded_ids(item: Item) -> None:
    """A recorded message's id is random in the product; a rewind must still name the right one.

    Only UUIDs are hidden, and what is derived from one (`…_response`): ids that mean something
    (`environment-context`'s hash) stay compared.
    """
    for holder, path in _dicts(item.value):
        for key in ("id", "$rewindTo"):
            value = holder.get(key)
            if isinstance(value, str) and _UUID.fullmatch(value.removesuffix("_response")):
                scope = "response" if value.endswith("_response") else "message"
                item.rename("recorded_ids", holder, key, _join(path, key), scope)


@rule(ChannelName.RECORDING, marker="sessionId|session-")
def later_sessions(item: Item) -> None:
    """A session that is not the run's first has a random id: only which recordings share it counts.

    A fallback begins one silently. The first session's id is given, and stays compared.
    """
    for number, path in enumerate(_list(item.value.get("files"))):
        if isinstance(path, str) and _LATER_RECORDING.search(path):
            shown = _LATER_RECORDING.sub("<later>", path)
            item.hide("later_sessions", item.value["files"], number, f"files[{number}]", shown)
    for holder, path in _dicts(item.value):
        value = holder.get("sessionId")
        if isinstance(value, str) and value != _FIRST_SESSION and _UUID.fullmatch(value):
            item.rename("later_sessions", holder, "sessionId", _join(path, "sessionId"), "session")


@rule(*ChannelName, marker="tool-outputs/")
def random_suffixes(item: Item) -> None:
    """Files of long tool outputs end in a random suffix; the rest of the name says which it is.

    After a silent fallback the session has another id, a random one, and so has their folder.
    """
    for holder, key, path in _strings(item.value):
        if _OUTPUT_FILE.search(holder[key]):
            shown = _OUTPUT_FILE.sub(_without_chance, holder[key])
            item.hide("random_suffixes", holder, key, path, shown)


def _without_chance(name: re.Match[str]) -> str:
    return _LATER_SESSION.sub("<later>", _SUFFIX.sub("<random>", name[0]))


@rule(*ChannelName, marker=r"\.0[,}\]]")
def whole_numbers(item: Item) -> None:
    """JSON has one kind of number: `1` and `1.0` are the same value to every reader of the wire."""
    for holder, key, path in _leaves(item.value):
        value = holder[key]
        if isinstance(value, float) and value.is_integer():
            item.hidden[path] = Hidden("whole_numbers", value)
            holder[key] = int(value)


@rule(ChannelName.REQUESTS, across=True)
def own_instructions(item: Item) -> None:
    """System instructions and tool descriptions are each product's own words; ours are not theirs.

    That there is one is compared, and the names of the declared tools are; between engines with the
    same words the texts are, too.
    """
    for key in ("systemInstruction", "toolsDigest"):
        if isinstance(item.value.get(key), str):
            item.hide("own_instructions", item.value, key, key, "<own words>")


@rule(
    ChannelName.REQUESTS,
    ChannelName.TRANSCRIPT,
    ChannelName.RECORDING,
    marker="<session_context>",
    across=True,
)
def own_environment(item: Item) -> None:
    """The text about the environment, which opens a conversation, is each product's own words.

    It is known by the tag that it begins with, which recordings and resuming rely on.
    """
    for holder, path in _dicts(item.value):
        text = holder.get("text")
        if isinstance(text, str) and text.startswith("<session_context>"):
            item.hide("own_environment", holder, "text", _join(path, "text"), "<environment>")


RULES: Final[tuple[Rule, ...]] = tuple(_RULES)
"""Every rule, in the order of application."""


def rules_between(control: Observation, candidate: Observation) -> tuple[Rule, ...]:
    """The rules for comparing two runs: some apply only between engines with words of their own."""
    if control.words != candidate.words:
        return RULES
    return tuple(rule for rule in RULES if not rule.across)


def project(channel: Channel, seen: Observation, rules: Sequence[Rule] = RULES) -> list[Item]:
    """The channel's items as they are compared: paths replaced, rules applied, digested."""
    chosen = [rule for rule in rules if channel.name in rule.channels]
    projected: list[Item] = []
    for raw in channel.items(seen):
        text = seen.paths.mask_json(canonical(raw))
        value = json.loads(text)
        item = Item(value, channel.label(value))
        for each in chosen:
            if each.marker.search(text):
                each.apply(item)
        item.digest = hashlib.sha256(canonical(item.value).encode()).digest()
        projected.append(item)
    return projected


_OPENED = (
    "line",
    "$set",
    "messages",
    "content",
    "parts",
    "newContents",
    "thoughts",
    "toolCalls",
    "result",
)
"""Keys below which our own records nest; what a tool or a user wrote is never searched."""


def _dicts(value: Any, path: str = "") -> Iterator[tuple[JsonObject, str]]:
    """The records in an item, outermost first, with their paths."""
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from _dicts(item, f"{path}[{number}]")
    elif isinstance(value, dict):
        yield value, path
        for key in _OPENED:
            if key in value:
                yield from _dicts(value[key], _join(path, key))


def _leaves(value: Any, path: str = "") -> Iterator[tuple[Any, Any, str]]:
    """Every scalar with its holder and key; a leaf may be replaced while iterating."""
    pairs: list[tuple[Any, Any, str]] = []
    if isinstance(value, dict):
        pairs = [(key, item, _join(path, key)) for key, item in value.items()]
    elif isinstance(value, list):
        pairs = [(number, item, f"{path}[{number}]") for number, item in enumerate(value)]
    for key, item, where in pairs:
        if isinstance(item, (dict, list)):
            yield from _leaves(item, where)
        else:
            yield value, key, where


def _strings(value: Any) -> Iterator[tuple[Any, Any, str]]:
    for holder, key, path in _leaves(value):
        if isinstance(holder[key], str):
            yield holder, key, path


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key

"""One side of two timelines: its items, each as a line or, where it differs, as its fields."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from harness.canonical import canonical, printable
from harness.parity.channel_diff import Aligned
from harness.parity.channels import CHANNELS
from harness.parity.divergence import ChannelName
from harness.replay.observation import Observation
from harness.timeline.fields import bounded_fields, request_fields
from harness.timeline.model import MomentKind
from harness.timeline.words import call_line, event_kind, event_line, item_line, request_line
from services.redaction import redacted_value
from services.redaction.patterns import suspicious
from services.wire import Content, Json, JsonObject

__all__ = ["Side"]

_KINDS: Final = {
    ChannelName.REQUESTS: MomentKind.REQUEST,
    ChannelName.PROVIDER: MomentKind.PROVIDER,
    ChannelName.RETRIES: MomentKind.RETRY,
    ChannelName.TOOL_STATES: MomentKind.TOOL,
    ChannelName.WORKSPACE: MomentKind.WORKSPACE,
    ChannelName.TRANSCRIPT: MomentKind.MEMORY,
    ChannelName.RECORDING: MomentKind.RECORDING,
    ChannelName.CHILDREN: MomentKind.CHILD,
    ChannelName.EVENTS: MomentKind.EVENT,
    ChannelName.COST: MomentKind.COST,
}
_SHOWN: Final = 240


class Side:
    """One run's items by channel. Lines and fields are made of those that are asked for."""

    def __init__(
        self,
        seen: Observation,
        aligned: Mapping[ChannelName, Aligned],
        which: int,
        *,
        clean: bool = False,
    ) -> None:
        """Take a run; `which` side of `aligned` it is, 0 the control.

        `clean` takes secrets out of everything before anything of it is cut, when half of one could
        no longer be told for what it is. That costs more than all the rest, so it is done only
        where `suspects` says so.
        """
        self._seen = seen
        self._clean = clean
        self._cleaned: dict[ChannelName, list[Any]] = {}
        self._looked_at: list[str] = []
        self._aligned = {
            name: (found.control, found.candidate)[which] for name, found in aligned.items()
        }
        self._raw: dict[ChannelName, Sequence[Any]] = {
            channel.name: channel.items(seen)
            for channel in CHANNELS
            if channel.name is not ChannelName.PROVIDER
        }
        self.lengths = {name: len(items) for name, items in self._raw.items()}

    def kind(self, channel: ChannelName, index: int | None) -> MomentKind:
        """What sort of thing an item is."""
        assert index is not None
        if channel is ChannelName.EVENTS:
            return event_kind(self._seen.events[index])
        if channel is ChannelName.RETRIES and index >= len(self._seen.retries):
            return MomentKind.SIDE
        return _KINDS[channel]

    def suspects(self, lines: Sequence[str]) -> bool:
        """Whether a secret may stand in what was made of the run: `lines`, or what differs.

        Pieces of an answer are read as one text.
        """
        pieces: list[str] = []
        for event in self._seen.events:
            for part in event.get("content") or () if event.get("type") == "message" else ():
                kind = part.get("type") if isinstance(part, dict) else None
                piece = part.get(kind) if isinstance(kind, str) else None
                pieces.append(piece if isinstance(piece, str) else "")
        return suspicious("\n".join([*lines, "".join(pieces), *self._looked_at]))

    def line(self, channel: ChannelName, index: int | None) -> str:
        """An item on one line; paths are replaced before it is cut, or half of one would show."""
        assert index is not None
        if channel is ChannelName.REQUESTS:
            count, last = self._lasts[index]
            masked = None if last is None else self._masked(last)
            masked = redacted_value(masked) if self._clean else masked
            return request_line(self._raw[channel][index], count, masked)
        if channel is ChannelName.EVENTS:
            return event_line(self._compared(channel, index))
        if channel is ChannelName.TOOL_STATES:
            call = self._raw[channel][index]
            name = self._names.get(call["call"], call["call"])
            return call_line(self._seen.paths.mask_text(name), call["states"])
        return item_line(self.kind(channel, index), self._compared(channel, index))

    def at_ms(self, channel: ChannelName, index: int) -> int | None:
        """When an item happened, where the run took that down."""
        return self._seen.times.get((channel.value, index))

    def fields(
        self,
        channel: ChannelName,
        index: int | None,
        other: Side,
        other_index: int | None,
        paths: Sequence[str],
        room: int,
    ) -> tuple[JsonObject | None, JsonObject | None]:
        """This side's item and the other's as they are compared, texts cut to `room`."""
        if room == 0:
            return None, None
        here = None if index is None else self._fields(channel, index, paths)
        there = None if other_index is None else other._fields(channel, other_index, paths)
        self._looked_at.extend(_texts([here, there]))
        mine, theirs = bounded_fields(here, there, room)
        return (
            mine if isinstance(mine, dict) else None,
            theirs if isinstance(theirs, dict) else None,
        )

    def _fields(self, channel: ChannelName, index: int, paths: Sequence[str]) -> Json:
        value = self._compared(channel, index)
        if channel is ChannelName.REQUESTS:
            into = any(path.startswith("contents[") for path in paths)
            contents = self._contents(index) if into else None
            return request_fields(value, contents, self._lasts[index][0], paths)
        return value

    def _compared(self, channel: ChannelName, index: int) -> Any:
        if self._clean:
            if channel not in self._cleaned:
                every = [self._found(channel, number) for number in range(self.lengths[channel])]
                self._cleaned[channel] = redacted_value(every)
            return self._cleaned[channel][index]
        return self._found(channel, index)

    def _found(self, channel: ChannelName, index: int) -> Any:
        if channel in self._aligned:
            return self._aligned[channel][index].value
        return self._masked(self._raw[channel][index])

    def _masked(self, value: Any) -> Any:
        return json.loads(self._seen.paths.mask_json(canonical(value)))

    def _contents(self, index: int) -> list[Content]:
        """A request's contents as they are compared, whole; differing requests are few."""
        lineage = self._seen.requests[index].lineage
        whole: list[Content] = []
        for number in range(index + 1):
            if self._seen.requests[number].lineage == lineage:
                request = self._compared(ChannelName.REQUESTS, number)
                whole[request["sameAsPrevious"] :] = request["newContents"]
        return whole

    @cached_property
    def _lasts(self) -> list[tuple[int, Any]]:
        """How many contents each request has, and the last of them."""
        whole: dict[tuple[str, str], list[Content]] = {}
        found: list[tuple[int, Any]] = []
        for request in self._seen.requests:
            contents = whole.setdefault(request.lineage, [])
            contents[request.same_as_previous :] = request.new_contents
            found.append((len(contents), contents[-1] if contents else None))
        return found

    @cached_property
    def _names(self) -> dict[str, str]:
        names = {
            str(event.get("requestId")): str(event.get("name"))
            for event in self._seen.events
            if event.get("type") == "tool_request"
        }
        for child in self._seen.children:
            for activity in child.activities:
                told = activity.get("data")
                if activity.get("type") == "TOOL_CALL_START" and isinstance(told, dict):
                    names[str(told.get("callId"))] = f"{told.get('name')} (thread {child.thread})"
        return names

    @staticmethod
    def told(text: str) -> str:
        """`text` on one line, cut."""
        text = printable(text)
        return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _texts(value: Json) -> Iterator[str]:
    """Every text in a JSON value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)

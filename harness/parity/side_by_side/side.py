"""One side of two timelines: its items as lines, and as fields where they differ."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from harness.canonical import canonical
from harness.parity.channel_diff import Aligned
from harness.parity.channels import CHANNELS, channel_of
from harness.parity.divergence import ChannelName
from harness.replay.observation import Observation
from harness.timeline.fields import bounded_fields
from harness.timeline.model import MomentKind
from services.redaction import redacted_value
from services.redaction.patterns import suspicious
from services.wire import Json, JsonObject

__all__ = ["Side"]

T = TypeVar("T")


class Side:
    """One run's items by channel; lines and fields are made on demand."""

    def __init__(
        self,
        seen: Observation,
        aligned: Mapping[ChannelName, Aligned],
        which: int,
        *,
        clean: bool = False,
    ) -> None:
        """Take a run, which is side `which` of `aligned`: 0 is the control.

        `clean` masks secrets before texts are cut, since half a secret is not recognised. That is
        slow, so only a side that `suspects` a secret is made again with it.
        """
        self._seen = seen
        self._clean = clean
        self._cleaned: dict[ChannelName, list[Any]] = {}
        self._looked_at: list[str] = []
        self._made: dict[Callable[[Observation], Any], Any] = {}
        self._aligned = {
            name: (found.control, found.candidate)[which] for name, found in aligned.items()
        }
        self._raw: dict[ChannelName, Sequence[Any]] = {
            channel.name: channel.items_of(seen)
            for channel in CHANNELS
            if channel.remarks_on is None
        }
        self.lengths = {name: len(items) for name, items in self._raw.items()}

    def kind(self, channel: ChannelName, index: int) -> MomentKind:
        """The kind of an item on the timeline."""
        return channel_of(channel).kind_of(self._raw[channel][index])

    def suspects(self, lines: Sequence[str]) -> bool:
        """Whether `lines`, the answers or the differing items may contain a secret.

        The pieces of the answers are read as one text.
        """
        pieces: list[str] = []
        for event in self._seen.events:
            for part in event.get("content") or () if event.get("type") == "message" else ():
                kind = part.get("type") if isinstance(part, dict) else None
                piece = part.get(kind) if isinstance(kind, str) else None
                pieces.append(piece if isinstance(piece, str) else "")
        return suspicious("\n".join([*lines, "".join(pieces), *self._looked_at]))

    def line(self, channel: ChannelName, index: int) -> str:
        """An item on one line."""
        return channel_of(channel).line(self, index)

    def at_ms(self, channel: ChannelName, index: int) -> int | None:
        """When an item happened, if the run recorded that."""
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
        """This side's item and the other's, as compared, texts cut to `room`."""
        if room == 0:
            return None, None
        here = None if index is None else channel_of(channel).fields(self, index, paths)
        there = None
        if other_index is not None:
            there = channel_of(channel).fields(other, other_index, paths)
        self._looked_at.extend(_texts([here, there]))
        mine, theirs = bounded_fields(here, there, room)
        return (
            mine if isinstance(mine, dict) else None,
            theirs if isinstance(theirs, dict) else None,
        )

    def picture(self, channel: ChannelName, index: int) -> str | None:
        """An item as SVG; `None` where it has no picture, or where a secret may be in it."""
        if self._clean:
            return None
        drawn = channel_of(channel).picture(self._seen, index)
        return None if drawn is None else str(self._masked(drawn))

    def raw(self, channel: ChannelName, index: int) -> Any:
        """See `SideView.raw`."""
        return self._raw[channel][index]

    def compared(self, channel: ChannelName, index: int) -> Any:
        """See `SideView.compared`."""
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

    def masked(self, value: Any) -> Any:
        """See `SideView.masked`."""
        value = self._masked(value)
        return redacted_value(value) if self._clean else value

    def once(self, make: Callable[[Observation], T]) -> T:
        """See `SideView.once`."""
        if make not in self._made:
            self._made[make] = make(self._seen)
        made: T = self._made[make]
        return made

    def _masked(self, value: Any) -> Any:
        return json.loads(self._seen.paths.mask_json(canonical(value)))


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

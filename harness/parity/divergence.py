"""`Divergence`: one difference between two runs, as reports and waivers know it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from harness.canonical import sha256_hex
from harness.codec import Coded
from services.wire import Json, JsonObject

__all__ = ["ABSENT", "ChannelName", "Divergence", "Kind"]

ABSENT = "<absent>"
"""Stands for the value of a side that has none at the place."""


class ChannelName(StrEnum):
    """The channels in causal order."""

    REQUESTS = "requests"
    PROVIDER = "provider"
    RETRIES = "retries"
    TOOL_STATES = "tool_states"
    PROGRESS = "progress"
    CHILDREN = "children"
    WORKSPACE = "workspace"
    CUSTOM = "custom"
    TRANSCRIPT = "transcript"
    RECORDING = "recording"
    EVENTS = "events"
    SCREEN = "screen"
    WIRE = "wire"
    COST = "cost"


class Kind(StrEnum):
    """In which way the two sides differ."""

    CHANGED = "changed"
    """Both sides have the item, with different values inside."""
    MISSING = "missing"
    """Only the control has the item."""
    EXTRA = "extra"
    """Only the candidate has the item."""
    ORDER = "order"
    """Both sides have the item, at different places among its neighbours."""
    NONDETERMINISTIC = "nondeterministic"
    """The candidate differs from itself from run to run."""
    UNINHERITED = "uninherited"
    """Both sides have the finding, and the published core, which they replace, has not."""
    REPLAY = "replay"
    """The replay went differently: its notes, unused steps, how the run ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence(Coded):
    """One difference. Indices count a channel's items from 0 on each side.

    The values are those at `path`, or `ABSENT`; long ones are cut (`diff.bounded_pair`).
    """

    cassette: str
    channel: ChannelName
    kind: Kind
    label: str = ""
    """The sort of item: `usage`, `message(agent)`."""
    control_index: int | None = None
    candidate_index: int | None = None
    path: str = ""
    """The place in the item: `content[0].text`; empty for the whole item."""
    control: Json = ABSENT
    candidate: Json = ABSENT

    @property
    def fingerprint(self) -> str:
        """12 hex digits of channel, kind, label and place, whatever the values and positions."""
        place = re.sub(r"\[\d+\]", "[]", self.path)
        text = f"{self.channel}|{self.kind}|{self.label}|{place}"
        return sha256_hex(text)[:12]

    @property
    def sort(self) -> str:
        """The label without its thread: `retry` for `retry, thread 0/1`."""
        return self.label.partition(", thread ")[0]

    @property
    def place(self) -> str:
        """The place for reports: `events[5] usage: inputTokens`."""
        index = self.control_index if self.control_index is not None else self.candidate_index
        where = self.channel.value if index is None else f"{self.channel.value}[{index}]"
        where = f"{where} {self.label}".rstrip()
        return f"{where}: {self.path}" if self.path else where

    def to_json(self) -> JsonObject:
        """As written to journals and reports."""
        # By name: `super()` of a class with slots is that of the class without.
        return {**Coded.to_json(self), "fingerprint": self.fingerprint}

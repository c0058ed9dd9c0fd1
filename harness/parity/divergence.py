"""`Divergence`: one difference between two runs, the value that reports and waivers share."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from harness.canonical import sha256_hex
from harness.codec import Coded
from services.wire import Json, JsonObject

__all__ = ["ABSENT", "ChannelName", "Divergence", "Kind"]

ABSENT = "<absent>"
"""Stands for the value on the side that has nothing at the place."""


class ChannelName(StrEnum):
    """What is compared, one channel at a time."""

    REQUESTS = "requests"
    PROVIDER = "provider"
    RETRIES = "retries"
    TOOL_STATES = "tool_states"
    CHILDREN = "children"
    WORKSPACE = "workspace"
    TRANSCRIPT = "transcript"
    RECORDING = "recording"
    EVENTS = "events"
    COST = "cost"


class Kind(StrEnum):
    """In which way the two sides differ."""

    CHANGED = "changed"
    """The same item on both sides, with another value somewhere inside."""
    MISSING = "missing"
    """Only the control has the item."""
    EXTRA = "extra"
    """Only the candidate has the item."""
    ORDER = "order"
    """Both have the item, at another place among its neighbours."""
    NONDETERMINISTIC = "nondeterministic"
    """The candidate differs from itself from run to run."""
    UNINHERITED = "uninherited"
    """Both sides have it, and the published core, which they replace, has not."""
    REPLAY = "replay"
    """The replay itself went differently: notes, left-over steps, how the run ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence(Coded):
    """One difference. Indices count a channel's items from 0 on each side.

    The values are what stands at `path` on each side, or `ABSENT`; long ones are cut around the
    first differing character (see `harness.parity.diff.bounded_pair`).
    """

    cassette: str
    channel: ChannelName
    kind: Kind
    label: str = ""
    """What sort of item it is, without its values: `usage`, `message(agent)`."""
    control_index: int | None = None
    candidate_index: int | None = None
    path: str = ""
    """Where in the item: `content[0].text`; empty for the item as a whole."""
    control: Json = ABSENT
    candidate: Json = ABSENT

    @property
    def fingerprint(self) -> str:
        """12 hex digits that stay when names, values and positions change, but not the place."""
        place = re.sub(r"\[\d+\]", "[]", self.path)
        text = f"{self.channel}|{self.kind}|{self.label}|{place}"
        return sha256_hex(text)[:12]

    @property
    def sort(self) -> str:
        """The label without the agent that it is about: `retry` for `retry, thread 0/1`."""
        return self.label.partition(", thread ")[0]

    @property
    def place(self) -> str:
        """Where, in words: `events[5] usage: inputTokens`."""
        index = self.control_index if self.control_index is not None else self.candidate_index
        where = self.channel.value if index is None else f"{self.channel.value}[{index}]"
        where = f"{where} {self.label}".rstrip()
        return f"{where}: {self.path}" if self.path else where

    def to_json(self) -> JsonObject:
        """As written to journals and reports."""
        # By name: `super()` of a class with slots is that of the class without.
        return {**Coded.to_json(self), "fingerprint": self.fingerprint}

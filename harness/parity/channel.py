"""`Channel`: one thing to compare of two runs, with everything that depends on the channel.

Each channel is one subclass in one module, `harness/parity/channels/<name>.py`, with an instance
called `CHANNEL`. `ChannelName` lists them in causal order. A new channel needs its name, its words
and its items; the rest has defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, ClassVar, Protocol, TypeVar

from harness.parity.align import Pair
from harness.parity.diff import Difference, differences
from harness.parity.divergence import ChannelName, Divergence
from harness.parity.evidence import Evidence
from harness.parity.guess import Guess, unknown
from harness.parity.items import Item, Rule
from harness.parity.rules import EVERYWHERE
from harness.replay.observation import Observation
from harness.timeline.model import MomentKind
from harness.timeline.words import one_line, ordinal, short_json
from services.wire import Json, JsonObject

__all__ = ["Channel", "Differ", "SideView", "When", "of_thread", "on_thread"]

T = TypeVar("T")


class When(Enum):
    """When a run records a channel's items."""

    AS_IT_HAPPENS = "as it happens"
    """Requests, retries, calls: the earliest difference explains the later ones."""
    AS_EMITTED = "as emitted"
    """The events of the client."""
    AFTERWARDS = "afterwards"
    """After the run."""


class Differ(Protocol):
    """Compares pairs of items. It receives every item of both sides, in order."""

    def pair(self, control: Item, candidate: Item) -> tuple[Sequence[Difference], bool]:
        """The differences, and whether the hidden values are at the same places on both sides."""

    def alone(self, side: int, item: Item) -> None:
        """Receive an item that the other side does not have."""


class _ItemDiffer:
    """Compares items that do not depend on each other."""

    def pair(self, control: Item, candidate: Item) -> tuple[Sequence[Difference], bool]:
        if control.digest == candidate.digest:
            return (), True
        return differences(control.value, candidate.value), False

    def alone(self, side: int, item: Item) -> None:
        return


class SideView(Protocol):
    """One side of a timeline, as a channel's `line` and `fields` read it."""

    def raw(self, channel: ChannelName, index: int) -> Any:
        """An item as the run gave it, real paths included."""

    def compared(self, channel: ChannelName, index: int) -> Any:
        """An item as it is compared: paths replaced and, where needed, secrets masked."""

    def masked(self, value: Any) -> Any:
        """Any value of the run with paths replaced and, where needed, secrets masked."""

    def once(self, make: Callable[[Observation], T]) -> T:
        """The result of `make` for the run; `make` is called once for each side."""


class Channel:
    """One thing to compare. Instances have no state."""

    name: ClassVar[ChannelName]
    about: ClassVar[str]
    """What the channel holds; completes `The first difference is in …`."""
    did: ClassVar[str]
    """The verb for a side that has an item: `sent`."""
    item: ClassVar[str]
    """The noun for one item: `request`."""
    cannot: ClassVar[str]
    """A sentence: why only one side can be right where an item differs."""

    rules: ClassVar[tuple[Rule, ...]] = EVERYWHERE
    """The projection rules, in the order in which they are applied."""
    when: ClassVar[When] = When.AFTERWARDS
    kept: ClassVar[bool] = False
    """Whether the items are what the run leaves behind."""
    timing: ClassVar[bool] = False
    """Whether the order or the duration of independent work shows in the items."""
    remarks_on: ClassVar[ChannelName | None] = None
    """The channel whose items this channel's items comment on. Its divergences have the indices of
    that channel; its items are neither aligned nor placed on a timeline by themselves."""
    kind: ClassVar[MomentKind] = MomentKind.ITEM
    """The kind of its items on a timeline."""

    def items(self, seen: Observation) -> Sequence[Any]:
        """The items, which are projected, aligned and compared where `brief` differs."""
        raise NotImplementedError

    def items_of(self, seen: Observation) -> Sequence[Any]:
        """The items of a run that shows this channel; of another run none."""
        return self.items(seen) if seen.shows(self.name.value) else ()

    def brief(self, seen: Observation) -> Sequence[Any]:
        """A cheaper form of the items: equal briefs mean equal items."""
        return self.items(seen)

    def label(self, item: JsonObject) -> str:
        """The sort of an item, without its values. Only items of one label are paired."""
        return of_thread(self.item, item)

    def differ(self, control: Observation, candidate: Observation) -> Differ:
        """The differ for the pairs of one comparison."""
        return _ItemDiffer()

    def implied(
        self, pairs: Sequence[Pair], control: Sequence[Item], candidate: Sequence[Item]
    ) -> Callable[[Item], bool]:
        """A test for items that another divergence of the channel implies: not reported."""
        return lambda item: False

    def kind_of(self, item: JsonObject) -> MomentKind:
        """The kind of this item on a timeline."""
        return self.kind

    def line(self, side: SideView, index: int) -> str:
        """An item on one line of a timeline."""
        return one_line(self.text(side.compared(self.name, index)))

    def text(self, item: Any) -> str:
        """An item as it is compared, in a few words; completes `<runtime> …`."""
        return f"had {short_json(item)}"

    def picture(self, seen: Observation, index: int) -> str | None:
        """Return an item as SVG; `None`: it has no picture."""
        return None

    def fields(self, side: SideView, index: int, paths: Sequence[str]) -> Json:
        """A differing item as a timeline keeps it; `paths` lead to the differences."""
        return side.compared(self.name, index)

    def place(self, found: Divergence) -> str:
        """An item in words: `the second request`."""
        index = found.control_index if found.control_index is not None else found.candidate_index
        item = self.item_of(found)
        return f"a {item}" if index is None else f"the {ordinal(index)} {item}"

    def item_of(self, found: Divergence) -> str:
        """The noun for the item of a divergence."""
        return self.item

    def meaning(self, path: str) -> str:
        """The meaning of a path, in parentheses; usually empty."""
        return ""

    def sentences(self, found: Divergence) -> Iterator[str]:
        """Sentences that replace the usual comparison of the two sides."""
        yield from ()

    def seam(self, evidence: Evidence) -> Guess:
        """The seam of a first cause in this channel."""
        return unknown(f"{self.name.value}-alone")


def on_thread(threads: Mapping[int, str], number: int) -> JsonObject:
    """The key `thread` of an item; empty for the main agent's."""
    return {"thread": threads[number]} if number in threads else {}


def of_thread(label: str, item: JsonObject) -> str:
    """`label`, with the item's thread if it has one."""
    return f"{label}, thread {item['thread']}" if "thread" in item else label

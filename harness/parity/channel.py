"""`Channel`: one thing to compare of two runs, and all that depends on which one it is.

Each channel is one subclass in one module, `harness/parity/channels/<name>.py`, with an instance
called `CHANNEL`. `ChannelName` lists them in causal order. What a subclass leaves alone has a
default, so that a new channel needs its name, its words and its items, and nothing else.
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
    """When the run takes a channel's items down."""

    AS_IT_HAPPENS = "as it happens"
    """Requests, retries, calls: the earliest of these explains the later ones."""
    AS_EMITTED = "as emitted"
    """The events of the client, between which the things that happen are placed."""
    AFTERWARDS = "afterwards"
    """Only when the run is over."""


class Differ(Protocol):
    """Looks into pairs of items. Sees every item of both sides, in order."""

    def pair(self, control: Item, candidate: Item) -> tuple[Sequence[Difference], bool]:
        """What differs, and whether the values that the rules hid are at the same places."""
        ...

    def alone(self, side: int, item: Item) -> None:
        """Take note of an item that the other side does not have."""
        ...


class _ItemDiffer:
    """Items that do not depend on each other."""

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
        ...

    def compared(self, channel: ChannelName, index: int) -> Any:
        """An item as it is compared: paths replaced and, where needed, secrets masked."""
        ...

    def masked(self, value: Any) -> Any:
        """Any value of the run with paths replaced and, where needed, secrets masked."""
        ...

    def once(self, make: Callable[[Observation], T]) -> T:
        """What `make` returns for the run; called once for each side."""
        ...


class Channel:
    """One thing to compare. Instances have no state."""

    name: ClassVar[ChannelName]
    about: ClassVar[str]
    """What it holds, in plain words; completes `The first difference is in …`."""
    did: ClassVar[str]
    """What a side did that has an item: `asked`."""
    item: ClassVar[str]
    """One item, for counting: `question`."""
    cannot: ClassVar[str]
    """Why both sides cannot be right where an item differs."""
    changed: ClassVar[str] = "{control} and {candidate} differ in {place}"
    """How two versions of one item are reported."""

    rules: ClassVar[tuple[Rule, ...]] = EVERYWHERE
    """The projection rules, in the order of application."""
    when: ClassVar[When] = When.AFTERWARDS
    kept: ClassVar[bool] = False
    """Whether it is what a run leaves behind, rather than something that it does."""
    timing: ClassVar[bool] = False
    """Whether the order of independent things, or the time that they take, shows in it."""
    remarks_on: ClassVar[ChannelName | None] = None
    """The channel whose items this one's items are remarks on. The indices of its divergences are
    that channel's; its items are neither aligned nor placed on a timeline by themselves."""
    kind: ClassVar[MomentKind] = MomentKind.ITEM
    """How a timeline calls its items."""

    def items(self, seen: Observation) -> Sequence[Any]:
        """The items, which are projected, aligned and diffed where `brief` differs."""
        raise NotImplementedError

    def brief(self, seen: Observation) -> Sequence[Any]:
        """Items that settle equal runs cheaply: equal briefs mean equal items."""
        return self.items(seen)

    def label(self, item: JsonObject) -> str:
        """What sort of item it is, without its values.

        Items of one label can be the same item with a change in it, others cannot.
        """
        return of_thread(self.item, item)

    def differ(self, control: Observation, candidate: Observation) -> Differ:
        """What looks into the pairs of one comparison."""
        return _ItemDiffer()

    def implied(
        self, pairs: Sequence[Pair], control: Sequence[Item], candidate: Sequence[Item]
    ) -> Callable[[Item], bool]:
        """Which items are not reported, since another divergence of the channel implies them."""
        return lambda item: False

    def kind_of(self, item: JsonObject) -> MomentKind:
        """How a timeline calls this item."""
        return self.kind

    def line(self, side: SideView, index: int) -> str:
        """An item on one line of a timeline."""
        return one_line(self.text(side.compared(self.name, index)))

    def text(self, item: Any) -> str:
        """An item as it is compared, in a few words; completes `<runtime> …`."""
        return f"had {short_json(item)}"

    def fields(self, side: SideView, index: int, paths: Sequence[str]) -> Json:
        """A differing item as a timeline keeps it; `paths` are those that differ."""
        return side.compared(self.name, index)

    def place(self, found: Divergence) -> str:
        """An item in words: `the second question to the model`."""
        index = found.control_index if found.control_index is not None else found.candidate_index
        item = self.item_of(found)
        return f"a {item}" if index is None else f"the {ordinal(index)} {item}"

    def item_of(self, found: Divergence) -> str:
        """What the item of a divergence is called, for counting."""
        return self.item

    def meaning(self, path: str) -> str:
        """What a path into an item means, in parentheses; mostly nothing."""
        return ""

    def sentences(self, found: Divergence) -> Iterator[str]:
        """An explanation of its own, which replaces the comparison of the two sides."""
        yield from ()

    def seam(self, evidence: Evidence) -> Guess:
        """The seam of a first cause in this channel."""
        return unknown(f"{self.name.value}-alone")


def on_thread(threads: Mapping[int, str], number: int) -> JsonObject:
    """The thread of an item, where it is not the main agent's."""
    return {"thread": threads[number]} if number in threads else {}


def of_thread(label: str, item: JsonObject) -> str:
    """`label`, with the thread where the item names one."""
    return f"{label}, thread {item['thread']}" if "thread" in item else label

"""Fake runs: a few words determine what an engine does under an order.

A case's text names its program (see `PROGRAMS`) and what is wrong with which engine.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Final, cast

from harness.experiment.backend import LoadedCassette
from harness.orders.barrier import Barrier
from harness.orders.places import Place
from harness.replay.observation import Observation
from services.tools.contract import Tool, ToolKind
from tests.harness.samples import run

__all__ = ["run_in_order"]

PROGRAMS: Final = {
    "alone": {"main": ["main answer 0", "main answer 1"]},
    "two": {"a": ["0/0 call"], "b": ["0/1 call"]},
    "three": {"a": ["0/0 call"], "b": ["0/1 call"], "c": ["0/2 call"]},
    "four": {n: [f"0/{n} call"] for n in "0123"},
    "steps": {"a": ["1/0 call", "0/0 call"], "b": ["2/0 call"]},
}
"""Threads with their places, each ready when the one before it is released."""


def run_in_order(cassette: LoadedCassette, runtime: str, barrier: Barrier) -> Observation:
    """The run of `runtime` in the order that `barrier` imposes."""
    seen = run(cassette, runtime)
    text: str = cast("Any", cassette).text
    name = text.partition(";")[0]
    left = {key: [*map(Place.parse, places)] for key, places in PROGRAMS[name].items()}
    if "the second follows the first" in text and barrier.schedule.order.places:
        left["a"] += left.pop("b")
    if f"{runtime} is ready with everything" in text:
        left = {str(place): [place] for places in left.values() for place in places}
    if f"{runtime} goes one by one" in text:
        left = {"all": [place for places in left.values() for place in places]}
    while ready := [places[0] for places in left.values() if places]:
        chosen = barrier.schedule.next(ready)
        _touch(barrier, chosen, text)
        for places in left.values():
            if places[:1] == [chosen]:
                places.pop(0)
    first, last = barrier.schedule.went[0], barrier.schedule.went[-1]
    changed = str(last) == "0/0 call"
    if f"{runtime} mixes results up" in text and changed:
        return replace(seen, transcript=[*seen.transcript, {"role": "user", "parts": []}])
    if "names who was first" in text:
        named = [{"role": "model", "parts": [{"text": f"{first} was first"}]}]
        return replace(seen, transcript=[*seen.transcript, *named])
    if "leaves a step over" in text:
        return replace(seen, unused_steps=[7])
    if "events interleave" in text and changed:
        return replace(seen, events=[*seen.events[:1], *seen.events])
    return seen


def _touch(barrier: Barrier, place: Place, text: str) -> None:
    outside = "two write" in text and place.path == (0, 2)
    kind = ToolKind.EDIT if "same file" in text and not outside else ToolKind.FETCH
    tool = cast("Tool", SimpleNamespace(name="some_tool", kind=kind))
    barrier.touches.tool(tool, {"file_path": "x.txt"}, str(place))

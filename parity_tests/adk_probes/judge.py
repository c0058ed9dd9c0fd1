"""Both runs of a probe, and the differences that count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from textwrap import shorten
from typing import Any, Final

from parity_tests.adk_probes.differences import DIFFERENCES, Records
from parity_tests.adk_probes.ours import run_ours
from parity_tests.adk_probes.probe import Operation, Probe, text
from parity_tests.adk_probes.stock import Ground, run_stock
from parity_tests.adk_probes.watching import nameless
from services.wire import Content, JsonObject

__all__ = ["Outcome", "judged", "judged_anew"]

_MOST: Final = 600
"""Characters of a value in a line about a difference."""
_SAID: Final = 40
"""Characters of a text in a line about an event."""
_PRODUCT: Final = ("model", "contents", "systemInstruction", "tools")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a probe."""

    left: tuple[str, ...]
    """Differences that the closed list does not have, a line each."""
    allowed: frozenset[str]
    """The names of those that it has."""


_OUTCOMES: dict[str, Outcome] = {}


def judged(probe: Probe) -> Outcome:
    """Run `probe` twice and compare; each probe is run once a process."""
    found = _OUTCOMES.get(probe.name)
    if found is None:
        found = _OUTCOMES[probe.name] = judged_anew(probe)
    return found


def judged_anew(probe: Probe) -> Outcome:
    """Run `probe` twice and compare, whatever was found of it before."""
    ours = run_ours(probe)
    histories = _histories(probe, ours.requests)
    stock, answered = run_stock(probe, ground(probe.model), histories)
    records: tuple[Records, Records] = nameless(ours.records()), nameless(stock.records())
    lines: tuple[Sequence[str], Sequence[str]] = (), ()
    if any(isinstance(message, Operation) for message in probe.messages):
        # The stock session was made of a request: it is no model of what is left of the events.
        lines = [_line(event) for event in records[0]["session"]], probe.session or ()
        for each in records:
            each["session"] = []
    records[1]["errors were answers"] = answered
    allowed = {each.name for each in DIFFERENCES if each.remove(probe, *records)}
    del records[1]["errors were answers"]
    left = *_unlike(*records), *_paths("session", *map(list, lines))
    return Outcome(left, frozenset(allowed))


@cache
def ground(model: str) -> Ground:
    """What the product puts into a request to `model` when no plugin takes part."""
    plain = Probe(name="ground", row="", plugins=tuple, script=[text("hi")], model=model)
    (request,) = run_ours(plain).requests
    return Ground(
        instruction=request["systemInstruction"],
        config={key: value for key, value in request.items() if key not in _PRODUCT},
        declarations=request["tools"][0]["functionDeclarations"],
    )


def _line(event: JsonObject) -> str:
    """An event of the session as `Probe.session` has it."""
    said = [part.get("text") or " ".join(part) for part in event.get("content") or ()]
    words = " + ".join(shorten(each, _SAID, placeholder=" …") for each in said)
    state = event.get("actions", {}).get("state_delta")
    end = [event.get("finish_reason"), state and str(state)]
    again = None if event["id is new"] else "(its id is there twice)"
    head = f"{event['invocation']} {event['author']}: {words}"
    return " ".join([head, *filter(None, (*end, again))])


def _histories(probe: Probe, requests: Sequence[JsonObject]) -> list[Sequence[Content]]:
    """For each operation, the history of the request that comes after it."""
    histories: list[Sequence[Content]] = []
    for index, message in enumerate(probe.messages):
        if isinstance(message, Operation):
            words = next(m for m in probe.messages[index + 1 :] if not isinstance(m, Operation))
            after = next(r for r in requests if r["contents"][-1]["parts"][-1] == {"text": words})
            histories.append(_history(after["contents"][:-1]))
    return histories


def _history(contents: Sequence[Content]) -> list[Content]:
    """The contents without the description of the workspace, as ADK's types take them."""
    found = []
    for content in contents:
        parts = [
            {key: value for key, value in part.items() if key != "thoughtSignature"}
            for part in content["parts"]
            if not part.get("text", "").startswith("<session_context>")
        ]
        if parts:
            found.append({**content, "parts": parts})
    return found


def _unlike(ours: Records, stock: Records) -> Iterator[str]:
    for name, mine in ours.items():
        yield from _paths(name, mine, stock[name])


def _paths(path: str, ours: Any, stock: Any) -> Iterator[str]:
    """Where two values of JSON differ, and how."""
    if isinstance(ours, dict) and isinstance(stock, dict):
        for key in [*ours, *(key for key in stock if key not in ours)]:
            yield from _paths(f"{path}.{key}", ours.get(key), stock.get(key))
    elif isinstance(ours, list) and isinstance(stock, list) and len(ours) == len(stock):
        for index, (mine, theirs) in enumerate(zip(ours, stock, strict=True)):
            yield from _paths(f"{path}[{index}]", mine, theirs)
    elif ours != stock:
        mine, theirs = (shorten(repr(each), _MOST, placeholder=" …") for each in (ours, stock))
        yield f"{path}: the runtime has {mine}, stock ADK {theirs}"

"""Projection rules of a project: the values that may differ between any two of its runs.

`parity.toml` names the channel, the place and the reason of each (`runtimes.project.Vary`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from harness.parity.divergence import ChannelName
from harness.parity.items import Hidden, Item, Rule
from runtimes.project import Vary

__all__ = ["rules_of"]

_ANY: Final = "<varies>"
_STEP: Final = re.compile(r"\[(?P<index>\d{0,9})\]|\.?(?P<key>[^.\[\]]+)")
_PARTS: Final = {
    ChannelName.REQUESTS: ("contents", "newContents"),
    ChannelName.CUSTOM: ("", "item"),
}
"""Channel → how a path begins for users, and in an item."""


@lru_cache(maxsize=64)
def rules_of(channel: ChannelName, vary: tuple[Vary, ...]) -> tuple[Rule, ...]:
    """Return the rules of a channel, named by their places, with the project's reasons."""
    return tuple(_rule(channel, each) for each in vary if each.channel == channel.value)


def _rule(channel: ChannelName, vary: Vary) -> Rule:
    name = f"vary {vary.channel} {vary.path}"
    steps = _steps(channel, vary.path)
    wanted = None if vary.text is None else re.compile(vary.text)

    def apply(item: Item) -> None:
        for holder, key, path in _places(item.value, steps, ""):
            value = holder[key]
            if wanted is None and vary.id:
                item.rename(name, holder, key, path, name)
            elif wanted is None:
                item.hide(name, holder, key, path, _ANY)
            elif isinstance(value, str) and (found := wanted.findall(value)):
                scope = name if vary.id else None
                item.hidden[path] = Hidden(name, "\n".join(map(str, found)), scope)
                holder[key] = wanted.sub(_ANY, value)
            if vary.optional:
                del holder[key]

    return Rule(name=name, reason=vary.reason, apply=apply, marker=re.compile(""))


def _steps(channel: ChannelName, path: str) -> tuple[str | None, ...]:
    """Split a path into keys, and `None` for any index."""
    if channel in _PARTS:
        begin, really = _PARTS[channel]
        if path.startswith(begin):
            path = f"{really}.{path.removeprefix(begin)}".replace(".[", "[")
    return tuple(match["key"] for match in _STEP.finditer(path))


def _places(value: Any, steps: tuple[str | None, ...], path: str) -> Iterator[tuple[Any, Any, str]]:
    """Yield the holder, the key and the path of each value that the steps lead to."""
    step, *more = steps
    pairs: list[tuple[Any, str]] = []
    if step is None and isinstance(value, list):
        pairs = [(number, f"{path}[{number}]") for number in range(len(value))]
    elif isinstance(value, dict) and step is not None:
        keys = list(value) if step == "*" else [step] if step in value else []
        pairs = [(key, f"{path}.{key}".removeprefix(".")) for key in keys]
    for key, where in pairs:
        if more:
            yield from _places(value[key], tuple(more), where)
        else:
            yield value, key, where

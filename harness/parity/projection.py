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
from typing import Final

from harness.canonical import canonical
from harness.parity.channel import Channel
from harness.parity.channels import CHANNELS
from harness.parity.items import Hidden, Item, Rule
from harness.parity.rules import UUID
from harness.replay.observation import Observation

__all__ = ["RULES", "Hidden", "Item", "Rule", "project"]

RULES: Final[tuple[Rule, ...]] = tuple(
    {rule.name: rule for channel in CHANNELS for rule in channel.rules}.values()
)
"""Every rule about one item, once."""


def project(channel: Channel, seen: Observation, *, across: bool = True) -> list[Item]:
    """The channel's items as they are compared: paths replaced, rules applied, digested.

    `across` applies the rules, too, that hold only between engines with words of their own.
    """
    chosen = [rule for rule in channel.rules if across or not rule.across]
    agents = _agents(seen)
    projected: list[Item] = []
    for raw in channel.items(seen):
        text = seen.paths.mask_json(canonical(raw))
        named = [(id_, shown) for id_, shown in agents if id_ in text]
        for id_, shown in named:
            text = text.replace(id_, shown)
        value = json.loads(text)
        item = Item(value, channel.label(value))
        if named:
            item.hidden[""] = Hidden("agent_ids", [id_ for id_, _ in named])
        for each in chosen:
            if each.marker.search(text):
                each.apply(item)
        item.digest = hashlib.sha256(canonical(item.value).encode()).digest()
        projected.append(item)
    return projected


def _agents(seen: Observation) -> list[tuple[str, str]]:
    """The agents' ids, and what stands in their place; what is no random id stays compared."""
    return [
        (child.agent_id, f"<agent {child.thread}>")
        for child in seen.children
        if UUID.fullmatch(child.agent_id)
    ]

"""Projection: named rules hide the values in which two runs may differ.

A rule is one function over one item; its docstring gives the reason. It replaces values with
placeholders and deletes nothing, so a value that only one side has still shows. The item keeps the
hidden values: ids are compared after alignment, up to renaming, and a rule counts as fired where
the hidden values did differ. Rules change a private copy of the item, in which the run's paths are
already replaced.
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
from harness.parity.vary import rules_of
from harness.replay.observation import Observation

__all__ = ["RULES", "project"]

RULES: Final[tuple[Rule, ...]] = tuple(
    {rule.name: rule for channel in CHANNELS for rule in channel.rules}.values()
)
"""Every rule, once."""


def project(channel: Channel, seen: Observation, *, across: bool = True) -> list[Item]:
    """The channel's items with paths replaced, rules applied, and digests.

    `across` also applies the rules for engines with different prompts and descriptions.
    """
    chosen = [rule for rule in channel.rules if across or not rule.across]
    chosen += rules_of(channel.name, seen.vary)
    agents = _agents(seen)
    projected: list[Item] = []
    for raw in channel.items_of(seen):
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
    """The agents' random ids with their placeholders; other ids stay compared."""
    return [
        (child.agent_id, f"<agent {child.thread}>")
        for child in seen.children
        if UUID.fullmatch(child.agent_id)
    ]

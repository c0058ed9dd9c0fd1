"""Child agents in a trace or a baseline: what they reported, and which threads things are of."""

from __future__ import annotations

from typing import Final

from harness.replay.observation import Observation
from services.wire import JsonObject

__all__ = ["CHILD_KEYS", "children_of"]

CHILD_KEYS: Final = ("children", "threads")
"""Keys of the document; both are left out where there are no children."""


def children_of(seen: Observation) -> JsonObject:
    """The document's part about children; empty where there are none."""
    document: JsonObject = {}
    if seen.children:
        document["children"] = [child.to_json() for child in seen.children]
    if seen.threads:
        document["threads"] = {
            name: {str(index): thread for index, thread in placed.items()}
            for name, placed in seen.threads.items()
        }
    return document

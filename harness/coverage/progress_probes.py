"""Probes over what tool calls show while they work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.coverage.words import objects_in, word_of
from harness.replay.observation import Observation
from services.threads import MAIN

__all__ = ["progress_probes"]


def progress_probes(seen: Observation) -> Iterator[str]:
    """Yield the kinds of notices, their kinds by the call's last state, and those of subagents."""
    threads = seen.threads.get("tool_states", {})
    for number, (call, states) in enumerate(seen.tool_states.items()):
        for one in objects_in((seen.progress or {}).get(call, ())):
            for probe in _notice(one):
                yield f"progress:{probe}"
                yield f"progress:{probe}.then_{word_of(states[-1] if states else None)}"
                if threads.get(number, MAIN) != MAIN:
                    yield f"progress:child.{probe}"


def _notice(shown: dict[str, Any]) -> Iterator[str]:
    for key in ("output", "process", "reported"):
        if key in shown:
            yield key
    for key, word in (("agent", "state"), ("question", "type")):
        value = shown.get(key)
        if isinstance(value, dict):
            yield f"{key}.{word_of(value.get(word))}"

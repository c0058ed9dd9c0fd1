"""Repeated tool calls: a cycle of one to five calls, five times over.

Source: core `services/loopDetectionService.ts`, `checkToolCallLoop`.
"""

from __future__ import annotations

import hashlib
from collections import deque
from typing import Final

from services.wire import JsonObject, js_json

__all__ = ["ToolCallLoops"]

_REPETITIONS: Final = 5
_LONGEST_CYCLE: Final = 5


class ToolCallLoops:
    """The keys of the last calls; calls are the same when name and argument JSON are."""

    def __init__(self) -> None:
        self._keys: deque[bytes] = deque(maxlen=_REPETITIONS * _LONGEST_CYCLE)

    def add(self, name: str, args: JsonObject) -> bool:
        """Take in a call; `True` when the calls so far end in a repeated cycle."""
        key = f"{name}:{js_json(args)}".encode(errors="surrogatepass")
        self._keys.append(hashlib.sha256(key).digest())
        latest = list(self._keys)
        latest.reverse()
        return any(_repeats(latest, length) for length in range(1, _LONGEST_CYCLE + 1))

    def clear(self) -> None:
        """Forget every call."""
        self._keys.clear()


def _repeats(latest: list[bytes], length: int) -> bool:
    needed = length * _REPETITIONS
    if len(latest) < needed:
        return False
    return all(latest[i] == latest[i - length] for i in range(length, needed))

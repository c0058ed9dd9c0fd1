"""Seams for ids, random numbers and process ids."""

from __future__ import annotations

import hashlib
import uuid
from typing import Final, Protocol

__all__ = [
    "CountingIds",
    "CountingProcessIds",
    "FixedRandom",
    "IdSource",
    "ProcessIds",
    "RandomIds",
    "RandomSource",
    "RealProcessIds",
    "stable_id",
]


_VARIANTS: Final = {f"{digit:x}": "89ab"[digit & 3] for digit in range(16)}


class IdSource(Protocol):
    """A source of ids."""

    def uuid(self, scope: str) -> str:
        """A new UUID in text form. `scope` says what for (`stream`, `message`, `confirmation`)."""
        ...


class RandomSource(Protocol):
    """A source of random numbers."""

    def random(self) -> float:
        """A number in [0, 1)."""
        ...


class ProcessIds(Protocol):
    """The process ids to show."""

    def shown(self, pid: int) -> int:
        """The id to show for the real `pid`; the same one for the same child."""
        ...


class RandomIds:
    """Random version-4 UUIDs."""

    def uuid(self, scope: str) -> str:
        """A random UUID; the scope plays no part."""
        return str(uuid.uuid4())  # noqa: TID251 - the one place that may: this is the id seam


class CountingIds:
    """The n-th id of a scope is the same in every run, whatever other scopes do."""

    def __init__(self, seed: str = "") -> None:
        self._seed = seed
        self._counts: dict[str, int] = {}

    def uuid(self, scope: str) -> str:
        """A UUID that is a function of seed, scope and how many the scope has had."""
        count = self._counts[scope] = self._counts.get(scope, 0) + 1
        text = f"{self._seed}\0{scope}\0{count}"
        raw = hashlib.sha256(text.encode()).hexdigest()
        # Put together as text: a history that is replaced takes an id for each of its contents.
        return f"{raw[:8]}-{raw[8:12]}-4{raw[13:16]}-{_VARIANTS[raw[16]]}{raw[17:20]}-{raw[20:32]}"


class FixedRandom:
    """Always the same number; 0.5 means no jitter on backoff delays."""

    def __init__(self, value: float = 0.5) -> None:
        self._value = value

    def random(self) -> float:
        """The fixed number."""
        return self._value


class RealProcessIds:
    """Process ids as they are."""

    def shown(self, pid: int) -> int:
        """`pid` itself."""
        return pid


class CountingProcessIds:
    """Process ids by order of first sight: 4242, 4243, …"""

    def __init__(self, first: int = 4242) -> None:
        self._first = first
        self._seen: dict[int, int] = {}

    def shown(self, pid: int) -> int:
        """The number that `pid` got when it was first shown."""
        return self._seen.setdefault(pid, self._first + len(self._seen))


def stable_id(*sources: str) -> str:
    """Derive an id from other ids: 32 hex digits of SHA-256; several are sorted and joined by `|`.

    Source: core `utils/cryptoUtils.ts`, as used for `environment-context`.
    """
    return hashlib.sha256("|".join(sorted(sources)).encode()).hexdigest()[:32]

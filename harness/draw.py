"""Some of many names, drawn by a seed: the same ones wherever and whenever it is done."""

from __future__ import annotations

from collections.abc import Sequence

from harness.canonical import sha256_hex

__all__ = ["chosen"]


def chosen(names: Sequence[str], count: int, seed: int) -> list[str]:
    """Draw up to `count` of the names; the same seed draws the same names."""
    shuffled = sorted(names, key=lambda name: sha256_hex(f"{seed}:{name}"))
    return sorted(shuffled[:count])

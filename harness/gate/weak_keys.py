"""Weak public keys, the curve's points of low order: anybody can make valid signatures for them.

One of them is all zeros, which looks like a placeholder for a key.

Source: RFC 8032 (Ed25519); libraries leave this check to their callers.
"""

from __future__ import annotations

from typing import Final

__all__ = ["is_weak_key"]

_LOW_ORDER: Final = frozenset(
    {
        "00" * 32,
        "01" + "00" * 31,
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "ec" + "ff" * 30 + "7f",
        "ed" + "ff" * 30 + "7f",
        "ee" + "ff" * 30 + "7f",
    }
)
"""The points of order 1, 2, 4 and 8 without their sign, in every encoding."""


def is_weak_key(key: str) -> bool:
    """Whether a key, 64 hex digits, has low order."""
    raw = bytearray.fromhex(key)
    raw[-1] &= 0x7F
    return raw.hex() in _LOW_ORDER

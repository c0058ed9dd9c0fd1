"""What distinguishes the models that take Messages, by their names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["DEFAULT_LIMIT", "MessagesTraits", "traits_of"]

_VERSION: Final = re.compile(r"claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2}))?(?![0-9])")
_ALWAYS_THINKS: Final = re.compile(r"claude-(?:fable|mythos)")
_ADAPTIVE_SINCE: Final = (4, 6)
DEFAULT_LIMIT: Final = 32_000
"""Tokens of an answer whose request sets no limit, as the API requires one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesTraits:
    """The differences that a request depends on."""

    adaptive: bool = True
    """Whether the model decides by itself how much it thinks. Others take a budget of tokens."""
    always_thinks: bool = False
    """Whether thinking cannot be switched off."""


def traits_of(model: str) -> MessagesTraits:
    """Return the traits of a model; one without a version counts as a recent one."""
    found = _VERSION.search(model)
    always = _ALWAYS_THINKS.search(model) is not None
    if found is None:
        return MessagesTraits(always_thinks=always)
    version = (int(found[1]), int(found[2] or 0))
    return MessagesTraits(adaptive=version >= _ADAPTIVE_SINCE, always_thinks=always)

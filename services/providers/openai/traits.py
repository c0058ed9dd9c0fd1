"""What distinguishes the servers and models that take Chat Completions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

__all__ = ["ChatTraits", "traits_of"]

_REASONING: Final = re.compile(r"(?:.*/)?(?:o\d|gpt-oss|gpt-(?:[5-9]|\d\d))(?!.*-chat)")
"""The models that take `reasoning_effort`, and no sampling settings other than the defaults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTraits:
    """The differences that a request depends on."""

    reasoning: bool = False
    """Whether the model is one of OpenAI's reasoning models."""
    new_limit: bool = False
    """Whether the limit of an answer is `max_completion_tokens`, and not `max_tokens`."""
    counts: bool = False
    """Whether the server counts the tokens of requests."""


def traits_of(model: str, address: str) -> ChatTraits:
    """Return the traits of a model at an address."""
    host = urlsplit(address).hostname or ""
    official = host.endswith((".openai.com", ".openai.azure.com"))
    reasoning = _REASONING.match(model) is not None
    counts = host.endswith(".openai.com")
    return ChatTraits(reasoning=reasoning, new_limit=official or reasoning, counts=counts)

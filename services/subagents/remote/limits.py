"""How long a remote agent may take, and how much it may send."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Real seconds and bytes. Upstream bounds silence alone, by the half hour."""

    connect_s: float = 10.0
    silence_s: float = 1800.0
    """Between two pieces of an answer; agents that do research can be silent for long."""
    card_s: float = 30.0
    """For a card as a whole, redirects and a second try with credentials included."""
    card_bytes: int = 1024 * 1024
    card_redirects: int = 5
    answer_bytes: int = 64 * 1024 * 1024
    """Of one answer, streamed or not."""
    cancel_s: float = 5.0
    """For telling the server that a task is not wanted any more."""

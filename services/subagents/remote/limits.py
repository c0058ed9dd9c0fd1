"""The limits of a remote agent's time and size."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Real seconds and bytes. Upstream limits only silence, to half an hour."""

    connect_s: float = 10.0
    silence_s: float = 1800.0
    """Between two chunks; research agents can be silent for long."""
    card_s: float = 30.0
    """For a card, with redirects and a second request with credentials."""
    card_bytes: int = 1024 * 1024
    card_redirects: int = 5
    answer_bytes: int = 64 * 1024 * 1024
    """Of one response, streamed or not."""
    cancel_s: float = 5.0
    """For the cancellation of a task."""

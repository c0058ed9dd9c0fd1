"""`Allowed`: what the user may allow beyond one call, when a call is confirmed."""

from __future__ import annotations

from dataclasses import dataclass

from services.wire import JsonObject

__all__ = ["Allowed", "allows_for_ever"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """What the settings let the user allow beyond one call."""

    session: bool = True
    """For the rest of the session."""
    for_ever: bool = False
    """In future sessions, too."""


def allows_for_ever(document: JsonObject) -> bool:
    """Whether a settings document lets the user allow calls of future sessions."""
    security = document.get("security")
    return isinstance(security, dict) and security.get("enablePermanentToolApproval") is True

"""When hooks run, and the notices of their runs. Source: core `hooks/types.ts`."""

from __future__ import annotations

from dataclasses import dataclass

from services.settings.hooks import HookEvent

__all__ = ["HookEnd", "HookEvent", "HookNotice", "HookStart", "HookSystemMessage"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HookStart:
    """A hook starts. `hook_index` counts from 1 within the event's `total_hooks`."""

    hook_name: str
    event_name: str
    source: str
    hook_index: int
    total_hooks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HookEnd:
    """A hook ended; `success` means exit code 0."""

    hook_name: str
    event_name: str
    success: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HookSystemMessage:
    """A hook has a message for the user."""

    hook_name: str
    event_name: str
    message: str
    suppressed: bool = False
    """Whether a hook of the event has said `suppressOutput`: then it is no line of a log."""


HookNotice = HookStart | HookEnd | HookSystemMessage
"""Emitted in order: starts, ends, then the messages of the whole event."""

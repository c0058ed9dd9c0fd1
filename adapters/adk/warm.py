"""Imports what a conversation on ADK's runner needs, so that no import happens during a run."""

from __future__ import annotations

from typing import Final

from runtimes.adk.quiet import import_quietly

__all__ = ["CONVERSATION"]

CONVERSATION: Final = import_quietly("adapters.adk.conversation")

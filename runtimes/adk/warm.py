"""Imported for its effect: loads ADK, so that a fork server's workers start with it."""

from runtimes.adk.quiet import import_quietly

__all__: list[str] = []

import_quietly("runtimes.adk.runtime")
import_quietly("runtimes.adk.plugins.inspecting")

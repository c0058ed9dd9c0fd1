"""Imported for its effect: loads ADK now, so that whoever forks from here need not.

A fork server that workers are forked from takes names of modules, nothing else.
"""

from runtimes.adk.quiet import import_quietly

__all__: list[str] = []

import_quietly("runtimes.adk.runtime")

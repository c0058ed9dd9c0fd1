"""Imported for its effect: loads what services otherwise load when a session first needs it.

A library may start programs or look at files of its own while it is loaded. A confined session may
not, so its owner imports this first.
"""

import httpcore  # noqa: F401 - httpx loads it for its first connection

import services.subagents.remote.manager  # noqa: F401 - see above

__all__: list[str] = []

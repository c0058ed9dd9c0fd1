"""Loads modules that services otherwise import when a session first needs them.

A library may start programs or read files while it is imported. A confined session may not, so its
owner imports this module first.
"""

import httpcore  # noqa: F401 - httpx loads it for its first connection

import services.subagents.remote.manager  # noqa: F401 - see above

__all__: list[str] = []

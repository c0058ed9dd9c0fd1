"""The sources of commands beside the built-in ones."""

from __future__ import annotations

from surfaces.commands.layer import Source

__all__ = ["default_sources"]


def default_sources() -> tuple[Source, ...]:
    """The sources of a session, in order of precedence."""
    return ()

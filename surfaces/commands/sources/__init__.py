"""The sources of commands beside the built-in ones: skills, MCP prompts, command files."""

from __future__ import annotations

from typing import Final

from surfaces.commands.contract import Source
from surfaces.commands.sources.prompts import server_prompts
from surfaces.commands.sources.skills import skill_commands
from surfaces.commands.sources.toml_files import file_commands

__all__ = ["default_sources"]

_SOURCES: Final[tuple[Source, ...]] = (skill_commands, server_prompts, file_commands)


def default_sources() -> tuple[Source, ...]:
    """The sources of a session, in order of precedence."""
    return _SOURCES

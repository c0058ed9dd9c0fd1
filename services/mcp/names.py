"""The names of servers' tools.

Source: core `tools/mcp-tool.ts`.
"""

from __future__ import annotations

import logging
import re
from typing import Final

from services.wire import js_length, js_slice

__all__ = ["MCP_PREFIX", "parse_mcp_tool_name", "valid_mcp_name"]

logger = logging.getLogger(__name__)

MCP_PREFIX: Final = "mcp_"
"""What every MCP tool's name begins with."""

_LONGEST: Final = 63
_KEPT: Final = 30
_FOREIGN: Final = re.compile(r"[^a-zA-Z0-9_\-.:]")
_QUALIFIED: Final = re.compile(r"([^_]+)_(.+)")


def valid_mcp_name(name: str) -> str:
    """`name` as the model's API accepts it: prefixed once, foreign characters `_`, at most 63 long.

    A longer name keeps its first and last 30 characters, around `...`. If two tools get the same
    name, the later registration wins.
    """
    valid = name if name.startswith(MCP_PREFIX) else MCP_PREFIX + name
    # JavaScript replaces code units: a character outside the BMP becomes two underscores.
    valid = _FOREIGN.sub(lambda found: "_" * js_length(found[0]), valid)
    if len(valid) > _LONGEST:
        logger.warning(
            'Truncating MCP tool name "%s" to fit within the 64 character limit. '
            "This tool may require user approval.",
            valid,
        )
        valid = f"{js_slice(valid, 0, _KEPT)}...{js_slice(valid, -_KEPT)}"
    return valid


def parse_mcp_tool_name(name: str) -> tuple[str, str] | None:
    """Server and tool in `mcp_<server>_<tool>`; the server ends at the first underscore.

    `None` for a name of another form. A server whose name has an underscore is cut short: the
    core's oddity.
    """
    if not name.startswith(MCP_PREFIX):
        return None
    match = _QUALIFIED.fullmatch(name.removeprefix(MCP_PREFIX))
    return (match[1], match[2]) if match else None

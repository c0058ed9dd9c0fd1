"""How much one message of an MCP server may hold, over every transport."""

from __future__ import annotations

from typing import Final

__all__ = ["MESSAGE_BYTES"]

MESSAGE_BYTES: Final = 64 * 1024 * 1024
"""Bytes of a line on standard output, of a server-sent event, or of an HTTP answer, decoded.

Upstream has no limit. The largest legitimate messages are images and files in base64.
"""

"""MCP: names of tools."""

from __future__ import annotations

from typing import Final

from parity_tests.core_answers.subject import Subject
from services.mcp.names import valid_mcp_name

__all__ = ["SUBJECTS"]

SUBJECTS: Final = (Subject("mcp.valid_name", valid_mcp_name),)

"""All subjects, by room."""

from __future__ import annotations

from typing import Final

from parity_tests.core_answers import (
    code_assist,
    hook_session,
    hooks,
    ide,
    mcp,
    mcp_client,
    mcp_manager,
    mcp_servers,
)
from parity_tests.core_answers.subject import Subject

__all__ = ["SUBJECTS"]

SUBJECTS: Final[dict[str, Subject]] = {
    each.name: each
    for room in (code_assist, hook_session, hooks, ide, mcp, mcp_client, mcp_manager, mcp_servers)
    for each in room.SUBJECTS
}

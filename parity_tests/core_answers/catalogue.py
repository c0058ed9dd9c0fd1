"""All subjects, by room."""

from __future__ import annotations

from typing import Final

from parity_tests.core_answers import (
    code_assist,
    compression,
    diffs,
    hook_session,
    hook_settings,
    hooks,
    ide,
    javascript,
    long_outputs,
    mcp,
    mcp_client,
    mcp_manager,
    mcp_servers,
    model,
    pages,
    policy,
    policy_engine,
    policy_files,
    recordings,
    remote,
    scheduler,
    shell,
    steering,
    subagents,
    texts,
    tools,
    web,
    yaml,
    zod,
)
from parity_tests.core_answers.subject import Subject

__all__ = ["SUBJECTS"]

_ROOMS: Final = (
    code_assist,
    compression,
    diffs,
    hook_session,
    hook_settings,
    hooks,
    ide,
    javascript,
    long_outputs,
    mcp,
    mcp_client,
    mcp_manager,
    mcp_servers,
    model,
    pages,
    policy,
    policy_engine,
    policy_files,
    recordings,
    remote,
    scheduler,
    shell,
    steering,
    subagents,
    texts,
    tools,
    web,
    yaml,
    zod,
)
SUBJECTS: Final[dict[str, Subject]] = {each.name: each for room in _ROOMS for each in room.SUBJECTS}

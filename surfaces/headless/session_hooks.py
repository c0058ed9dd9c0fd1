"""The hooks of a session as a whole.

Source: `packages/cli` `gemini.tsx`. There `SessionEnd` is left out where a run fails whose output
is JSON, because the program ends without its clean-up; here it runs at every end.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from services.hooks.system import HookSystem
from surfaces.headless.streams import Streams

__all__ = ["ending_session", "started_with"]

_STARTUP: Final = "startup"
_RESUME: Final = "resume"
_EXIT: Final = "exit"


@asynccontextmanager
async def ending_session(hooks: HookSystem | None) -> AsyncIterator[None]:
    """A session: its hooks' warnings at the beginning, `SessionEnd` at its end, however it ends."""
    if hooks is None:
        yield
        return
    hooks.initialize()
    try:
        yield
    finally:
        await hooks.session_end(_EXIT)


async def started_with(
    prompt: str, hooks: HookSystem | None, streams: Streams, *, resumed: bool
) -> str:
    """Fire `SessionStart`; returns the prompt with the context that it adds, if any."""
    if hooks is None:
        return prompt
    result = await hooks.session_start(_RESUME if resumed else _STARTUP)
    if result is None:
        return prompt
    if result.system_message:
        streams.report(result.system_message)
    if not result.additional_context:
        return prompt
    context = f"<hook_context>{result.additional_context}</hook_context>"
    return f"{context}\n\n{prompt}" if prompt else context

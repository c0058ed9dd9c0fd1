"""The compression of a session's history, with its hook."""

from __future__ import annotations

from collections.abc import Callable

from services.compression.budget import OutputTruncation
from services.compression.service import ChatCompressionService, PreCompress
from services.hooks.system import HookSystem
from services.model.utility import UtilityModel
from services.session import Session
from services.settings.hooks import HookEvent
from services.wire import Content

__all__ = ["open_compression"]


def open_compression(
    session: Session,
    *,
    utility: UtilityModel,
    session_context: Callable[[], Content],
    max_chars: Callable[[], int],
    hooks: HookSystem | None,
) -> ChatCompressionService:
    """Build the compression of a session.

    Args:
        session: The session.
        utility: Writes the summary.
        session_context: The turn that a new chat begins with.
        max_chars: How long a tool output may be.
        hooks: The session's hooks.
    """
    return ChatCompressionService(
        model=utility,
        generator=session.content_generator,
        truncation=OutputTruncation(
            project_temp=session.workspace.project_temp, max_chars=max_chars
        ),
        session_context=session_context,
        threshold=session.settings.compression_threshold,
        pre_compress=_pre_compress(hooks),
        log=session.state.log,
    )


def _pre_compress(hooks: HookSystem | None) -> PreCompress | None:
    """The hook before a compression; `None` saves its preparation where no hook would run."""
    if hooks is None or not hooks.has_hooks(HookEvent.PRE_COMPRESS):
        return None

    async def fire(trigger: str) -> None:
        await hooks.pre_compress(forced=trigger == "manual")

    return fire

"""`layer_over`: the command layer of an open session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from surfaces.commands import CommandLayer, CommandSession, Source
from surfaces.terminal.live import LiveSession

__all__ = ["layer_over"]


def layer_over(
    live: LiveSession,
    sources: Sequence[Source] = (),
    consent: Callable[[str], Awaitable[bool]] | None = None,
) -> CommandLayer:
    """The commands of a session, which the caller loads.

    Args:
        live: the session.
        sources: further sources beside the built-in commands.
        consent: asks the user to agree to a text; `None`: the user cannot be asked.
    """
    session = CommandSession(
        runtime=live.runtime,
        services=live.services,
        settings=live.prepared.plan.document,
        auth_type=live.prepared.source.auth_type,
        metrics=live.metrics.stats,
        started_ms=live.services.clock.now_ms(),
        consent=consent,
    )
    return CommandLayer(session, sources)

"""`layer_over`: the command layer of an open session."""

from __future__ import annotations

from collections.abc import Sequence

from surfaces.commands import CommandLayer, CommandSession, Source
from surfaces.terminal.live import LiveSession

__all__ = ["layer_over"]


def layer_over(live: LiveSession, sources: Sequence[Source] = ()) -> CommandLayer:
    """The commands of a session, which the caller loads.

    Args:
        live: the session.
        sources: further sources beside the built-in commands.
    """
    session = CommandSession(
        runtime=live.runtime,
        services=live.services,
        settings=live.prepared.plan.document,
        auth_type=live.prepared.source.auth_type,
        metrics=live.metrics.stats,
        started_ms=live.services.clock.now_ms(),
    )
    return CommandLayer(session, sources)

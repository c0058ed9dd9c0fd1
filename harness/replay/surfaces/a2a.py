"""A2A as a surface: a client that sends messages to a server, and answers its questions.

The client acts when the run is idle (`harness.replay.pace`), so that two equal runs have the same
messages in the same order.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from typing import Final

from harness.replay.client import Played, Stage, Surface
from harness.replay.surfaces.a2a_answers import SURFACE_NAME
from harness.replay.surfaces.a2a_limits import refusal
from harness.replay.surfaces.a2a_user import A2aUser
from harness.replay.surfaces.held_session import HeldSession, prepared
from surfaces.a2a.playing import Opening, open_played_server, without_user

__all__ = ["SURFACE"]


@asynccontextmanager
async def _played(stage: Stage) -> AsyncIterator[Played]:
    """Play `stage`. The session outlives its task, which a client may cancel."""
    session, user = HeldSession(stage), A2aUser(stage)
    facts = prepared(stage)
    async with AsyncExitStack() as stack:
        stack.enter_context(stage.pace.kept_by(lambda: False))
        held = session.opened(facts, *without_user())
        live = await stack.enter_async_context(held)
        _, group = await session.running()
        opening = Opening(prepare=lambda: facts, session=lambda *_: nullcontext(live))
        server = open_played_server(facts.machine, opening, user.note)
        client = await stack.enter_async_context(server)
        stack.callback(user.leave)
        user.enter(client, live, group)
        yield Played(client=user, group=group, runtime=live.runtime)
        user.finish()


SURFACE: Final = Surface(name=SURFACE_NAME, playing=_played, refusal=refusal)

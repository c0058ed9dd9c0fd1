"""ACP as a surface: a client that sends requests, and answers those of the agent.

The client acts when the run is idle (`harness.replay.pace`), so that two equal runs have the same
messages in the same order.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Final

from harness.replay.client import Played, Stage, Surface
from harness.replay.surfaces.acp_limits import refusal
from harness.replay.surfaces.acp_user import AcpUser
from harness.replay.surfaces.held_session import HeldSession, prepared
from surfaces.acp.playing import Opening, open_played_connection, without_questions

__all__ = ["SURFACE"]


@asynccontextmanager
async def _played(stage: Stage) -> AsyncIterator[Played]:
    session, user = HeldSession(stage), AcpUser(stage)
    facts = prepared(stage)
    facts = replace(facts, plan=without_questions(facts.plan))
    opening = Opening(prepare=lambda _: facts, session=session.opened)
    async with AsyncExitStack() as stack:
        stack.enter_context(stage.pace.kept_by(lambda: False))
        send = await stack.enter_async_context(open_played_connection(opening, user.receive))
        group = await stack.enter_async_context(asyncio.TaskGroup())
        stack.callback(user.leave)
        opened = await user.enter(send, group, session)
        yield Played(client=user, group=group, runtime=opened.runtime)


SURFACE: Final = Surface(name="ACP client", playing=_played, refusal=refusal)

"""`HeldSession`: the session of a run, which a surface opens and holds in a task of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

from harness.replay.client import Stage
from harness.replay.questions import Recorded
from services.compose import ServicesSetup
from services.interaction.interaction import Interaction
from services.settings import settings_from_parameters
from services.state import CoreEvents
from services.tools.contract import ConfirmationOutcome
from surfaces.terminal.played_session import LiveSession, Prepared, live_session, prepared_for

__all__ = ["HeldSession", "prepared"]


def prepared(stage: Stage) -> Prepared:
    """Return what a surface needs to know of the session of `stage`."""
    session, envelope = stage.cassette.session, stage.envelope
    saves = any(
        answer.outcome is ConfirmationOutcome.PROCEED_ALWAYS_AND_SAVE
        for answer in stage.cassette.answers.confirmations
    )
    return prepared_for(
        workspace=envelope.workspace,
        environment=envelope.environment,
        clock=envelope.clock,
        ids=envelope.ids,
        session_id=stage.session_id,
        settings=settings_from_parameters(session.settings, interactive=True),
        model=session.model,
        approval_mode=session.approval_mode,
        document={"security": {"enablePermanentToolApproval": True}} if saves else {},
    )


class HeldSession:
    """Opens the session for a surface (`opened`), and lets the harness wait for it."""

    def __init__(self, stage: Stage) -> None:
        """Open the session of `stage` when the surface asks for it."""
        self._stage = stage
        self._ready: asyncio.Future[tuple[LiveSession, asyncio.TaskGroup]] = asyncio.Future()
        self._over = asyncio.Event()

    @asynccontextmanager
    async def opened(
        self,
        prepared: Prepared,
        interaction: Interaction,
        events: CoreEvents,
        warn: Callable[[str], None],
    ) -> AsyncIterator[LiveSession]:
        """Open the session, as `surfaces.terminal.live.open_live_session` does."""

        def adapted(setup: ServicesSetup) -> ServicesSetup:
            return replace(
                setup,
                settings=prepared.plan.settings,
                batch_style=prepared.batch_style or setup.batch_style,
                text_files=prepared.text_files or setup.text_files,
            )

        stage = self._stage
        off = stage.events.subscribe(events.emit)
        try:
            async with (
                stage.open_services(Recorded(interaction, stage.witness), adapted) as services,
                asyncio.TaskGroup() as group,
                stage.open_runtime(services) as runtime,
            ):
                session = live_session(
                    prepared,
                    services,
                    runtime,
                    lambda agent: agent.subscribe(stage.witness.on_event),
                )
                self._ready.set_result((session, group))
                yield session
        except Exception as error:
            if not self._ready.done():
                self._ready.set_exception(error)
            raise
        finally:
            off()
            self._over.set()

    async def running(self) -> tuple[LiveSession, asyncio.TaskGroup]:
        """Wait until the session is open.

        Raises:
            Exception: it could not be opened.
        """
        return await self._ready

    async def closed(self) -> None:
        """Wait until the session is closed."""
        await self._over.wait()

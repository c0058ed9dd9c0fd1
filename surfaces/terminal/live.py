"""`LiveSession`: the services and the engine of an interactive session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final

from agent_protocol.agent import AgentProtocol
from runtimes.contract import Runtime
from runtimes.registry import Surface, open_runtime
from services.bundle import Services
from services.clock import Clock
from services.interaction.interaction import Interaction
from services.model.errors import FatalInputError
from services.model.generator import ContentGenerator
from services.progress import ProgressFeed
from services.state import CoreEvents
from services.telemetry.contract import Telemetry
from surfaces.headless.engine import (
    check_chosen_runtime,
    chosen_runtime,
    resume_session,
)
from surfaces.headless.metrics import SessionMetrics
from surfaces.headless.model import open_model
from surfaces.headless.run_services import open_run_services, open_run_telemetry
from surfaces.headless.session_log import log_configuration, log_onboarding
from surfaces.headless.sessions import RecordedSession, moved_aside
from surfaces.headless.witness import RunFacts, SessionWitness
from surfaces.terminal.prepared import Prepared

__all__ = ["LiveSession", "OpenSession", "open_live_session"]


_METRICS_EVERY_MS: Final = 10_000


def _nothing(_: AgentProtocol) -> None:
    """Nothing watches the agents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSession:
    """An open session."""

    prepared: Prepared
    services: Services
    runtime: Runtime
    progress: ProgressFeed
    metrics: SessionMetrics
    agent_made: Callable[[AgentProtocol], object] = _nothing
    """Gets each agent before its prompt is sent."""
    witness: SessionWitness | None = None
    user_tier: str | None = None
    """The tier of the user's account (`free-tier`), where Code Assist answers."""

    def prompt_id(self, number: int) -> str:
        """The id of the user's prompt with this number, from 0."""
        return f"{self.services.state.session_id}########{number}"

    def agent(self, number: int) -> AgentProtocol:
        """A new agent, for the user's prompt with this number."""
        agent = self.runtime.agent(prompt_id=self.prompt_id(number))
        self.agent_made(agent)
        return agent


OpenSession = Callable[
    [Prepared, Interaction, CoreEvents, Callable[[str], None]],
    AbstractAsyncContextManager[LiveSession],
]
"""Opens a session, as `open_live_session` does."""


@asynccontextmanager
async def open_live_session(
    prepared: Prepared, interaction: Interaction, events: CoreEvents, warn: Callable[[str], None]
) -> AsyncIterator[LiveSession]:
    """Open the session; leaving ends it.

    Args:
        prepared: what to open.
        interaction: answers its questions.
        events: the session's notices.
        warn: gets the messages about telemetry.

    Raises:
        FatalError: the session cannot be opened.
    """
    machine, plan, source = prepared.machine, prepared.plan, prepared.source
    name = chosen_runtime(prepared.options.runtime, plan.settings, Surface.INTERACTIVE)
    # Importing an engine takes a second: the screen stays alive meanwhile.
    await asyncio.to_thread(check_chosen_runtime, name)
    witness = await _witness(prepared, interaction)
    metrics = SessionMetrics()
    async with AsyncExitStack() as stack:
        telemetry = stack.enter_context(
            open_run_telemetry(
                machine,
                plan,
                session_id=prepared.session_id,
                auth_type=source.auth_type,
                runtime=name,
                warn=warn,
            )
        )
        model = await stack.enter_async_context(
            open_model(
                source,
                machine,
                model=plan.model,
                session_id=prepared.session_id,
                interaction=interaction,
                warn=warn,
            )
        )
        generator = model.generator if witness is None else witness.model(model.generator)
        services = await stack.enter_async_context(
            _services(prepared, interaction, events, generator, metrics, telemetry)
        )
        metrics.watch(services.bus)
        log_configuration(services, plan, source.auth_type)
        log_onboarding(services, model.user)
        services.ide.begin()
        resumed = _aside(prepared)
        runtime = await stack.enter_async_context(open_runtime(name, services))
        if resumed is not None:
            await _resume(runtime, services, resumed)
        if witness is not None:
            stack.callback(witness.opened(services))
        progress = ProgressFeed(services)
        stack.callback(progress.close)
        _export_metrics(telemetry, machine.clock, stack)
        yield LiveSession(
            prepared=prepared,
            services=services,
            runtime=runtime,
            progress=progress,
            metrics=metrics,
            witness=witness,
            agent_made=_nothing if witness is None else partial(_observed, witness),
            user_tier=None if model.user is None else model.user.tier,
        )


def _services(
    prepared: Prepared,
    interaction: Interaction,
    events: CoreEvents,
    generator: ContentGenerator,
    metrics: SessionMetrics,
    telemetry: Telemetry | None,
) -> AbstractAsyncContextManager[Services]:
    return open_run_services(
        prepared.machine,
        prepared.plan,
        session_id=prepared.session_id,
        auth_type=prepared.source.auth_type,
        generator=generator,
        events=events,
        metrics=metrics,
        telemetry=telemetry,
        resumes=prepared.resumed is not None,
        interaction=interaction,
        batch_style=prepared.batch_style,
        text_files=prepared.text_files,
    )


async def _witness(prepared: Prepared, interaction: Interaction) -> SessionWitness | None:
    """What observes the session; it reads the folder in a thread."""
    if prepared.witness is None:
        return None
    witness = await asyncio.to_thread(_begun, prepared, prepared.witness)
    interaction.observed(witness.asks)
    return witness


def _begun(prepared: Prepared, make: Callable[[], SessionWitness]) -> SessionWitness:
    witness = make()
    witness.begins(
        RunFacts(
            plan=prepared.plan,
            source=prepared.source,
            workspace=prepared.machine.workspace,
            resumed=None if prepared.resumed is None else prepared.resumed.file,
        )
    )
    return witness


def _observed(witness: SessionWitness, agent: AgentProtocol) -> None:
    agent.subscribe(witness.saw)


def _export_metrics(telemetry: Telemetry | None, clock: Clock, stack: AsyncExitStack) -> None:
    """Write the metrics from time to time, until `stack` ends.

    Source: core `telemetry/sdk.ts` (`exportIntervalMillis`).
    """
    if telemetry is not None:
        exporting = asyncio.create_task(_exported(telemetry, clock), name="export of metrics")
        stack.push_async_callback(_ended, exporting)


async def _exported(telemetry: Telemetry, clock: Clock) -> None:
    while True:
        await clock.sleep(_METRICS_EVERY_MS)
        telemetry.export_metrics()


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])


async def _resume(runtime: Runtime, services: Services, resumed: RecordedSession) -> None:
    await resume_session(runtime, resumed)
    _add_folders(services, resumed)


def _add_folders(services: Services, resumed: RecordedSession) -> None:
    """Add the folders that the user has added to the session before.

    Source: `packages/cli` `ui/hooks/useSessionResume.ts`.
    """
    known = services.workspace.folders
    added = [each for each in resumed.folders if each not in known and each.is_dir()]
    for folder in added:
        services.workspace.add_folder(folder)
    if added:
        services.memory.reload()


def _aside(prepared: Prepared) -> RecordedSession | None:
    """The session to resume, safe from the recording that the engine begins when it opens.

    Raises:
        FatalInputError: the recording is not there any more.
    """
    if prepared.resumed is None:
        return None
    try:
        return moved_aside(prepared.resumed, prepared.machine.clock)
    except OSError as error:
        raise FatalInputError(f"Error resuming session: {error}") from error

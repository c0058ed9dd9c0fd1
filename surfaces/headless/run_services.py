"""The services and the telemetry of a run, over the product's seams."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from random import Random

from services.bundle import Services
from services.compose import ServicesSetup, open_services
from services.hooks.events import HookEvent, HookNotice, HookSystemMessage
from services.hooks.session import StartSource
from services.ids import RealProcessIds
from services.interaction.interaction import Interaction
from services.model.errors import FatalConfigError
from services.model.generator import ContentGenerator
from services.model.metering import ModelCallObserver
from services.policy.sources import system_policies_folder
from services.regular_files import read_regular
from services.scheduler.style import BatchStyle
from services.state import CoreEvents, HookMessage
from services.telemetry.contract import Telemetry, TelemetryError, TelemetrySeams
from services.telemetry.opening import open_telemetry
from services.tools.text_files import TextFiles
from surfaces.headless.machine import Machine
from surfaces.headless.planning import Plan

__all__ = ["open_run_services", "open_run_telemetry"]


@asynccontextmanager
async def open_run_services(
    machine: Machine,
    plan: Plan,
    *,
    session_id: str,
    auth_type: str,
    generator: ContentGenerator,
    events: CoreEvents,
    metrics: ModelCallObserver,
    telemetry: Telemetry | None,
    resumes: bool,
    interaction: Interaction | None = None,
    batch_style: BatchStyle | None = None,
    text_files: TextFiles | None = None,
) -> AsyncIterator[Services]:
    """The services of a run; leaving ends what its tools left running.

    Without an `interaction`, every question gets its default answer. By default calls run as in
    the core's scheduler, and edits go to the disk.

    Raises:
        FatalConfigError: a setting has no meaning.
    """
    for folder in plan.include_directories:
        machine.workspace.add_folder(folder)
    setup = ServicesSetup(
        session_id=session_id,
        model=plan.model,
        workspace=machine.workspace,
        clock=machine.clock,
        ids=machine.ids,
        rng=Random(),  # noqa: S311 - jitter, not secrets
        process_ids=RealProcessIds(),
        environment=machine.environment,
        content_generator=generator,
        approval_mode=plan.approval_mode,
        settings=plan.settings,
        auth_type=auth_type,
        events=events,
        start=StartSource.RESUME if resumes else StartSource.STARTUP,
        version=_version(),
        system_policies=system_policies_folder(sys.platform),
        model_observers=(metrics,),
        telemetry=telemetry,
        interaction=interaction or Interaction(),
        batch_style=batch_style or BatchStyle(),
        text_files=text_files or TextFiles(),
        notify_hooks=partial(_pass_on, events),
        only_extensions=plan.only_extensions,
    )
    async with AsyncExitStack() as stack:
        try:
            services = await stack.enter_async_context(open_services(setup))
        except ValueError as error:
            raise FatalConfigError(f"the settings cannot be used: {error}") from error
        yield services


def _pass_on(events: CoreEvents, notice: HookNotice) -> None:
    """Emit a hook's message to the surface, which shows that of SessionStart by itself."""
    if isinstance(notice, HookSystemMessage) and notice.event_name != HookEvent.SESSION_START:
        events.emit(
            HookMessage(
                hook=notice.hook_name,
                event=notice.event_name,
                message=notice.message,
                suppressed=notice.suppressed,
            )
        )


@contextmanager
def open_run_telemetry(
    machine: Machine,
    plan: Plan,
    *,
    session_id: str,
    auth_type: str,
    runtime: str,
    warn: Callable[[str], None],
) -> Iterator[Telemetry | None]:
    """The telemetry of a run, where the plan has any; leaving exports the rest.

    Raises:
        FatalConfigError: it cannot be set up as the plan says.
    """
    seams = TelemetrySeams(
        clock=machine.clock,
        ids=machine.ids,
        session_id=session_id,
        auth_type=auth_type,
        warn=warn,
        version=_version(),
        runtime=runtime,
        interactive=plan.settings.interactive,
        installation_id=_installation_id(machine.workspace.home),
    )
    with ExitStack() as stack:
        try:
            telemetry = stack.enter_context(open_telemetry(plan.telemetry, seams))
        except TelemetryError as error:
            raise FatalConfigError(str(error)) from error
        yield telemetry


def _installation_id(home: Path) -> str | None:
    """What the published CLI calls this installation; `None` where it has never run here."""
    try:
        text = read_regular(home / ".gemini" / "installation_id", 100).decode("ascii", "replace")
    except OSError:
        return None
    return text.strip() or None


@cache
def _version() -> str:
    try:
        return version("parity")
    except PackageNotFoundError:
        return "unknown"

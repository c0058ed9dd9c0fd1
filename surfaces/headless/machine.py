"""The product's seams, and the services of a run over them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from services.bundle import Services
from services.clock import SystemClock
from services.compose import ServicesSetup, open_services
from services.environment import Environment
from services.ids import RandomIds, RealProcessIds, SystemRandomSource
from services.model.errors import FatalConfigError
from services.model.generator import ContentGenerator
from services.state import CoreEvents
from services.workspace import Workspace
from surfaces.headless.options import Plan

__all__ = ["Machine", "open_run_services"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """This machine, as a run sees it."""

    clock: SystemClock
    ids: RandomIds
    environment: Environment
    workspace: Workspace

    @classmethod
    def here(cls) -> Machine:
        """With the current folder as the workspace. `GEMINI_CLI_HOME` stands in for the home."""
        environment = Environment.of_this_machine()
        home = environment.variables.get("GEMINI_CLI_HOME")
        return cls(
            clock=SystemClock(),
            ids=RandomIds(),
            environment=environment,
            workspace=Workspace.at(Path.cwd(), Path(home) if home else Path.home()),
        )

    @property
    def coloured(self) -> bool:
        """Whether words for people may be in colour."""
        return not self.environment.variables.get("NO_COLOR")


@asynccontextmanager
async def open_run_services(
    machine: Machine,
    plan: Plan,
    *,
    session_id: str,
    auth_type: str,
    generator: ContentGenerator,
    events: CoreEvents,
) -> AsyncIterator[Services]:
    """The services of a run; leaving ends what its tools left running.

    Raises:
        FatalConfigError: a setting has no meaning.
    """
    setup = ServicesSetup(
        session_id=session_id,
        model=plan.model,
        workspace=machine.workspace,
        clock=machine.clock,
        ids=machine.ids,
        rng=SystemRandomSource(),
        process_ids=RealProcessIds(),
        environment=machine.environment,
        content_generator=generator,
        approval_mode=plan.approval_mode,
        settings=plan.settings,
        auth_type=auth_type,
        events=events,
        version=_version(),
    )
    async with AsyncExitStack() as stack:
        try:
            services = await stack.enter_async_context(open_services(setup))
        except ValueError as error:
            raise FatalConfigError(f"the settings cannot be used: {error}") from error
        yield services


def _version() -> str:
    try:
        return version("parity")
    except PackageNotFoundError:
        return "unknown"

"""`Prepared`: what is settled before a session opens.

The first screen waits for this module, so it imports little.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from surfaces.headless.machine import Machine
from surfaces.headless.model import ModelSource, choose_model
from surfaces.headless.options import HeadlessOptions
from surfaces.headless.planning import Plan, plan_run
from surfaces.headless.resuming import session_to_resume
from surfaces.headless.sessions import RecordedSession
from surfaces.headless.streams import Streams

if TYPE_CHECKING:
    from services.scheduler.style import BatchStyle
    from services.tools.text_files import TextFiles

__all__ = ["Prepared", "prepare"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """The facts that are fixed before a session opens."""

    options: HeadlessOptions
    machine: Machine
    plan: Plan
    source: ModelSource
    session_id: str
    resumed: RecordedSession | None = None
    batch_style: BatchStyle | None = None
    """How the calls of a batch run; `None`: as in the core's scheduler."""
    text_files: TextFiles | None = None
    """Where edits go; `None`: to the disk."""

    def resuming(self, session: RecordedSession) -> Prepared:
        """The same for another session, which was recorded."""
        return replace(self, resumed=session, session_id=session.session_id)


def prepare(options: HeadlessOptions, machine: Machine, streams: Streams) -> Prepared:
    """Settle what a session needs, and find the errors that need no session.

    Raises:
        FatalError: an error was found.
    """
    variables, workspace = machine.environment.variables, machine.workspace
    plan = plan_run(
        options, root=workspace.root, home=workspace.home, variables=variables, interactive=True
    )
    resumed = session_to_resume(options, machine, streams)
    new_id = options.session_id or machine.ids.uuid("session")
    source = choose_model(
        variables,
        fake=options.fake_responses,
        record=options.record_responses,
        selected=plan.selected_auth,
        enforced=plan.enforced_auth,
        strict=options.strict_responses,
    )
    return Prepared(
        options=options,
        machine=machine,
        plan=plan,
        source=source,
        session_id=new_id if resumed is None else resumed.session_id,
        resumed=resumed,
    )

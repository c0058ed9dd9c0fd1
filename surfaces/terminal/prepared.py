"""`Prepared`: what is settled before a session opens.

The first screen waits for this module, so it imports little.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from services.model.errors import FatalAuthenticationError
from surfaces.headless.machine import Machine
from surfaces.headless.model import ModelSource, choose_model
from surfaces.headless.options import HeadlessOptions
from surfaces.headless.planning import Plan, plan_run
from surfaces.headless.resuming import session_to_resume
from surfaces.headless.sessions import RecordedSession
from surfaces.headless.streams import Streams

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.scheduler.style import BatchStyle
    from services.tools.text_files import TextFiles
    from surfaces.headless.witness import SessionWitness

__all__ = ["Prepared", "prepare"]

_NO_METHOD: Final = "No authentication method selected."


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """The facts that are fixed before a session opens."""

    options: HeadlessOptions
    machine: Machine
    plan: Plan
    source: ModelSource
    session_id: str
    unsigned: str | None = None
    """Why the user must sign in before the session opens; `None`: `source` answers."""
    resumed: RecordedSession | None = None
    batch_style: BatchStyle | None = None
    """How the calls of a batch run; `None`: as in the core's scheduler."""
    text_files: TextFiles | None = None
    """Where edits go; `None`: to the disk."""
    witness: Callable[[], SessionWitness] | None = None
    """Makes what observes a session; `None`: nothing does."""

    def resuming(self, session: RecordedSession) -> Prepared:
        """The same for another session, which was recorded."""
        return replace(self, resumed=session, session_id=session.session_id)


def prepare(options: HeadlessOptions, machine: Machine, streams: Streams) -> Prepared:
    """Settle what a session needs, and find the errors that need no session.

    A session without a way to sign in is `unsigned`.

    Raises:
        FatalError: an error was found.
    """
    variables, workspace = machine.environment.variables, machine.workspace
    plan = plan_run(
        options, root=workspace.root, home=workspace.home, variables=variables, interactive=True
    )
    resumed = session_to_resume(options, machine, streams)
    new_id = options.session_id or machine.ids.uuid("session")
    source, unsigned = ModelSource(auth_type=""), None
    try:
        source = choose_model(
            variables,
            fake=options.fake_responses,
            record=options.record_responses,
            selected=plan.selected_auth,
            enforced=plan.enforced_auth,
            provider=plan.provider,
            strict=options.strict_responses,
            home=workspace.home,
        )
    except FatalAuthenticationError as error:
        unsigned = str(error) if plan.selected_auth else _NO_METHOD
    return Prepared(
        options=options,
        machine=machine,
        plan=plan,
        source=source,
        unsigned=unsigned,
        session_id=new_id if resumed is None else resumed.session_id,
        resumed=resumed,
    )

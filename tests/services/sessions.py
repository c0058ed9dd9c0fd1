"""Sessions for tests of parts that take one."""

from __future__ import annotations

from services.clock import VirtualClock
from services.environment import Environment
from services.ids import CountingIds, FixedRandom
from services.model.replay.generator import ReplayedContentGenerator
from services.session import Session
from services.settings import Settings
from services.state import ApprovalMode, CoreEvents, SessionState
from services.workspace import Workspace


def session_at(
    workspace: Workspace,
    settings: Settings | None = None,
    *,
    session_id: str = "s",
    state: SessionState | None = None,
    events: CoreEvents | None = None,
    clock: VirtualClock | None = None,
    environment: Environment | None = None,
) -> Session:
    """A session in `workspace`, of which everything not given is a stand-in."""
    events = CoreEvents() if events is None else events
    clock = VirtualClock() if clock is None else clock
    return Session(
        settings=settings or Settings(),
        state=state
        or SessionState(
            session_id=session_id,
            model="m",
            approval_mode=ApprovalMode.DEFAULT,
            interactive=False,
            events=events,
        ),
        events=events,
        clock=clock,
        ids=CountingIds(),
        rng=FixedRandom(),
        environment=environment or Environment.for_replay(home=str(workspace.home)),
        workspace=workspace,
        content_generator=ReplayedContentGenerator((), clock=clock),
    )

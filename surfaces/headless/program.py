"""`run_headless`: one prompt from the command line to an exit code.

Source: `packages/cli` `gemini.tsx`, `nonInteractiveCliAgentSession.ts`. Upstream's older loop,
which goes past the agent session, has no counterpart: whatever the flags say, a prompt goes
through `AgentProtocol`, and the flags choose the runtime behind it.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import Final, TextIO

from services.model.auth import AuthType, auth_type_from_environment
from services.model.errors import (
    FatalAuthenticationError,
    FatalCancellationError,
    FatalError,
    FatalInputError,
)
from services.state import ApprovalMode, CoreEvent, CoreEvents, UserFeedback
from surfaces.headless.conversation import Conversation
from surfaces.headless.engine import (
    check_chosen_runtime,
    open_engine,
    resume_session,
    session_to_resume,
)
from surfaces.headless.failures import CANCELLED, ReportedError
from surfaces.headless.interruption import Interruption
from surfaces.headless.machine import Machine, open_run_services
from surfaces.headless.metrics import SessionMetrics
from surfaces.headless.model import ModelSource, choose_model, open_model
from surfaces.headless.options import HeadlessOptions, Plan, plan_run
from surfaces.headless.piped_input import read_piped_input, with_piped_input
from surfaces.headless.presenters import OutputFormat, Presenter, Showing, make_presenter
from surfaces.headless.sessions import RecordedSession
from surfaces.headless.streams import OutputClosed, Streams

__all__ = ["run_headless"]

logger = logging.getLogger(__name__)

NO_INPUT: Final = (
    "No input provided via stdin. Input can be provided by piping data into parity agent or using "
    "the --prompt option."
)
RAW_OUTPUT: Final = (
    "[WARNING] --raw-output is enabled. Model output is not sanitized and may contain harmful ANSI "
    "sequences (e.g. for phishing or command injection). Use --accept-raw-output-risk to suppress "
    "this warning."
)
YOLO: Final = "YOLO mode is enabled. All tool calls will be automatically approved."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """All that is settled when a run begins."""

    options: HeadlessOptions
    machine: Machine
    plan: Plan
    resumed: RecordedSession | None
    session_id: str
    streams: Streams
    metrics: SessionMetrics
    presenter: Presenter


def run_headless(
    options: HeadlessOptions, *, stdin: TextIO | None, out: TextIO, err: TextIO
) -> int:
    """Do what `options` ask for, in the current folder; returns the exit code.

    0 done, or nobody reads the output any more; 1 failed; 41 no way to sign in; 42 unusable
    input; 52 unusable settings; 53 the turns ran out; 54 a tool failed for good; 130 interrupted.
    What the API refused ends with its HTTP status where output is JSON, as far as the system can
    tell it.
    """
    streams = Streams(out, err)
    machine = Machine.here()
    try:
        run = _settle(options, machine, streams)
        prompt = with_piped_input(read_piped_input(stdin) if stdin else "", options.prompt)
        if not prompt:
            streams.tell(NO_INPUT)
            return FatalInputError(NO_INPUT).exit_code
        return _finished(run, prompt)
    except FatalError as error:
        streams.tell(f"\x1b[31m{error}\x1b[0m" if machine.coloured else str(error))
        return error.exit_code
    except OutputClosed:
        return 0


def _settle(options: HeadlessOptions, machine: Machine, streams: Streams) -> _Run:
    """Everything that can be found wrong before there is a prompt.

    Raises:
        FatalError: something was.
    """
    variables = machine.environment.variables
    workspace, clock = machine.workspace, machine.clock
    plan = plan_run(options, root=workspace.root, home=workspace.home, variables=variables)
    if options.runtime is not None:
        check_chosen_runtime(options.runtime)
    resumed = session_to_resume(options.resume, machine, streams)
    session_id = machine.ids.uuid("session") if resumed is None else resumed.session_id
    metrics = SessionMetrics()
    showing = Showing(
        streams=streams,
        session_id=session_id,
        metrics=metrics,
        clock=clock,
        auth_type=auth_type_from_environment(variables) or AuthType.USE_GEMINI,
        colour=machine.coloured,
    )
    return _Run(
        options=options,
        machine=machine,
        plan=plan,
        resumed=resumed,
        session_id=session_id,
        streams=streams,
        metrics=metrics,
        presenter=make_presenter(plan.output, showing),
    )


def _finished(run: _Run, prompt: str) -> int:
    """Hold the conversation; returns the exit code.

    Raises:
        FatalInputError: a file that the model needs cannot be used.
        OutputClosed: nobody reads the output any more.
    """
    options, presenter = run.options, run.presenter
    try:
        source = choose_model(
            run.machine.environment.variables,
            fake=options.fake_responses,
            record=options.record_responses,
        )
    except FatalAuthenticationError as error:
        if run.plan.output is OutputFormat.JSON:
            presenter.failed(ReportedError(str(error)), error.exit_code)
        else:
            run.streams.tell(str(error))
        return error.exit_code
    _warn(run)
    interruption = Interruption(run.streams)
    try:
        asyncio.run(_converse(run, source, prompt, interruption))
        return 0
    except OutputClosed:
        raise
    except (asyncio.CancelledError, KeyboardInterrupt):
        return 0 if interruption.terminated else _failed(run, FatalCancellationError(CANCELLED))
    except Exception as error:
        # The border: whatever it was, people get a message.
        logger.debug("the run failed", exc_info=True)
        return _failed(run, error)


def _failed(run: _Run, error: Exception) -> int:
    run.presenter.failed(error)
    return run.presenter.exit_code(error)


async def _converse(
    run: _Run, source: ModelSource, prompt: str, interruption: Interruption
) -> None:
    """The session from its services to its end.

    A session's own hooks belong here: SessionStart, whose words come before the prompt, once the
    engine is open; SessionEnd when it is about to be left.
    """
    events = CoreEvents()
    events.subscribe(lambda event: _feedback(run.streams, event))
    with interruption.installed():
        async with (
            open_model(source, run.metrics, run.machine.clock) as generator,
            open_run_services(
                run.machine,
                run.plan,
                session_id=run.session_id,
                auth_type=source.auth_type,
                generator=generator,
                events=events,
            ) as services,
            open_engine(run.options.runtime, services) as runtime,
        ):
            run.metrics.watch(services.bus)
            if run.resumed is not None:
                await resume_session(runtime, run.resumed)
            run.presenter.begin(services.state.model)
            agent = runtime.agent()
            interruption.watch(agent)
            conversation = Conversation(
                run.presenter,
                streams=run.streams,
                metrics=run.metrics,
                state=services.state,
                raw_output=run.options.raw_output or run.options.accept_raw_output_risk,
            )
            await conversation.run(agent, prompt)
            await runtime.settled()


def _warn(run: _Run) -> None:
    options = run.options
    if run.plan.approval_mode is ApprovalMode.YOLO:
        run.streams.tell(YOLO)
    risky = options.raw_output and not options.accept_raw_output_risk
    if risky and run.plan.output is OutputFormat.TEXT:
        run.streams.tell(RAW_OUTPUT)


def _feedback(streams: Streams, event: CoreEvent) -> None:
    if isinstance(event, UserFeedback):
        streams.tell(f"[{event.severity.upper()}] {event.message}")

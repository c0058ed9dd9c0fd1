"""`run_headless`: one prompt from the command line to an exit code.

Source: `packages/cli` `gemini.tsx`, `nonInteractiveCliAgentSession.ts`. Upstream's older loop,
which goes past the agent session, has no counterpart: with any flags, a prompt goes
through `AgentProtocol`, and the flags choose the runtime behind it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TextIO

from runtimes.contract import Runtime
from services.bundle import Services
from services.interaction.interaction import Interaction
from services.model.auth import AuthType
from services.model.errors import (
    FatalAuthenticationError,
    FatalCancellationError,
    FatalError,
    FatalInputError,
)
from services.presentation.content import parts_to_content
from services.state import ApprovalMode, CoreEvent, CoreEvents, HookMessage, UserFeedback
from services.wire import Part
from surfaces.commands import CommandSession
from surfaces.headless.commands import Answered, run_command
from surfaces.headless.conversation import Conversation
from surfaces.headless.engine import (
    check_chosen_runtime,
    chosen_runtime,
    open_engine,
    resume_session,
)
from surfaces.headless.extensions import list_extensions
from surfaces.headless.failures import CANCELLED, ReportedError
from surfaces.headless.interruption import Interruption
from surfaces.headless.machine import Machine
from surfaces.headless.mentions import with_mentioned_files
from surfaces.headless.metrics import SessionMetrics
from surfaces.headless.model import ModelSource, auth_type_of, choose_model, open_model
from surfaces.headless.options import HeadlessOptions, OutputFormat
from surfaces.headless.piped_input import read_piped_input, with_piped_input
from surfaces.headless.planning import Plan, plan_run
from surfaces.headless.preferences import Preferences
from surfaces.headless.presenters import Presenter, Showing, make_presenter
from surfaces.headless.resuming import session_to_resume
from surfaces.headless.run_services import open_run_services, open_run_telemetry
from surfaces.headless.session_log import log_configuration, log_onboarding, log_prompt
from surfaces.headless.sessions import NoSessions, RecordedSession, SessionNotFound
from surfaces.headless.stored_sessions import delete_session, list_sessions
from surfaces.headless.streams import OutputClosed, Streams
from surfaces.headless.witness import RunFacts, RunWitness

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
    """The facts that are fixed when a run begins."""

    options: HeadlessOptions
    machine: Machine
    plan: Plan
    resumed: RecordedSession | None
    session_id: str
    streams: Streams
    metrics: SessionMetrics
    presenter: Presenter
    witness: RunWitness | None


class _NoInput(FatalInputError):
    """There is no prompt; reported alike in every output format."""


def run_headless(
    options: HeadlessOptions,
    *,
    stdin: TextIO | None,
    out: TextIO,
    err: TextIO,
    witness: RunWitness | None = None,
) -> int:
    """Do what `options` ask for, in the current folder; returns the exit code.

    0 done, or the reader of the output has left; 1 failed; 41 no way to sign in; 42 unusable
    input; 52 unusable settings; 53 the turns ran out; 54 a tool failed fatally; 130 interrupted.
    With JSON output, an error of the API ends with the lowest eight bits of its HTTP status.
    """
    streams = Streams(out, err)
    machine = Machine.here()
    try:
        if options.prompt_interactive is not None:
            raise FatalInputError(_not_interactive(stdin))
        if options.list_extensions:
            list_extensions(options, machine, streams)
            return 0
        if options.list_sessions or options.delete_session is not None:
            return _kept_sessions(options, machine, streams)
        run = _settle(options, machine, streams, witness)
        return _finished(run, stdin)
    except FatalError as error:
        streams.report(f"\x1b[31m{error}\x1b[0m" if machine.colours(streams) else str(error))
        return error.exit_code
    except OutputClosed:
        return 0


def _not_interactive(stdin: TextIO | None) -> str:
    if stdin is None or not stdin.isatty():
        return "Error: The --prompt-interactive flag cannot be used when input is piped from stdin."
    return "Error: An interactive session writes to a terminal; give the prompt with --prompt"


def _kept_sessions(options: HeadlessOptions, machine: Machine, streams: Streams) -> int:
    """List the folder's sessions, or delete one; returns the exit code.

    Raises:
        FatalInputError: the session to delete is not there, or cannot be deleted.
        OutputClosed: the reader of the output has left.
    """
    if options.list_sessions:
        list_sessions(machine.workspace, machine.clock, streams)
        return 0
    try:
        delete_session(machine.workspace, options.delete_session or "", machine.clock, streams)
    except (NoSessions, SessionNotFound, ValueError, OSError) as error:
        raise FatalInputError(f"Failed to delete session: {error}") from error
    return 0


def _settle(
    options: HeadlessOptions, machine: Machine, streams: Streams, witness: RunWitness | None
) -> _Run:
    """Prepare a run; find all errors that do not need the prompt.

    Raises:
        FatalError: an error was found.
    """
    variables = machine.environment.variables
    workspace, clock = machine.workspace, machine.clock
    plan = plan_run(options, root=workspace.root, home=workspace.home, variables=variables)
    if options.runtime is not None:
        check_chosen_runtime(options.runtime)
    resumed = session_to_resume(options, machine, streams)
    new_id = options.session_id or machine.ids.uuid("session")
    session_id = new_id if resumed is None else resumed.session_id
    metrics = SessionMetrics()
    showing = Showing(
        streams=streams,
        session_id=session_id,
        metrics=metrics,
        clock=clock,
        auth_type=_auth_type(plan, variables),
        colour=machine.colours(streams),
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
        witness=witness,
    )


def _auth_type(plan: Plan, variables: Mapping[str, str]) -> str:
    """How the session signs in, or the provider that it has instead of Gemini."""
    if plan.provider is not None:
        return str(plan.provider.provider)
    return auth_type_of(variables, plan.selected_auth) or AuthType.USE_GEMINI


def _finished(run: _Run, stdin: TextIO | None) -> int:
    """Hold the conversation; returns the exit code.

    Raises:
        FatalInputError: a file that the model needs cannot be used.
        OutputClosed: the reader of the output has left.
    """
    options, presenter = run.options, run.presenter
    try:
        source = choose_model(
            run.machine.environment.variables,
            fake=options.fake_responses,
            record=options.record_responses,
            selected=run.plan.selected_auth,
            enforced=run.plan.enforced_auth,
            provider=run.plan.provider,
            strict=options.strict_responses,
            home=run.machine.workspace.home,
        )
    except FatalAuthenticationError as error:
        if run.plan.output is OutputFormat.JSON:
            presenter.failed(ReportedError(str(error)), error.exit_code)
        else:
            run.streams.report(str(error))
        return error.exit_code
    if run.witness is not None:
        run.witness.begins(
            RunFacts(
                plan=run.plan,
                source=source,
                workspace=run.machine.workspace,
                resumed=run.resumed.file if run.resumed is not None else None,
            )
        )
    _warn(run)
    prompt = with_piped_input(read_piped_input(stdin) if stdin else "", options.prompt)
    interruption = Interruption(run.streams)
    try:
        asyncio.run(_converse(run, source, prompt, interruption))
        return 0
    except OutputClosed:
        raise
    except _NoInput as error:
        run.streams.report(str(error))
        return error.exit_code
    except (asyncio.CancelledError, KeyboardInterrupt):
        return 0 if interruption.terminated else _failed(run, FatalCancellationError(CANCELLED))
    except Exception as error:
        # The outermost layer: the user gets a message for any error.
        logger.debug("the run failed", exc_info=True)
        return _failed(run, error)


def _failed(run: _Run, error: Exception) -> int:
    run.presenter.failed(error)
    return run.presenter.exit_code(error)


async def _converse(
    run: _Run, source: ModelSource, prompt: str, interruption: Interruption
) -> None:
    """The session from its services to its end.

    Raises:
        _NoInput: neither the user nor a hook gave a prompt.
    """
    witness = run.witness
    events = CoreEvents()
    events.subscribe(lambda event: _feedback(run.streams, event))
    with (
        interruption.installed(),
        open_run_telemetry(
            run.machine,
            run.plan,
            session_id=run.session_id,
            auth_type=source.auth_type,
            runtime=chosen_runtime(run.options.runtime, run.plan.settings),
            warn=run.streams.report,
        ) as telemetry,
    ):
        async with (
            open_model(
                source,
                run.machine,
                model=run.plan.model,
                session_id=run.session_id,
                interaction=Interaction(),
                warn=run.streams.report,
            ) as model,
            open_run_services(
                run.machine,
                run.plan,
                session_id=run.session_id,
                auth_type=source.auth_type,
                generator=model.generator if witness is None else witness.model(model.generator),
                events=events,
                metrics=run.metrics,
                telemetry=telemetry,
                resumes=run.resumed is not None,
            ) as services,
        ):
            run.metrics.watch(services.bus)
            log_configuration(services, run.plan, source.auth_type)
            log_onboarding(services, model.user)
            if services.ide.enabled:
                await services.ide.connect()
            async with open_engine(run.options.runtime, services) as runtime:
                await _answer(run, runtime, services, prompt, source, interruption)


async def _answer(
    run: _Run,
    runtime: Runtime,
    services: Services,
    prompt: str,
    source: ModelSource,
    interruption: Interruption,
) -> None:
    """Send the prompt, and present the answer.

    Raises:
        _NoInput: neither the user nor a hook gave a prompt.
    """
    witness, presenter = run.witness, run.presenter
    started = services.session_hooks.started
    if started.message:
        run.streams.report(started.message)
    asked, prompt = prompt, started.before(prompt)
    if not prompt:
        raise _NoInput(NO_INPUT)
    log_prompt(services.events, prompt, run.session_id, source.auth_type)
    if run.resumed is not None:
        await resume_session(runtime, run.resumed)
    presenter.begin(services.state.model)
    command = await run_command(asked, _command_session(run, runtime, services, source), presenter)
    if isinstance(command, Answered):
        await runtime.settled()
        return
    if command is None:
        content = await with_mentioned_files(prompt, services)
    else:
        content = parts_to_content([*_text_parts(started.before("")), *command])
    if witness is not None:
        witness.sends(prompt, content)
    agent = runtime.agent()
    interruption.watch(agent)
    conversation = Conversation(
        presenter,
        streams=run.streams,
        metrics=run.metrics,
        state=services.state,
        raw_output=run.options.raw_output or run.options.accept_raw_output_risk,
        saw=None if witness is None else witness.saw,
    )
    await conversation.run(agent, prompt, content)
    await runtime.settled()


def _command_session(
    run: _Run, runtime: Runtime, services: Services, source: ModelSource
) -> CommandSession:
    return CommandSession(
        runtime=runtime,
        services=services,
        settings=run.plan.document,
        auth_type=source.auth_type,
        runtime_name=chosen_runtime(run.options.runtime, run.plan.settings),
        metrics=run.metrics.stats,
        started_ms=services.clock.now_ms(),
        preferences=Preferences(
            run.machine.workspace, run.plan.document, run.options.settings_file
        ),
    )


def _text_parts(text: str) -> list[Part]:
    return [{"text": text}] if text else []


def _warn(run: _Run) -> None:
    options = run.options
    for warning in run.plan.settings.warnings:
        run.streams.report(f"[WARNING] {warning}")
    if run.plan.approval_mode is ApprovalMode.YOLO:
        run.streams.report(YOLO)
    risky = options.raw_output and not options.accept_raw_output_risk
    if risky and run.plan.output is OutputFormat.TEXT:
        run.streams.report(RAW_OUTPUT)


def _feedback(streams: Streams, event: CoreEvent) -> None:
    if isinstance(event, UserFeedback):
        streams.report(f"[{event.severity.upper()}] {event.message}")
    elif isinstance(event, HookMessage) and not event.suppressed:
        streams.report(f"Hook system message: {event.message}")

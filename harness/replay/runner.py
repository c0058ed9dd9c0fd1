"""`run_cassette`: replays one cassette in one runtime and returns an `Observation`."""

from __future__ import annotations

import asyncio
import logging
import platform
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from harness.cassette.format import Cassette, During
from harness.cassette.settings import INCLUDE_DIRECTORIES
from harness.errors import ReplayFailure
from harness.replay.answers import ScriptedUser
from harness.replay.client import Stage, Surface, Unplayable
from harness.replay.confining import Cell
from harness.replay.driver import Driver
from harness.replay.envelope import Envelope, changes, folder_state, open_envelope, write_files
from harness.replay.handover import inspected, joint_traits, script_halves
from harness.replay.http_server import HttpServer, open_http_server
from harness.replay.machine import machine_suffices
from harness.replay.models import Interposed, ModelSource, scripted_model
from harness.replay.observation import Observation, Screen
from harness.replay.pace import Pace, paced
from harness.replay.recordings import latest_recording, recordings
from harness.replay.request_log import RequestLog
from harness.replay.settings import missing_features
from harness.replay.surfaces import DIRECT, surface_of
from harness.replay.theirs import (
    custom_items,
    ended_task,
    error_place,
    judged_as_theirs,
    kept_tasks,
    left_processes,
    packages_of,
    stack_place,
    waiting_place,
)
from harness.replay.unfinished import unfinished_work
from harness.replay.witness import Witness, in_stable_order
from harness.sides import engines_of, provider_name
from harness.versions import distributions
from runtimes.contract import (
    CommandFailed,
    ReportsVersions,
    Runtime,
    RuntimeBroken,
    RuntimeTraits,
    RuntimeUnavailable,
    UnusableRuntime,
)
from runtimes.project import current_project
from runtimes.registry import open_runtime, runtime_factory
from services.bundle import Services
from services.clock import VIRTUAL_EPOCH_MS, VirtualClock, virtual_loop
from services.compose import ServicesSetup, open_services
from services.exhaustion import notice
from services.hooks.session import StartSource
from services.ids import CountingProcessIds
from services.interaction.interaction import Interaction
from services.model.generator import ModelRequest
from services.model.replay.generator import ObservedRequest
from services.settings import settings_from_parameters
from services.settings.telemetry import TelemetrySettings
from services.state import CoreEvents
from services.telemetry.contract import Telemetry, TelemetrySeams
from services.telemetry.opening import open_telemetry
from services.wire import Content, JsonObject, js_json

__all__ = ["observe_cassette", "run_cassette"]

logger = logging.getLogger(__name__)

SESSION_SCOPE: Final = "session"
_NOT_ITS_DOING: Final = (RuntimeBroken, RuntimeUnavailable, MemoryError)
"""Errors that show nothing about the behaviour of a runtime."""
_UNMEASURED: Final = TelemetrySettings()


def run_cassette(
    cassette: Cassette,
    runtime: str,
    *,
    deadline_s: float = 60,
    model: ModelSource = scripted_model,
    between: Interposed | None = None,
    telemetry: TelemetrySettings = _UNMEASURED,
) -> Observation:
    """Replay `cassette` in a runtime and return the observation.

    A run that fails, stalls or passes its real deadline is an observation, too; see its `error`.
    `unfinished` names the work that the run left behind.

    Args:
        cassette: What to replay.
        runtime: A runtime's name, or two for a handover: `adk+legacy`.
        deadline_s: The real time that the run may take.
        model: Makes the run's model.
        between: Wraps the run's model and tools.
        telemetry: Whether the run is measured, whatever the cassette's settings say.

    Raises:
        TelemetryError: the telemetry settings cannot be met.
        ReplayFailure: the machine lacks something.
        UnknownRuntime: there is no runtime of that name.
        UnusableRuntime: its package is broken.
        KeyboardInterrupt: from the user; children have ended and the run's folder is gone.
    """
    for engine in engines_of(runtime):
        runtime_factory(engine)

    async def observe() -> Observation:
        left.watch_generators()
        return await observe_cassette(
            cassette,
            runtime,
            deadline_s=deadline_s,
            model=model,
            between=between,
            telemetry=telemetry,
        )

    theirs = packages_of(runtime)
    with (
        left_processes() if theirs else nullcontext(list[str]()) as processes,
        asyncio.Runner(loop_factory=virtual_loop) as runner,
        unfinished_work(runner.get_loop()) as left,
    ):
        with kept_tasks(runner.get_loop(), theirs) if theirs else nullcontext():
            seen = runner.run(observe())
        left.settle()
    if theirs:
        return judged_as_theirs(seen, [*left.sentences, *processes])
    cut_off = seen.blocker is not None
    return seen if cut_off else replace(seen, unfinished=left.sentences)


async def observe_cassette(
    cassette: Cassette,
    runtime: str,
    *,
    deadline_s: float,
    model: ModelSource = scripted_model,
    between: Interposed | None = None,
    telemetry: TelemetrySettings = _UNMEASURED,
) -> Observation:
    """Do the same as `run_cassette`, inside a running virtual loop, which may run several."""
    engines = engines_of(runtime)
    traits = joint_traits(engines)
    missing = missing_features(cassette, traits.features)
    surface = surface_of(runtime)
    refusal = surface.refusal(cassette)
    if refusal is not None:
        raise Unplayable(surface.name, refusal)
    provider = provider_name(runtime)
    if provider is not None:
        from harness.replay.provider_model import over_provider  # imports SDKs

        model = over_provider(model, provider, cassette)
    cell = Cell(cassette)
    if cell.confines and not traits.confinable:
        problem = f"{runtime} cannot be confined, and the cassette is not trusted"
        raise ReplayFailure(cassette.name, problem, "give --trust if you trust the cassette")
    with open_envelope() as envelope:
        paths = envelope.paths(cassette.root, traits.folders)
        enough = machine_suffices(runtime, envelope.folder, paths.mask_text)
        async with open_http_server(cassette.http, closed=cell.confines) as server:
            with enough, cell.closed(envelope.folder, engines):
                run = _Run(
                    cassette, runtime, envelope, model, traits, cell, surface, server, between
                )
                if missing:
                    run.error = f"not supported by this build: {', '.join(missing)}"
                else:
                    with open_telemetry(telemetry, run.telemetry_seams()) as run.telemetry:
                        await _play(run, envelope.clock, deadline_s)
                return run.observation()


async def _play(run: _Run, clock: VirtualClock, deadline_s: float) -> None:
    """Play the run and record how it ends; only an interrupt from the user is raised."""
    task = asyncio.current_task()
    assert task is not None

    def stall() -> None:
        run.stall()
        task.cancel()

    clock.on_stall = stall
    clock.watch()
    try:
        with run.cell.ending(task):
            async with asyncio.timeout(deadline_s):
                await run.play()
    except TimeoutError:
        run.stalled = run.deadline_passed = True
        run.error = f"the run passed its deadline of {deadline_s:g} s"
    except asyncio.CancelledError:
        if not (run.stalled or run.cell.refusal) or task.uncancel() > 0:
            raise
        run.error = run.cell.refusal or run.error
    except Exception as error:  # noqa: BLE001 - any error of a runtime is an observation
        notice(error)
        leaves = list(_leaves(error))
        for leaf in leaves:
            if isinstance(leaf, UnusableRuntime | Unplayable):
                raise leaf from None
        run.broken = any(isinstance(leaf, _NOT_ITS_DOING) for leaf in leaves)
        run.error = "; ".join(dict.fromkeys(map(_in_words, leaves)))
        run.error_place = error_place(leaves, run.theirs)
    finally:
        clock.unwatch()
    if run.witness.broke is not None:
        run.broken, run.error, run.error_place = True, run.witness.broke, ""
        run.stalled = False


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _of_project() -> dict[str, Any]:
    """Return what the project of this folder says about every observation."""
    project = current_project()
    return {} if project is None else {"left_out": project.leave_out, "vary": project.vary}


def _in_words(error: BaseException) -> str:
    if isinstance(error, ReplayFailure | CommandFailed | RuntimeBroken | RuntimeUnavailable):
        return str(error)
    return f"{type(error).__name__}: {error}"


class _Run:
    """One run's parts, with their observations so far."""

    def __init__(
        self,
        cassette: Cassette,
        runtime: str,
        envelope: Envelope,
        model: ModelSource,
        traits: RuntimeTraits,
        cell: Cell,
        surface: Surface,
        server: HttpServer,
        between: Interposed | None = None,
    ) -> None:
        self.cell = cell
        workspace = envelope.workspace
        self._cassette = cassette.bind(envelope.placeholders(cassette.root, server.port))
        self._server = server
        server.steps = self._cassette.http
        self.runtime = runtime
        self._traits = traits
        self.theirs = packages_of(runtime)
        """The packages of third parties' runtimes on this side."""
        self.engine: Runtime | None = None
        self._custom: Mapping[str, Sequence[JsonObject]] = {}
        self._between = between
        self._versions: Mapping[str, str] = {}
        self._envelope = envelope
        self._paths = envelope.paths(cassette.root, {**traits.folders, **server.masks})
        cell.watch(self._paths, self._moment)
        self._requests = RequestLog(self._paths)
        place = partial(stack_place, self.theirs) if self.theirs else None
        self.witness = Witness(envelope.clock.now_ms, place)
        self._user = ScriptedUser(self._cassette.answers, self.witness, envelope.clock)
        self._surface = surface
        self._pace = Pace(envelope.clock)
        self._screens: list[Screen] = []
        self._wire: list[JsonObject] = []
        self._transcript: list[Content] = []
        self._driver: Driver | None = None
        self._session_id = envelope.ids.uuid(SESSION_SCOPE)
        self._process_ids = envelope.process_ids
        self.telemetry: Telemetry | None = None
        self.error: str | None = None
        self.error_place = ""
        self.stalled = False
        self.deadline_passed = False
        self.broken = False
        if between is not None:
            model = between.model(model)
        if surface is not DIRECT:
            model = paced(model, self._pace)
        self._generator = model(self._cassette, envelope.clock, self._on_request, self._on_chunk)
        files, home_files = self._cassette.files, self._cassette.home_files
        write_files(workspace.root, files, followed_by=len(home_files))
        write_files(workspace.home, home_files)
        for folder in self._cassette.session.settings.get(INCLUDE_DIRECTORIES, ()):
            workspace.add_folder(workspace.root / folder)
        self._before = folder_state(workspace.root)

    def stall(self) -> None:
        """Record that nothing is left to happen before the stream's end, and why."""
        self.stalled = True
        self.error = "the run stalled: the stream had not ended, and nothing was left to happen"
        if self.theirs and (error := ended_task()) is not None:
            self.error = f"its stream never ended, since a task of it raised {_in_words(error)}"
            self.error_place = error_place([error], self.theirs)
        elif self.theirs:
            self.error_place = waiting_place(self.engine, self.theirs)

    async def play(self) -> None:
        """Open each runtime in turn, play its part of the script, read the transcript."""
        engines = engines_of(self.runtime)
        if len(engines) == 1:
            await self._leg(engines[0], self._cassette)
            return
        halves = script_halves(self._cassette.script)
        if halves is None or len(engines) != 2:
            problem = f"{self.runtime!r} needs a script with two prompts to hand over between"
            raise ReplayFailure(self._cassette.name, problem, "name one runtime alone")
        first, second = (replace(self._cassette, script=half) for half in halves)
        waiting = await self._leg(engines[0], first)
        self._session_id = self._envelope.ids.uuid(SESSION_SCOPE)
        self._process_ids = CountingProcessIds()
        begun = latest_recording(self._envelope.workspace.project_temp / "chats")
        await self._leg(engines[1], replace(second, during=waiting, resume=None), begun)

    async def _leg(
        self, engine: str, cassette: Cassette, begun: Path | None = None
    ) -> tuple[During, ...]:
        """Play one engine's part; return the `during` actions that have not happened.

        It resumes the recording `begun`, or that of the cassette. The latter is written when the
        engine is open, since the engine's own new recording may have the same name.
        """
        resumes = begun is not None or cassette.resume is not None
        events = CoreEvents()
        stage = Stage(
            cassette=cassette,
            envelope=self._envelope,
            session_id=self._session_id,
            events=events,
            witness=self.witness,
            user=self._user,
            pace=self._pace,
            screens=self._screens,
            wire=self._wire,
            unused_steps=self._generator.unused_steps,
            open_services=partial(self._open_services, resumes, events),
            open_runtime=partial(self._open_runtime, engine),
        )
        clock = self._envelope.clock
        async with self._surface.playing(stage) as played:
            driver = Driver(cassette, played.client, self.witness, played.group, clock)
            self._driver = driver
            self._server.on_request = driver.on_http_request
            try:
                await driver.play(begun if cassette.resume is None else self._resumed())
            finally:
                self._transcript = played.runtime.transcript()
                self._custom = custom_items(played.runtime, engine, self._traits.custom)
        return driver.leave()

    @asynccontextmanager
    async def _open_services(
        self,
        resumes: bool,
        events: CoreEvents,
        interaction: Interaction,
        adapted: Callable[[ServicesSetup], ServicesSetup] = lambda setup: setup,
    ) -> AsyncIterator[Services]:
        """Open the session's services, with a record of what they report."""
        setup = adapted(replace(self._setup(resumes), events=events, interaction=interaction))
        # Opening reports to the user, too. An engine with words of its own opens by itself: its
        # user does not see what our services report beside it.
        own = self._traits.words == RuntimeTraits().words
        # For the same reason only one of both asks remote agents, which may be scripted.
        setup = replace(setup, asks_remote_agents=own)
        if own:
            setup.events.subscribe(self.witness.on_core_event)
        async with open_services(setup) as services:
            if not own:
                services.events.subscribe(self.witness.on_core_event)
            self.witness.watch(services)
            if self._between is not None:
                self._between.watch(services)
            yield services

    @asynccontextmanager
    async def _open_runtime(self, engine: str, services: Services) -> AsyncIterator[Runtime]:
        async with open_runtime(inspected(engine), services) as runtime:
            if isinstance(runtime, ReportsVersions):
                self._versions = runtime.versions
            self.engine = runtime
            yield runtime

    def observation(self) -> Observation:
        """Return the observation so far."""
        witness, server = self.witness, self._server
        workspace, clock = self._envelope.workspace, self._envelope.clock
        return Observation(
            name=self._cassette.name,
            runtime=self.runtime,
            paths=self._paths,
            words=self._traits.words,
            channels=self._traits.channels,
            **_of_project(),
            versions=self._what_ran(),
            events=witness.events,
            transcript=self._transcript,
            requests=self._requests.requests,
            recording=recordings(workspace.home / ".gemini"),
            tool_states=witness.tool_states,
            progress=witness.progress,
            retries=witness.retries,
            side_events=in_stable_order(witness.side_events),
            order=witness.order,
            times=witness.times,
            hooks=witness.hooks,
            raced=[(at - VIRTUAL_EPOCH_MS, ms) for at, ms in clock.advanced_while_held],
            children=witness.children,
            screens=self._screens,
            wire=self._wire,
            threads=witness.threads,
            workspace_changes=changes(self._before, folder_state(workspace.root)),
            custom={**self._custom, **server.observed()},
            notes=[*(n.message for n in self._generator.notes), *witness.notes, *server.notes],
            unused_steps=self._generator.unused_steps(),
            error=self.error,
            error_place=self.error_place,
            stalled=self.stalled,
            deadline_passed=self.deadline_passed,
            broken=self.broken,
            refused=self.cell.refusal,
        )

    def _moment(self) -> str:
        """Return the current action as a key of the cassette."""
        place = "session and files" if self._driver is None else self._driver.place
        asked = len(self._requests.requests)
        return f"{place}, after model request {asked - 1}" if asked else place

    def _what_ran(self) -> dict[str, str]:
        if self._versions:
            return dict(self._versions)
        return {"python": platform.python_version(), **distributions()}

    def _resumed(self) -> Path | None:
        """Write the chat recording that the cassette resumes from, if any; return its path."""
        resume = self._cassette.resume
        if resume is None:
            return None
        folder = self._envelope.workspace.project_temp / "chats"
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / resume.name
        lines = (js_json(record) for record in resume.records)
        file.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        return file

    def _setup(self, resumes: bool) -> ServicesSetup:
        session = self._cassette.session
        interactive = session.interactive or self._surface.interactive
        return replace(
            self._envelope.setup(session.model, self._generator, session_id=self._session_id),
            approval_mode=session.approval_mode,
            settings=settings_from_parameters(session.settings, interactive=interactive),
            process_ids=self._process_ids,
            start=StartSource.RESUME if resumes else StartSource.STARTUP,
            telemetry=self.telemetry,
            notify_hooks=self.witness.on_hook,
            around_tools=None if self._between is None else self._between.around_tools,
        )

    def telemetry_seams(self) -> TelemetrySeams:
        """Return the parts of this run that telemetry needs."""
        envelope = self._envelope
        return TelemetrySeams(
            clock=envelope.clock,
            ids=envelope.ids,
            session_id=self._session_id,
            auth_type="gemini-api-key",
            warn=logger.warning,
            runtime=self.runtime,
        )

    def _on_request(self, observed: ObservedRequest) -> None:
        if isinstance(observed.request, ModelRequest):
            self.witness.on_request()
            self._requests.observe(str(observed.method), observed.request)
        if self._driver is not None:
            self._driver.on_request(observed.index)

    def _on_chunk(self, request: int, chunk: int) -> None:
        if self._driver is not None:
            self._driver.on_chunk(request, chunk)

"""The composition root of the services: from seams and settings to a `Services` bundle.

Each package builds its own part; this module calls the builders in order.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path

from services.background import BackgroundTasks, background_tasks
from services.bundle import Services
from services.chat_recording import ChatRecording
from services.checkpoints import CheckpointFiles, Checkpoints, ShadowRepository
from services.clock import Clock
from services.compression.service import ChatCompressionService
from services.environment import Environment
from services.extensions.live import Contributions, SessionExtensions, SessionParts
from services.extensions.store import ExtensionStore
from services.folder_trust import settled_trust
from services.hooks.events import HookNotice
from services.hooks.session import SessionHooks, StartSource
from services.hooks.system import open_hooks
from services.ide.companion import IdeCompanion
from services.ide.reviews import ChangeReviews
from services.ids import IdSource, ProcessIds, RandomSource
from services.interaction.asides import Asides
from services.interaction.interaction import Interaction
from services.loop_detection.detector import LoopDetector
from services.mcp.environment import sanitized
from services.mcp.wiring import SessionServers, has_servers
from services.message_bus import MessageBus
from services.model.generator import ContentGenerator
from services.model.metering import ModelCallObserver, metered
from services.output_masking import ToolOutputMaskingService
from services.plans import with_plans
from services.policy.opening import open_policy
from services.policy.safety import ConversationContext
from services.policy.tool_names import mcp_tool_warnings
from services.prompts import Prompts
from services.routing.opening import SessionModels, open_models
from services.scheduler.execution import RunCall
from services.scheduler.scheduler import ToolScheduler
from services.scheduler.style import BatchStyle
from services.scheduler.truncation import OutputLimiter
from services.session import Session
from services.settings import Settings
from services.skills.manager import SkillManager
from services.state import ApprovalMode, CoreEvents, SessionState
from services.steering import InjectionService
from services.subagents.opening import agent_tool, agents_in_prompt, open_agents
from services.subagents.registry import AgentRegistry
from services.subagents.subagents import Subagents
from services.telemetry.contract import Telemetry
from services.threads import ThreadedContentGenerator, ThreadPaths, follow_calls
from services.tool_distillation import ToolDistillation
from services.tools.builtin import register_builtin_tools, reload_skills
from services.tools.contract import as_server_tool
from services.tools.opening import open_host
from services.tools.project_memory import ProjectMemory
from services.tools.registry import Named, ToolRegistry
from services.tools.text_files import TextFiles
from services.wire import Content, JsonObject
from services.workspace import Workspace

__all__ = ["ServicesSetup", "open_services"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServicesSetup:
    """The seams and settings of one session."""

    session_id: str
    model: str
    workspace: Workspace
    clock: Clock
    ids: IdSource
    rng: RandomSource
    process_ids: ProcessIds
    environment: Environment
    content_generator: ContentGenerator
    approval_mode: ApprovalMode = ApprovalMode.DEFAULT
    settings: Settings = field(default_factory=Settings)
    auth_type: str = "gemini-api-key"
    """Determines the accessible models. Source: core `config/config.ts`, `refreshAuth`."""
    events: CoreEvents = field(default_factory=CoreEvents)
    interaction: Interaction = field(default_factory=Interaction)
    """Asks the user; a surface registers its handlers here, before the session opens."""
    system_policies: Path | None = None
    """The folder of the administrator's policy files; a replay has none."""
    version: str = "unknown"
    """Of the product, as MCP servers receive it. Source: core `config/config.ts`,
    `clientVersion`."""
    model_observers: tuple[ModelCallObserver, ...] = ()
    """Further observers of model calls."""
    telemetry: Telemetry | None = None
    """Observes the session; `None` where telemetry is off."""
    around_tools: Callable[[RunCall], RunCall] | None = None
    """Wraps each run of a call, in children too, outside of its measurement."""
    batch_style: BatchStyle = field(default_factory=BatchStyle)
    """How the calls of a batch run."""
    text_files: TextFiles = field(default_factory=TextFiles)
    """Where the tools that edit files read and write them."""
    asks_remote_agents: bool = True
    """Whether this session asks remote agents; not where another program runs the session."""
    start: StartSource = StartSource.STARTUP
    """How the session begins, as its hooks are to know it."""
    notify_hooks: Callable[[HookNotice], None] = lambda _: None
    """Receives hooks' starts, ends and messages."""
    only_extensions: Sequence[str] | None = ("none",)
    """The names of the only extensions of the session; `none` alone for none, `None` for all that
    the user has enabled."""


class _Parts:
    """The parts of one session. Each is built after the parts that it needs."""

    def __init__(self, setup: ServicesSetup) -> None:
        self.store = store = _extensions(setup)
        self.brought = brought = Contributions(lambda: store.active)
        plans = brought.plan_directory()
        if plans is not None and setup.settings.plan_directory is None:
            setup = replace(setup, settings=replace(setup.settings, plan_directory=plans))
        self._setup = setup
        threads, telemetry = ThreadPaths(), setup.telemetry
        self.session = _session(setup, threads)
        settings, state = setup.settings, self.session.state
        self.models = open_models(
            self.session,
            auth_type=setup.auth_type,
            observer=None if telemetry is None else telemetry.fell_back,
        )
        self.servers = SessionServers()
        self.subagents = Subagents(threads)
        self.tools = ToolRegistry(
            settings,
            state,
            plans_folder=lambda: str(self.session.plans()),
            excluded_too=brought.excluded_tools,
        )
        self.memory = memory = ProjectMemory(
            self.session.workspace,
            trusted=settings.folder_trusted,
            extensions=brought.context_files,
        )
        self.skills = skills = SkillManager(self.session.events, brought.skills)
        self.steering = InjectionService(
            self.session.clock,
            steering=settings.model_steering,
            interactive=settings.interactive,
            events=self.session.events,
        )
        self.prompts = Prompts(
            workspace=self.session.workspace,
            state=state,
            environment=self.session.environment,
            clock=self.session.clock,
            server_instructions=self.servers.instructions,
            memory=memory,
            skills=skills,
            agents=partial(agents_in_prompt, self.subagents, self.tools),
            settings=settings,
        )
        self.host = open_host(
            self.session,
            self.models,
            process_ids=setup.process_ids,
            skills=skills,
            memory=memory,
            steering=self.steering,
            system_instruction=self.prompts.system_instruction,
            text_files=setup.text_files,
        )
        self.context = ConversationContext(self.session.workspace)
        self.checkpoints = self._checkpoints()
        self.policy = open_policy(
            self.session,
            context=self.context,
            judge=self.models.configs.access.default_flash,
            declarations=lambda: self.tools.declarations(state.active_model),
            system_folder=setup.system_policies,
        )
        self.bus = MessageBus(self.policy)
        follow_calls(threads, self.bus)

    def _checkpoints(self) -> Checkpoints | None:
        session, workspace, context = self.session, self.session.workspace, self.context
        if not session.settings.checkpointing:
            return None
        repository = ShadowRepository(workspace, session.environment, session.clock)
        files = CheckpointFiles(workspace.checkpoints)
        return Checkpoints(repository, files, lambda: context.history(), session.clock)

    def connect(self) -> None:
        """Register the tools, and build what runs their calls."""
        setup, telemetry = self._setup, self._setup.telemetry
        settings = setup.settings
        register_builtin_tools(
            self.tools,
            self.host,
            self.servers if has_servers(settings) or setup.only_extensions is None else None,
            agents=agent_tool(
                self.session,
                self.subagents,
                host=self.host,
                bus=self.bus,
                steering=self.steering,
                measured=None if telemetry is None else telemetry.subagent,
            ),
        )
        self.tools.set_exclusion(
            lambda tool: self.policy.statically_excluded(
                tool.name, annotations=_policy_annotations(tool)
            )
        )
        distillation = ToolDistillation(
            self.session, self.models.utility, self.prompts.system_instruction
        )
        self.limiter = OutputLimiter(self.session, distillation)
        self.hooks = open_hooks(
            self.session, notify=setup.notify_hooks, extensions=self.brought.hooks
        )
        self.scheduler = ToolScheduler(
            self.session,
            registry=self.tools,
            policy=self.policy,
            bus=self.bus,
            limiter=self.limiter,
            hooks=self.hooks,
            around=_around(setup),
            checkpoint=None if self.checkpoints is None else self.checkpoints.save,
            style=setup.batch_style,
        )
        if telemetry is not None:
            telemetry.watch(self.session.events, self.bus, setup.approval_mode)

    def reload_skills(self, disabled: Sequence[str] | None = None) -> None:
        """Find the skills anew, with other names switched off if given."""
        reload_skills(self.tools, self.host, disabled)

    def extensions(self, agents: AgentRegistry) -> SessionExtensions:
        """The extensions of the session, which change its other parts."""
        parts = SessionParts(
            memory=self.memory,
            hooks=self.hooks,
            agents=agents,
            servers=self.servers,
            rules=self.policy.book,
            reload_skills=self.reload_skills,
        )
        return SessionExtensions(self.store, parts)

    def bundle(self, asides: Asides, ide: IdeCompanion, extensions: SessionExtensions) -> Services:
        """The services, which a runtime receives."""
        setup = self._setup
        return Services(
            **{part.name: getattr(self.session, part.name) for part in fields(self.session)},
            models=self.models.configs,
            router=self.models.router,
            availability=self.models.availability,
            tools=self.tools,
            policy=self.policy,
            bus=self.bus,
            scheduler=self.scheduler,
            prompts=self.prompts,
            utility=self.models.utility,
            compression=ChatCompressionService(
                self.session,
                model=self.models.utility,
                session_context=self.prompts.session_context,
                max_chars=self.limiter.threshold,
                hooks=self.hooks,
            ),
            masking=ToolOutputMaskingService(self.session),
            conversation_context=self.context,
            hooks=self.hooks,
            session_hooks=SessionHooks(
                self.hooks, source=setup.start, interactive=setup.settings.interactive
            ),
            subagents=self.subagents,
            steering=self.steering,
            asides=asides,
            new_loop_detector=partial(_loop_detector, self.session, self.models),
            new_recording=partial(
                ChatRecording,
                self.session,
                find_tool=self.tools.get,
            ),
            skills=self.skills,
            reload_skills=self.reload_skills,
            memory=self.memory,
            extensions=extensions,
            ide=ide,
            servers=self.servers,
            agent_servers=self.servers.discover_for_agent,
            version=setup.version,
            telemetry=setup.telemetry,
            checkpoints=self.checkpoints,
            background=self.host.background_history,
        )


@asynccontextmanager
async def open_services(setup: ServicesSetup) -> AsyncIterator[Services]:
    """Build the services of one session; leaving ends what its tools left running.

    Raises:
        ValueError: a setting has no meaning; the message names it. Or checkpoints are switched on,
            and git does not work.
    """
    parts = _Parts(await _with_trust(setup))
    parts.connect()
    if parts.checkpoints is not None:
        await parts.checkpoints.open()
    async with AsyncExitStack() as stack:
        tasks = await stack.enter_async_context(background_tasks())
        stack.push_async_callback(tasks.end, 0)
        asides = Asides(parts.session.interaction, tasks)
        ide = _companion(setup, tasks)
        stack.push_async_callback(ide.close)
        ChangeReviews(ide, parts.bus, tasks)
        stack.push_async_callback(parts.host.close)
        registry = await stack.enter_async_context(
            open_agents(
                parts.session,
                parts.subagents,
                host=parts.host,
                tools=parts.tools,
                models=parts.models.configs,
                policy=parts.policy,
                prompts=parts.prompts,
                extensions=parts.brought.agents,
                asks_remote=setup.asks_remote_agents,
            )
        )
        extensions = parts.extensions(registry)
        await stack.enter_async_context(
            parts.servers.started(
                parts.session,
                host=parts.host,
                tools=parts.tools,
                version=setup.version,
                trusted=lambda: registry.folder_trusted,
                policy_warnings=lambda server, names: mcp_tool_warnings(
                    server, names, parts.policy.rules
                ),
                on_progress=parts.scheduler.note_progress,
                extensions=extensions.open if parts.store.active else None,
            )
        )
        yield parts.bundle(asides, ide, extensions)


async def _with_trust(setup: ServicesSetup) -> ServicesSetup:
    """The setup, with the user's decision about the folder: one that is not trusted asks more."""
    settings = await settled_trust(
        setup.settings, setup.workspace, setup.interaction, setup.environment.variables
    )
    mode = setup.approval_mode
    if not settings.folder_trusted and settings is not setup.settings:
        mode = mode if mode is ApprovalMode.PLAN else ApprovalMode.DEFAULT
    return replace(setup, settings=settings, approval_mode=mode)


def _extensions(setup: ServicesSetup) -> ExtensionStore:
    """The installed extensions, read from the disk."""
    store = ExtensionStore(
        setup.workspace,
        setup.settings,
        setup.environment,
        setup.clock,
        setup.events,
        only=setup.only_extensions,
    )
    store.load()
    return store


def _companion(setup: ServicesSetup, tasks: BackgroundTasks) -> IdeCompanion:
    return IdeCompanion(
        enabled=setup.settings.ide_mode,
        environment=setup.environment,
        folder=setup.workspace.root,
        clock=setup.clock,
        tasks=tasks,
        version=setup.version,
    )


def _session(setup: ServicesSetup, threads: ThreadPaths) -> Session:
    """The session, with its observers at the model seam, and each request on its thread."""
    own = () if setup.telemetry is None else setup.telemetry.model_calls
    observed = metered(setup.content_generator, (*setup.model_observers, *own), setup.clock)
    abreast = not setup.settings.adk.agent_session_subagent_enabled
    return Session(
        settings=setup.settings,
        state=SessionState(
            session_id=setup.session_id,
            model=setup.model,
            approval_mode=setup.approval_mode,
            interactive=setup.settings.interactive,
            events=setup.events,
            folder_trusted=setup.settings.folder_trusted,
        ),
        events=setup.events,
        clock=setup.clock,
        ids=setup.ids,
        rng=setup.rng,
        environment=_environment(setup),
        workspace=with_plans(setup.workspace, setup.session_id, setup.settings, setup.events),
        content_generator=ThreadedContentGenerator(observed, threads, abreast=abreast),
        interaction=setup.interaction,
    )


def _environment(setup: ServicesSetup) -> Environment:
    settings, environment = setup.settings, setup.environment
    if not settings.redact_environment_variables:
        return environment
    clean = sanitized(
        environment.child_variables,
        allowed=settings.allowed_environment_variables,
        blocked=settings.blocked_environment_variables,
    )
    return replace(environment, child_variables=clean)


def _around(setup: ServicesSetup) -> Callable[[RunCall], RunCall] | None:
    """What wraps each run of a call: its measurement, then what the setup asks for."""
    wrappers: list[Callable[[RunCall], RunCall]] = []
    wrappers += [] if setup.telemetry is None else [setup.telemetry.tools]
    wrappers += [] if setup.around_tools is None else [setup.around_tools]
    if not wrappers:
        return None

    def around(run: RunCall) -> RunCall:
        for wrap in wrappers:
            run = wrap(run)
        return run

    return around


def _loop_detector(
    session: Session, models: SessionModels, history: Callable[[], Sequence[Content]]
) -> LoopDetector:
    return LoopDetector(
        model=models.utility,
        models=models.configs,
        history=history,
        disabled=session.settings.disable_loop_detection,
        is_available=lambda model: models.availability.health.snapshot(model).available,
        log=session.state.log,
    )


def _policy_annotations(tool: Named) -> JsonObject | None:
    of_server = as_server_tool(tool)
    return None if of_server is None else of_server.policy_annotations

"""The composition root of the services: from seams and settings to a `Services` bundle."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from services.availability.availability import Availability
from services.availability.handler import FallbackModelHandler
from services.bundle import Services
from services.chat_recording import ChatRecording
from services.clock import Clock
from services.compression.budget import OutputTruncation
from services.compression.service import ChatCompressionService, PreCompress
from services.environment import Environment
from services.hooks.events import HookNotice
from services.hooks.system import HookSystem, hooks_from_settings
from services.ids import IdSource, ProcessIds, RandomSource
from services.loop_detection.detector import LoopDetector
from services.mcp.wiring import SessionServers, has_servers
from services.message_bus import MessageBus
from services.model.base_llm_client import BaseLlmClient
from services.model.config_settings import model_configs_from_settings
from services.model.configs import ModelConfigs
from services.model.generator import ContentGenerator
from services.model.metering import ModelCallObserver, metered
from services.model.names import AccessFlags
from services.output_masking import ToolOutputMaskingService
from services.policy.allowed_paths import AllowedPaths
from services.policy.conseca import Conseca
from services.policy.engine import PolicyEngine
from services.policy.safety import ConversationContext, SafetyCheckers
from services.policy.saved import SavedAnswers
from services.policy.sources import load_policy_rules
from services.policy.tool_names import mcp_tool_warnings
from services.prompts import Prompts
from services.routing.router import ModelRouter
from services.scheduler.execution import RunCall
from services.scheduler.scheduler import ToolScheduler
from services.scheduler.truncation import OutputLimiter
from services.settings import Settings
from services.settings.hooks import HookEvent
from services.skills.manager import SkillManager
from services.state import ApprovalMode, CoreEvents, SessionState
from services.steering import InjectionService
from services.subagents.agent_tool import AgentTool, RemoteInvoker
from services.subagents.builtin.catalogue import builtin_agents
from services.subagents.child_run import SessionParts
from services.subagents.definition import INVOKE_AGENT, RemoteAgentDefinition
from services.subagents.prompt_section import agents_section
from services.subagents.registry import AgentRegistry
from services.subagents.remote.agents import RemoteAgents
from services.subagents.subagents import Subagents
from services.telemetry.contract import Telemetry
from services.threads import ThreadedContentGenerator, ThreadPaths, follow_calls
from services.tool_distillation import ToolDistillation
from services.tools.base import Invocation
from services.tools.builtin import build_registry
from services.tools.contract import as_server_tool
from services.tools.edit_correction import EditCorrector
from services.tools.host import ToolHost
from services.tools.project_memory import ProjectMemory
from services.tools.registry import Named, ToolRegistry
from services.tools.web_access import WebAccess
from services.tools.web_client import open_web
from services.tools.web_model import ClientModel
from services.wire import Content, JsonObject
from services.workspace import Workspace

__all__ = ["ServicesSetup", "open_services"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServicesSetup:
    """Everything that makes one session different from another: the seams, and the settings."""

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
    """Decides which models are accessible. Source: core `config/config.ts`, `refreshAuth`."""
    events: CoreEvents = field(default_factory=CoreEvents)
    fallback_handler: FallbackModelHandler | None = None
    system_policies: Path | None = None
    """Where the machine's administrator has policy files; a replay knows of none."""
    version: str = "unknown"
    """Of the product, as MCP servers are told. Source: core `config/config.ts`, `clientVersion`."""
    model_observers: tuple[ModelCallObserver, ...] = ()
    """Who else is told of model calls."""
    telemetry: Telemetry | None = None
    """What watches the session; `None` where telemetry is off."""
    around_tools: Callable[[RunCall], RunCall] | None = None
    """What stands around each run of a call, in children too, outside of what measures it."""
    notify_hooks: Callable[[HookNotice], None] = lambda _: None
    """Told when hooks start and end, and of what they have to say to people."""


@asynccontextmanager
async def open_services(setup: ServicesSetup) -> AsyncIterator[Services]:
    """Build the services of one session; leaving ends what its tools left running.

    Raises:
        ValueError: a setting has no meaning; the message names it.
    """
    threads = ThreadPaths()
    setup, telemetry = _placed(_metered(setup), threads), setup.telemetry
    state = SessionState(
        session_id=setup.session_id,
        model=setup.model,
        approval_mode=setup.approval_mode,
        interactive=setup.settings.interactive,
        events=setup.events,
        folder_trusted=setup.settings.folder_trusted,
    )
    access = AccessFlags.for_auth(setup.auth_type)
    models = model_configs_from_settings(
        setup.settings.model_configs,
        access,
        dynamic=setup.settings.dynamic_model_configuration,
    )
    availability = Availability(
        models=models,
        state=state,
        clock=setup.clock,
        ids=setup.ids,
        ask=setup.fallback_handler,
        observer=None if telemetry is None else telemetry.fell_back,
    )
    utility = BaseLlmClient(
        generator=setup.content_generator,
        models=models,
        state=state,
        events=setup.events,
        clock=setup.clock,
        rng=setup.rng,
        retry_fetch_errors=setup.settings.retry_fetch_errors,
        auth_type=setup.auth_type,
        variables=setup.environment.variables,
        availability=availability,
    )
    servers = SessionServers()
    memory = ProjectMemory(setup.workspace, trusted=setup.settings.folder_trusted)
    skills = SkillManager(setup.events)
    prompts = Prompts(
        workspace=setup.workspace,
        state=state,
        environment=setup.environment,
        clock=setup.clock,
        server_instructions=servers.instructions,
        memory=memory,
        skills=skills,
        agents=lambda: _agents_section(subagents, tools),
    )
    steering = InjectionService(setup.clock, steering=setup.settings.model_steering)
    host = ToolHost(
        workspace=setup.workspace,
        clock=setup.clock,
        settings=setup.settings,
        state=state,
        environment=setup.environment,
        process_ids=setup.process_ids,
        skills=skills,
        memory=memory,
        steering=steering,
        corrector=(
            None
            if setup.settings.disable_llm_correction
            else EditCorrector(utility, prompt_id=lambda: state.last_prompt_id)
        ),
        web=_web(setup, models, state, prompts, availability),
    )
    context = ConversationContext(setup.workspace)

    def declarations() -> list[JsonObject]:
        return tools.declarations(state.active_model)

    rules = load_policy_rules(
        setup.settings,
        workspace=setup.workspace,
        events=setup.events,
        system_folder=setup.system_policies,
    )
    policy = PolicyEngine(
        rules.rules,
        checkers=rules.checkers,
        runner=SafetyCheckers(
            context=context,
            clock=setup.clock,
            environment=setup.environment.child_variables,
            in_process={
                "allowed-path": AllowedPaths(),
                "conseca": Conseca(
                    enabled=setup.settings.enable_conseca,
                    model=access.default_flash,
                    generator=setup.content_generator,
                    declarations=declarations,
                    log=state.log,
                ),
            },
        ),
        disable_always_allow=setup.settings.disable_always_allow,
        save=SavedAnswers(workspace=setup.workspace, events=setup.events).save,
        state=state,
        interactive=setup.settings.interactive,
        workspace_root=setup.workspace.root,
        home=setup.workspace.home,
        folder_trusted=setup.settings.folder_trusted,
        events=setup.events,
    )
    bus = MessageBus(policy)
    follow_calls(threads, bus)
    subagents = Subagents(threads)
    tools = build_registry(
        host,
        servers if has_servers(setup.settings) else None,
        agents=AgentTool(
            SessionParts(subagents=subagents, ids=setup.ids, bus=bus),
            find=lambda name: subagents.registry.definition(name),
            settings=setup.settings,
            steering=steering,
            remote=_remote(setup.settings, subagents, host),
            measured=None if telemetry is None else telemetry.subagent,
        ),
    )
    tools.set_exclusion(
        lambda tool: policy.statically_excluded(tool.name, annotations=_policy_annotations(tool))
    )
    remote = RemoteAgents(
        clock=setup.clock,
        ids=setup.ids,
        environment=setup.environment,
        workspace=setup.workspace,
    )
    registry = AgentRegistry(
        workspace=setup.workspace,
        settings=setup.settings,
        state=state,
        models=models,
        policy=policy,
        events=setup.events,
        builtin=builtin_agents(
            host=host, models=models, prompts=prompts, tool_names=tools.all_names
        ),
        remote=remote,
    )
    subagents.know(registry, remote)
    distiller = ToolDistillation(
        workspace=setup.workspace,
        settings=setup.settings,
        state=state,
        clock=setup.clock,
        model=utility,
        system_instruction=prompts.system_instruction,
        prompt_id=lambda: state.last_prompt_id,
    )
    limiter = OutputLimiter(
        workspace=setup.workspace,
        settings=setup.settings,
        state=state,
        last_prompt_tokens=lambda: state.last_prompt_tokens,
        distiller=distiller,
    )
    hooks = hooks_from_settings(
        setup.settings,
        workspace=setup.workspace,
        state=state,
        clock=setup.clock,
        environment=setup.environment,
        events=setup.events,
        plans=lambda: host.plans,
        notify=setup.notify_hooks,
    )
    compression = ChatCompressionService(
        model=utility,
        generator=setup.content_generator,
        truncation=OutputTruncation(
            project_temp=setup.workspace.project_temp, max_chars=limiter.threshold
        ),
        session_context=prompts.session_context,
        threshold=setup.settings.compression_threshold,
        pre_compress=_pre_compress(hooks),
        log=state.log,
    )
    masking = ToolOutputMaskingService(
        settings=setup.settings,
        workspace=setup.workspace,
        state=state,
        ids=setup.ids,
        clock=setup.clock,
    )
    scheduler = ToolScheduler(
        registry=tools,
        policy=policy,
        bus=bus,
        clock=setup.clock,
        ids=setup.ids,
        state=state,
        settings=setup.settings,
        events=setup.events,
        limiter=limiter,
        hooks=hooks,
        around=_around(setup),
    )
    if telemetry is not None:
        telemetry.watch(setup.events, bus, setup.approval_mode)

    def new_loop_detector(history: Callable[[], Sequence[Content]]) -> LoopDetector:
        return LoopDetector(
            model=utility,
            models=models,
            history=history,
            disabled=setup.settings.disable_loop_detection,
            is_available=lambda model: availability.health.snapshot(model).available,
            log=state.log,
        )

    def new_recording() -> ChatRecording:
        return ChatRecording(
            workspace=setup.workspace,
            state=state,
            clock=setup.clock,
            ids=setup.ids,
            events=setup.events,
            find_tool=tools.get,
        )

    async with AsyncExitStack() as stack:
        stack.push_async_callback(host.close)
        stack.push_async_callback(remote.close)
        stack.callback(registry.close)
        await registry.load()
        await stack.enter_async_context(
            servers.started(
                host=host,
                tools=tools,
                ids=setup.ids,
                events=setup.events,
                version=setup.version,
                trusted=lambda: registry.folder_trusted,
                policy_warnings=lambda server, names: mcp_tool_warnings(
                    server, names, policy.rules
                ),
                on_progress=scheduler.note_progress,
            )
        )
        yield Services(
            settings=setup.settings,
            state=state,
            events=setup.events,
            clock=setup.clock,
            ids=setup.ids,
            rng=setup.rng,
            environment=setup.environment,
            workspace=setup.workspace,
            content_generator=setup.content_generator,
            models=models,
            router=ModelRouter(
                models=models,
                state=state,
                availability=availability,
                utility=utility,
                clock=setup.clock,
                rng=setup.rng,
                events=setup.events,
                settings=setup.settings,
            ),
            availability=availability,
            tools=tools,
            policy=policy,
            bus=bus,
            scheduler=scheduler,
            prompts=prompts,
            utility=utility,
            compression=compression,
            masking=masking,
            conversation_context=context,
            hooks=hooks,
            subagents=subagents,
            steering=steering,
            new_loop_detector=new_loop_detector,
            fallback_handler=setup.fallback_handler,
            new_recording=new_recording,
            agent_servers=servers.discover_for_agent,
            version=setup.version,
            telemetry=telemetry,
        )


def _around(setup: ServicesSetup) -> Callable[[RunCall], RunCall] | None:
    """What stands around each run of a call: what measures it, and what was asked for."""
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


def _agents_section(subagents: Subagents, tools: ToolRegistry) -> str:
    """What the model is told of the agents, where it may call any."""
    if tools.get(INVOKE_AGENT) is None:
        return ""
    return agents_section(subagents.registry.summaries())


def _remote(settings: Settings, subagents: Subagents, host: ToolHost) -> RemoteInvoker:
    """How calls of remote agents are made; most sessions never load what that takes."""

    def invocation(definition: RemoteAgentDefinition, inputs: JsonObject) -> Invocation:
        from services.subagents.remote.invocation import remote_invocation

        return remote_invocation(
            definition,
            inputs,
            agents=subagents.remote,
            host=host,
            sessions=settings.adk.agent_session_subagent_enabled,
        )

    return invocation


def _metered(setup: ServicesSetup) -> ServicesSetup:
    """The same, with the meter at the model seam where anybody wants to know of model calls."""
    own = () if setup.telemetry is None else (setup.telemetry.model_calls,)
    observers = (*setup.model_observers, *own)
    return replace(
        setup, content_generator=metered(setup.content_generator, observers, setup.clock)
    )


def _placed(setup: ServicesSetup, threads: ThreadPaths) -> ServicesSetup:
    """The same, with every request on the thread that makes it."""
    abreast = not setup.settings.adk.agent_session_subagent_enabled
    placed = ThreadedContentGenerator(setup.content_generator, threads, abreast=abreast)
    return replace(setup, content_generator=placed)


def _policy_annotations(tool: Named) -> JsonObject | None:
    of_server = as_server_tool(tool)
    return None if of_server is None else of_server.policy_annotations


def _web(
    setup: ServicesSetup,
    models: ModelConfigs,
    state: SessionState,
    prompts: Prompts,
    availability: Availability,
) -> WebAccess:
    client = ClientModel(
        generator=setup.content_generator,
        models=models,
        state=state,
        events=setup.events,
        clock=setup.clock,
        rng=setup.rng,
        system_instruction=prompts.system_instruction,
        retry_fetch_errors=setup.settings.retry_fetch_errors,
        max_attempts=setup.settings.max_attempts,
        auth_type=setup.auth_type,
        variables=setup.environment.variables,
        availability=availability,
    )
    return open_web(
        client, clock=setup.clock, rng=setup.rng, events=setup.events, settings=setup.settings
    )


def _pre_compress(hooks: HookSystem | None) -> PreCompress | None:
    """The hook before a compression; `None` spares the cost of getting ready for nobody."""
    if hooks is None or not hooks.has_hooks(HookEvent.PRE_COMPRESS):
        return None

    async def fire(trigger: str) -> None:
        await hooks.pre_compress(forced=trigger == "manual")

    return fire

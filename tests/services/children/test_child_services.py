"""The services that a subagent shares with its parent, and its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from services.abort import AbortController
from services.bundle import Services
from services.children.child_services import ChildServices, child_services
from services.clock import VirtualClock, virtual_loop
from services.compose import ServicesSetup, open_services
from services.environment import Environment
from services.ids import CountingIds, CountingProcessIds, FixedRandom
from services.message_bus import MessageBus
from services.model.configs import ModelConfigKey
from services.routing.router import RoutingContext, RoutingDecision
from services.settings import Settings
from services.state import ApprovalMode
from services.subagents.child import ChildRequest
from services.subagents.definition import AgentModel, LocalAgentDefinition, OutputConfig
from services.subagents.overriding import AgentModels
from services.workspace import Workspace
from tests.runtimes.children.child_stage import ScriptedModel, agent

Work = Callable[[Services], Awaitable[None]]


def within(root: Path, work: Work, *, model: str = "gemini-2.5-flash", **more: Any) -> None:
    """Do `work` with the services of a session."""

    async def run() -> None:
        (root / "ws").mkdir()
        setup = ServicesSetup(
            session_id="the-session",
            model=model,
            workspace=Workspace.at(root / "ws", root / "home"),
            clock=VirtualClock(),
            ids=CountingIds(),
            rng=FixedRandom(),
            process_ids=CountingProcessIds(),
            environment=Environment.for_replay(home=str(root / "home")),
            content_generator=ScriptedModel([]),
            approval_mode=more.pop("mode", ApprovalMode.YOLO),
            settings=Settings(**more),
        )
        async with open_services(setup) as services:
            await work(services)

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        runner.run(run())


def child(
    services: Services, definition: LocalAgentDefinition | None = None, call_id: str = "c"
) -> ChildServices:
    request = ChildRequest(
        definition=definition or agent(), parent_call_id=call_id, on_activity=lambda _: None
    )
    return child_services(services, request)


def test_shared_services_are_the_same_objects(tmp_path: Path) -> None:
    async def work(services: Services) -> None:
        own = child(services).services
        for name in ("state", "models", "availability", "clock", "policy", "hooks", "steering"):
            assert getattr(own, name) is getattr(services, name), name

    within(tmp_path, work)


def test_the_subagents_own_services_are_other_objects(tmp_path: Path) -> None:
    async def work(services: Services) -> None:
        own = child(services).services
        services.compression.has_failed_attempt = True
        assert not own.compression.has_failed_attempt
        assert own.tools is not services.tools
        assert isinstance(own.bus, MessageBus)
        assert own.bus is not services.bus

    within(tmp_path, work)


def test_a_subagents_ids_do_not_depend_on_the_rest_of_the_session(tmp_path: Path) -> None:
    async def work(services: Services) -> None:
        services.subagents.threads.call("c", "invoke_agent", None)
        first = child(services, call_id="c")
        services.ids.uuid("message")
        child(services, call_id="unknown").services.ids.uuid("message")
        own = [first.agent_id, first.services.ids.uuid("message")]

        alone = CountingIds()
        assert own == [alone.uuid(f"{first.thread}:agent"), alone.uuid(f"{first.thread}:message")]

    within(tmp_path, work)


def test_an_agents_config_has_its_name_as_the_scope(tmp_path: Path) -> None:
    async def work(services: Services) -> None:
        definition = agent(model=AgentModel(model="gemini-2.5-pro"))
        AgentModels(services.models).register(definition, "gemini-2.5-flash")
        key = await asked(child(services, definition))
        assert key == ModelConfigKey(model="gemini-2.5-pro", override_scope="helper")

    within(tmp_path, work)


async def asked(own: ChildServices) -> ModelConfigKey:
    return await own.model_key(list, [{"text": "go"}], "a#0", AbortController().signal)


class Router:
    def __init__(self, answer: str | Exception) -> None:
        self.answer = answer
        self.asked: list[RoutingContext] = []

    async def route(self, context: RoutingContext) -> RoutingDecision:
        self.asked.append(context)
        if isinstance(self.answer, Exception):
            raise self.answer
        return RoutingDecision(model=self.answer, source="test", reasoning="", latency_ms=0)


def routed(tmp_path: Path, router: Router) -> list[str]:
    found: list[str] = []

    async def work(services: Services) -> None:
        AgentModels(services.models).register(agent(), "auto")
        object.__setattr__(services, "router", router)
        own = child(services)
        found.extend([(await asked(own)).model, (await asked(own)).model])

    within(tmp_path, work, model="auto")
    return found


def test_the_router_is_asked_once(tmp_path: Path) -> None:
    router = Router("gemini-2.5-flash")
    assert routed(tmp_path, router) == ["gemini-2.5-flash"] * 2
    [context] = router.asked
    assert (context.requested_model, context.prompt_id) == ("auto", "a#0")


def test_after_a_failed_routing_the_default_model_is_used(tmp_path: Path) -> None:
    router = Router(RuntimeError("no"))
    assert routed(tmp_path, router) == ["gemini-2.5-pro"] * 2
    assert len(router.asked) == 1


def instruction(tmp_path: Path, definition: LocalAgentDefinition, **more: Any) -> str:
    found: list[str] = []

    async def work(services: Services) -> None:
        own = child(services, definition)
        await own.toolset.open()
        found.append(own.prompt({"query": "x"}).system_instruction())

    within(tmp_path, work, **more)
    return found[0]


def test_the_system_prompt_has_the_agents_text_first_and_its_folders(tmp_path: Path) -> None:
    text = instruction(tmp_path, agent())
    assert text.startswith("You help.\n\n")
    assert f"- {(tmp_path / 'ws').resolve()}" in text
    assert "`complete_task`" in text
    assert "`result`" in text


def test_an_agent_with_an_output_schema_gets_no_instruction_about_result(tmp_path: Path) -> None:
    output = OutputConfig(name="report", description="?", schema={"type": "object"})
    assert "`result`" not in instruction(tmp_path, agent(output=output))


def test_the_system_prompt_has_the_users_memory(tmp_path: Path) -> None:
    memory = tmp_path / "home" / ".gemini" / "GEMINI.md"
    memory.parent.mkdir(parents=True)
    memory.write_text("Speak softly.")
    assert "Speak softly." in instruction(tmp_path, agent())


def test_an_agent_that_can_activate_skills_gets_their_list(tmp_path: Path) -> None:
    skill = tmp_path / "home" / ".gemini" / "skills" / "knit" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: knit\ndescription: Knits.\n---\nKnit.")
    assert "- knit: Knits." in instruction(tmp_path, agent(tools=("activate_skill",)))


def test_other_agents_get_no_list_of_skills(tmp_path: Path) -> None:
    skill = tmp_path / "home" / ".gemini" / "skills" / "knit" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: knit\ndescription: Knits.\n---\nKnit.")
    assert "Knits." not in instruction(tmp_path, agent())


def test_in_plan_mode_the_system_prompt_names_the_folder_of_plans(tmp_path: Path) -> None:
    plans = f"{(tmp_path / 'home').resolve()}/.gemini/tmp/ws/the-session/plans/"
    assert plans in instruction(tmp_path, agent(), mode=ApprovalMode.PLAN)


def test_outside_plan_mode_the_system_prompt_does_not_mention_plans(tmp_path: Path) -> None:
    assert "plans" not in instruction(tmp_path, agent())

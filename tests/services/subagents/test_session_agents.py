"""The agents of an open session in its model's instruction and configs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from services.bundle import Services
from services.clock import VirtualClock
from services.compose import ServicesSetup, open_services
from services.environment import Environment
from services.ids import CountingIds, CountingProcessIds, FixedRandom
from services.model.configs import ModelConfigKey
from services.settings import settings_from_parameters
from services.state import ApprovalMode
from services.subagents.definition import LocalAgentDefinition
from services.workspace import Workspace


class NoModel:
    """It receives no request here."""


@asynccontextmanager
async def session(base: Path, **parameters: Any) -> AsyncIterator[Services]:
    workspace = Workspace.at(base / "ws", base / "home")
    workspace.root.mkdir()
    agents = workspace.home / ".gemini" / "agents"
    agents.mkdir(parents=True)
    (agents / "mine.md").write_text("---\nname: mine\ndescription: does my work\n---\nGo.\n")
    setup = ServicesSetup(
        session_id="s",
        model="gemini-2.5-flash",
        workspace=workspace,
        clock=VirtualClock(),
        ids=CountingIds(),
        rng=FixedRandom(),
        process_ids=CountingProcessIds(),
        environment=Environment(),
        content_generator=NoModel(),  # type: ignore[arg-type] # it receives no request
        settings=settings_from_parameters(parameters),
    )
    async with open_services(setup) as services:
        yield services


def instruction_of(base: Path, **parameters: Any) -> str:
    async def ask() -> str:
        async with session(base, **parameters) as services:
            return services.prompts.system_instruction()

    return asyncio.run(ask())


def test_the_instruction_lists_the_agents(tmp_path: Path) -> None:
    instruction = instruction_of(tmp_path)

    assert "\n- mine: does my work" in instruction
    assert "\n- codebase_investigator: " in instruction


def test_the_instruction_lists_no_agents_where_none_can_be_called(tmp_path: Path) -> None:
    for number, parameters in enumerate(
        list[dict[str, Any]](
            [
                {"excludeTools": ["invoke_agent"]},
                {"coreTools": ["read_file"]},
                {"enableAgents": False},
            ]
        )
    ):
        base = tmp_path / str(number)
        base.mkdir()
        instruction = instruction_of(base, **parameters)
        assert "mine" not in instruction
        assert "invoke_agent" not in instruction


def test_a_session_has_its_agents_and_their_models_from_the_start(tmp_path: Path) -> None:
    async def ask() -> None:
        async with session(tmp_path) as services:
            registry = services.subagents.registry
            assert registry.names() == ["codebase_investigator", "cli_help", "generalist", "mine"]
            key = ModelConfigKey(model="mine-config", override_scope="mine")
            assert services.models.resolve(key).config["topP"] == 0.95
            services.state.set_model("gemini-2.5-pro")
            assert services.models.resolve(key).model == "gemini-2.5-pro"

    asyncio.run(ask())


def test_the_generalist_gets_the_main_instruction_without_agents(tmp_path: Path) -> None:
    async def ask() -> None:
        async with session(tmp_path) as services:
            services.state.set_approval_mode(ApprovalMode.YOLO)
            generalist = services.subagents.registry.definition("generalist")
            assert isinstance(generalist, LocalAgentDefinition)
            own = generalist.prompt.system or ""
            assert services.prompts.system_instruction().startswith(own)
            assert "mine" not in own
            assert generalist.tools is not None
            assert {"read_file", "run_shell_command", "invoke_agent"} <= set(generalist.tools)

    asyncio.run(ask())

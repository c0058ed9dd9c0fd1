"""Servers that several agents bring along at once."""

from __future__ import annotations

import asyncio
from typing import Final

import pytest

from services.mcp.config import McpServerConfig
from services.mcp.context import Registries
from services.mcp.toolbox import McpToolbox
from services.settings import AdkFlags
from tests.runtimes.upstream.stand_ins import children
from tests.services.mcp.conftest import OpenSession, Session, on_virtual_time, server

MINE: Final = McpServerConfig.parse("mine", server("fickle.py"))
BROKEN: Final = McpServerConfig.parse("mine", {"command": "/nowhere/at/all"})


async def found_by_two(opened: Session, config: McpServerConfig = MINE) -> list[tuple[int, int]]:
    """For each of two agents that ask at once: how many tools both had when its asking ended."""
    tools = [opened.tools.emptied(), opened.tools.emptied()]
    counts: list[tuple[int, int]] = []

    async def ask(number: int) -> None:
        await opened.manager.discover("mine", config, Registries(tools=McpToolbox(tools[number])))
        counts.append((len(tools[0].all_names()), len(tools[1].all_names())))

    async with asyncio.TaskGroup() as group:
        for number in range(2):
            group.create_task(ask(number))
    return counts


@on_virtual_time
async def test_agents_that_run_directly_have_a_server_each(session: OpenSession) -> None:
    before = children()
    async with session({}) as opened:
        (first, second), *others = await found_by_two(opened)
        assert first == second > 0
        assert others == [(first, second)]
        assert len(children() - before) == 2
        assert opened.manager.instructions().count("[start of server instructions]") == 1
        tools = opened.tools.emptied()
        await opened.manager.discover("mine", MINE, Registries(tools=McpToolbox(tools)))
        assert len(tools.all_names()) == first
        assert len(children() - before) == 2
    assert children() == before


@on_virtual_time
async def test_of_agents_that_run_as_sessions_the_later_one_waits_and_gets_nothing(
    session: OpenSession,
) -> None:
    before = children()
    async with session({}, adk=AdkFlags(agent_session_subagent_enabled=True)) as opened:
        counts = await found_by_two(opened)
        assert [second for _, second in counts] == [0, 0]
        assert all(first > 0 for first, _ in counts)
        assert len(children() - before) == 1
        assert opened.said() == ["info: MCP issues detected. Run /mcp list for status."]


@pytest.mark.parametrize("sessions", [False, True])
def test_a_server_that_does_not_start_delays_no_agent(session: OpenSession, sessions: bool) -> None:
    @on_virtual_time
    async def run() -> None:
        async with session({}, adk=AdkFlags(agent_session_subagent_enabled=sessions)) as opened:
            assert await found_by_two(opened, BROKEN) == [(0, 0), (0, 0)]

    run()

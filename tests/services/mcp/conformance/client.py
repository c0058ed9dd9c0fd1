"""The client that the conformance kit starts: `python client.py SERVER_URL`.

It does what a session does: connect, sign in where the server asks for it, list, call each tool.
The kit's servers accept any user, so the browser is a request that follows redirects.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2

from services.abort import AbortController
from services.background import background_tasks
from services.clock import SystemClock
from services.mcp.config import server_configs
from services.mcp.session import open_mcp
from services.mcp.sign_in import SignInSeam
from services.mcp.states import McpServerStatus
from services.settings import Settings
from services.state import ApprovalMode, CoreEvents, SessionState
from services.tools.contract import ToolExecution
from services.tools.registry import ToolRegistry
from services.workspace import Workspace
from tests.services.sessions import session_at

ARGUMENTS = {"add_numbers": {"a": 5, "b": 3}}


def _report(said: object) -> None:
    sys.stderr.write(f"{said}\n")


async def _agrees(server: str, prompt: str) -> bool:
    return True


async def _browse(address: str) -> None:
    async with httpx2.AsyncClient(follow_redirects=True, trust_env=False) as browser:
        await browser.get(address)


async def main(url: str, home: Path) -> int:
    """Converse with the server; returns the exit code."""
    context: dict[str, Any] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    oauth = {
        "enabled": True,
        "clientId": context.get("client_id"),
        "clientSecret": context.get("client_secret"),
    }
    servers = {"kit": {"url": url, "type": "http", "oauth": oauth}}
    settings = Settings(mcp_servers=servers)
    events = CoreEvents()
    events.subscribe(_report)
    state = SessionState(
        session_id="s",
        model="m",
        approval_mode=ApprovalMode.DEFAULT,
        interactive=False,
        events=events,
    )
    made = session_at(Workspace.at(home, home), settings, state=state, events=events)
    session = replace(made, clock=SystemClock())
    tools = ToolRegistry(settings, state)
    async with (
        background_tasks() as tasks,
        open_mcp(
            session,
            tasks=tasks,
            tools=tools,
            version="0.61.0",
            sign_in=SignInSeam(consent=_agrees, open_browser=_browse),
        ) as manager,
    ):
        manager.diagnostics.user_interacted()
        await manager.discover("kit", server_configs(servers)["kit"])
        if manager.status("kit") is not McpServerStatus.CONNECTED:
            return 1
        for name in tools.all_names():
            tool = tools.get(name)
            assert tool is not None
            arguments = ARGUMENTS.get(name.removeprefix("mcp_kit_"), {})
            call = tool.build(arguments)
            result = await call.execute(
                ToolExecution(call_id=name, signal=AbortController().signal)
            )
            _report(result.llm_content)
            if result.error is not None:
                return 1
    return 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(asyncio.run(main(sys.argv[-1], Path(folder))))

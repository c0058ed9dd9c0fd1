"""MCP servers that the client names in `session/new`."""

import sys
from pathlib import Path

import pytest

from surfaces.acp.servers import with_servers
from surfaces.headless.options import HeadlessOptions
from surfaces.headless.planning import plan_run
from tests.surfaces.acp.conftest import Connect, Json
from tests.surfaces.headless.conftest import calls, says

SERVER = Path(__file__).parents[3] / "cassettes/mcp_server.py"


async def test_a_program_of_the_client_serves_tools_and_ends_with_the_session(
    connect: Connect, folders: Path, runtime: str
) -> None:
    server = {"name": "calc", "command": sys.executable, "args": [str(SERVER)], "env": []}
    script = [calls("mcp_calc_sum", a=2, b=3), says("five")]
    async with connect(*script, runtime=runtime, approval_mode="yolo") as peer:
        opened = await peer.call("session/new", cwd=str(folders / "ws"), mcpServers=[server])
        done = await peer.prompt(opened["result"]["sessionId"], "add")

        (ended,) = [
            update
            for update in peer.updates("tool_call_update")
            if update["status"] in ("completed", "failed")
        ]
    assert done["result"]["stopReason"] == "end_turn"
    assert ended["status"] == "completed"
    assert "5" in str(ended["content"])


@pytest.mark.parametrize(
    ("given", "setting"),
    [
        (
            {"type": "http", "name": "s", "url": "http://127.0.0.1:1/mcp", "headers": []},
            {"httpUrl": "http://127.0.0.1:1/mcp", "headers": {}},
        ),
        (
            {
                "type": "sse",
                "name": "s",
                "url": "http://127.0.0.1:1/sse",
                "headers": [{"name": "X-A", "value": "b"}],
            },
            {"url": "http://127.0.0.1:1/sse", "headers": {"X-A": "b"}},
        ),
    ],
)
def test_a_server_at_an_address_goes_before_that_of_the_settings(
    folders: Path, given: Json, setting: Json
) -> None:
    settings = folders / "settings.json"
    settings.write_text('{"mcpServers": {"s": {"command": "other"}, "kept": {"command": "c"}}}')
    options = HeadlessOptions(settings_file=settings)
    plan = plan_run(options, root=folders / "ws", home=folders / "home", variables={})

    changed = with_servers(plan, [given], folders / "ws")

    assert changed.document["mcpServers"] == {"s": setting, "kept": {"command": "c"}}
    assert set(changed.settings.mcp_servers) == {"s", "kept"}

"""Hooks and subagents of a session that an editor opened."""

import json
from pathlib import Path

from tests.surfaces.acp.conftest import Connect, asked, chooses
from tests.surfaces.headless.conftest import calls, says

PERMISSION = "session/request_permission"
REFUSAL = {"decision": "deny", "reason": "not this file"}
AGENT = """---
name: scribe
description: Writes a file.
---
Write.
"""


async def test_a_hook_before_a_tool_refuses_the_call(
    connect: Connect, folders: Path, runtime: str
) -> None:
    hook = {"type": "command", "name": "guard", "command": f"printf '%s' '{json.dumps(REFUSAL)}'"}
    settings = {"hooks": {"BeforeTool": [{"hooks": [hook]}]}}
    (folders / "home/.gemini/settings.json").write_text(json.dumps(settings))
    write = calls("write_file", file_path="new.txt", content="one\n")
    async with connect(write, says("as you like"), runtime=runtime) as peer:
        peer.answers[PERMISSION] = chooses("proceed_once")
        await peer.prompt(await peer.open(folders / "ws"), "write")

        (ended,) = peer.updates("tool_call_update")
        assert ended["status"] == "failed"
        assert "not this file" in json.dumps(ended["content"])
        assert not (folders / "ws/new.txt").exists()


async def test_the_call_of_a_subagent_asks(connect: Connect, folders: Path, runtime: str) -> None:
    agents = folders / "home/.gemini/agents"
    agents.mkdir()
    (agents / "scribe.md").write_text(AGENT)
    script = [
        calls("scribe", query="go"),
        calls("write_file", file_path="new.txt", content="one\n"),
        calls("complete_task", result="written"),
        says("done"),
    ]
    async with connect(*script, runtime=runtime) as peer:
        peer.answers[PERMISSION] = chooses("proceed_once")
        await peer.prompt(await peer.open(folders / "ws"), "delegate")

        asking = [each["params"] for each in peer.received if asked(PERMISSION)(each)]
        assert asking[-1]["toolCall"]["kind"] == "edit"
        assert (folders / "ws/new.txt").read_text() == "one\n"
        assert peer.texts() == ["done"]

"""Agents and resources of MCP servers that a prompt mentions."""

import json
import sys
from pathlib import Path

import pytest

from tests.surfaces.headless.conftest import Run

RUNTIMES = pytest.mark.parametrize("runtime", ["legacy", "adk"])
SERVER = """
import json, sys

RESOURCES = [{"uri": "test://" + name, "name": name} for name in ("words", "bytes", "broken")]
CONTENTS = {
    "test://words": {"uri": "test://words", "text": "what the resource says"},
    "test://bytes": {"uri": "test://bytes", "blob": "AAEC", "mimeType": "image/png"},
}


def answered(method, params):
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"resources": {}},
            "serverInfo": {"name": "docs", "version": "1"},
        }
    if method == "resources/list":
        return {"resources": RESOURCES}
    if method == "resources/read":
        return {"contents": [CONTENTS[params["uri"]]]}
    return {}


for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    answer = {"jsonrpc": "2.0", "id": asked["id"]}
    try:
        answer["result"] = answered(asked["method"], asked.get("params") or {})
    except KeyError:
        answer["error"] = {"code": -32000, "message": "it is lost"}
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def server(folders: Path) -> None:
    script = folders / "server.py"
    script.write_text(SERVER)
    started = {"command": sys.executable, "args": [str(script)]}
    (folders / "home" / ".gemini").mkdir()
    (folders / "home" / ".gemini" / "settings.json").write_text(
        json.dumps({"mcpServers": {"docs": started}})
    )


@RUNTIMES
def test_an_agent_that_is_mentioned_is_to_be_asked(run: Run, folders: Path, runtime: str) -> None:
    text, note = texts(run, folders, "let @generalist look", runtime)
    assert text == "let @generalist look"
    assert note == (
        "\n<system_note>\nThe user has explicitly selected the following agent(s): generalist. "
        "Please use the following tool(s) to delegate the task: 'generalist'.\n</system_note>\n"
    )


@RUNTIMES
@pytest.mark.usefixtures("server")
def test_a_resource_that_is_mentioned_goes_along(run: Run, folders: Path, runtime: str) -> None:
    found = texts(run, folders, "read @docs:test://words and @test://bytes", runtime)
    assert found == [
        "read @docs:test://words and @test://bytes",
        "\n--- Content from referenced files ---",
        "\nContent from @test://words:\n",
        "what the resource says",
        "\nContent from @test://bytes:\n",
        "[Binary resource content image/png, 3 bytes]",
        "\n--- End of content ---",
    ]


@RUNTIMES
@pytest.mark.usefixtures("server")
def test_a_resource_that_cannot_be_read_ends_with_42(run: Run, folders: Path, runtime: str) -> None:
    (folders / "none.jsonl").write_text("")
    ran = run(fake_responses=folders / "none.jsonl", prompt="read @test://broken", runtime=runtime)
    assert (ran.code, ran.out) == (42, "")
    assert "Exiting due to an error processing the @ command: Error reading resource" in ran.err
    assert "it is lost" in ran.err


def texts(run: Run, folders: Path, prompt: str, runtime: str) -> list[str]:
    """The texts of the request for `prompt`: with no answer left the error holds it."""
    empty = folders / "none.jsonl"
    empty.write_text("")
    ran = run(fake_responses=empty, prompt=prompt, runtime=runtime, output="json")
    message = json.loads(ran.err[ran.err.index('{\n  "session_id"') :])["error"]["message"]
    contents = json.loads(message.split("got request:\n", 1)[1])["contents"]
    found = [part["text"] for part in contents[-1]["parts"]]
    return [text for text in found if "<session_context>" not in text]

"""The example client of the npm package `@agentclientprotocol/sdk` completes a session.

`nox -s tests` installs the package where there is npm. By hand: `npm install --ignore-scripts
--prefix FOLDER @agentclientprotocol/sdk@0.16.1`, then set `PARITY_ACP_SDK` to FOLDER.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from runtimes.published import UpstreamUnavailable
from runtimes.published.node import find_node
from tests.surfaces.acp.test_process import COMMAND
from tests.surfaces.headless.conftest import calls, says, write_answers

FOLDER = "PARITY_ACP_SDK"
CLIENT = "node_modules/@agentclientprotocol/sdk/dist/examples/client.js"


@pytest.fixture(scope="module")
def client() -> list[str]:
    """The command of the example client."""
    program = Path(os.environ.get(FOLDER, ""), CLIENT).resolve()
    if not program.is_file():
        pytest.skip(f"{FOLDER} names no folder with the package; npm installs it")
    try:
        return [str(find_node()), str(program)]
    except UpstreamUnavailable as error:
        pytest.skip(str(error))


def test_it_edits_a_file_after_the_user_has_allowed_it(
    client: list[str], folders: Path, runtime: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = write_answers(
        folders / "answers.jsonl",
        calls("write_file", file_path="a.txt", content="hello\n"),
        says("Done."),
    )
    own = ["-m", "gemini-2.5-flash", "--runtime", runtime, "--fake-responses", str(answers)]
    words = [sys.executable, *COMMAND, *own]
    # The client starts its own example agent with `npx`: ours stands in for that command.
    folder = folders / "bin"
    folder.mkdir()
    stand_in = folder / "npx"
    stand_in.write_text(f"#!/bin/sh\nexec {shlex.join(words)}\n")
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)

    done = subprocess.run(
        client,
        cwd=folders / "ws",
        input="2\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert "Permission requested: Writing to a.txt" in done.stdout
    assert "`write_file__c1` updated: completed" in done.stdout
    assert "Agent completed with: end_turn" in done.stdout
    assert '"content": "hello\\n"' in done.stderr
    assert "Fatal" not in done.stderr
